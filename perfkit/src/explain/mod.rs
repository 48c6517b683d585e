//! `perfkit explain`: what a recording says, in a page.

use std::io::{self, BufWriter, Write};

use clap::Args;
use perf_profile::{ProfileBuilder, Split};

mod advice;
mod facts;
mod json;
mod text;

use crate::cli::help;
use crate::out::message;
use crate::recording::{InputOptions, SourceOptions, single_event};
use facts::Facts;

/// Print what a recording says in a page, for a person in a hurry or a program
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "The page has the machine and the event, the hottest functions and the hottest path, what is missing or unreliable, and \
     the command to run next. It has at most some 60 lines, however large the recording is.\n\n\
     --json prints one JSON object in the form that docs/explain-json.md describes.",
    &[
        ("perfkit explain", "perf.data in this folder"),
        ("perfkit explain FILE --json", ""),
        ("perfkit explain --off-cpu", "where threads wait, after record --off-cpu"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
    #[command(flatten)]
    source: SourceOptions,
}

/// Prints the page. Damage is an error, after the page of all that could be read.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let read = options.source.profile(&options.input, ProfileBuilder::new(), Split::default())?;
    let event = most_sampled(&read.profile, options.source.off_cpu.event())?;
    let facts = Facts::new(&read.profile, &read.metadata, event, options.source.off_cpu.option());
    let mut out = BufWriter::new(out);
    if options.json {
        writeln!(out, "{}", message::json(&json::object(&read.metadata, &read.profile, &facts)))?;
    } else {
        text::print(&mut out, &read.metadata, &read.profile, &facts)?;
    }
    out.flush()?;
    drop(out);
    read.finish()
}

/// Returns the event that the page is about: the preferred one, or the one with the most samples.
fn most_sampled(
    profile: &perf_profile::Profile,
    preferred: Option<&str>,
) -> io::Result<perf_profile::EventId> {
    if preferred.is_some() {
        return single_event(profile, preferred);
    }
    let most = profile.event_ids().map(|(id, _)| id).max_by_key(|id| profile.sample_count(*id));
    most.ok_or_else(|| io::Error::other("the recording has no event"))
}
