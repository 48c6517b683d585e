//! `perfkit diff`: the functions whose share or time changed between recordings, and the noise of
//! the change.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use perf_profile::read::ReadProfile;
use perf_profile::{Change, Diff, Estimate, Event, EventId, Order, Profile, ProfileBuilder, Scale, Split};
use serde_json::{Value, json};

mod markdown;
mod text;

use crate::cli::help;
use crate::out::message::{self, note, of_file};
use crate::recording::{InputOptions, SourceOptions, single_event};
use crate::report::json;
use crate::report::sort::{self, SortKey};

/// The code if something grew by more than the limit.
const GREW: u8 = 3;

const EXIT: &[(&str, &str)] = &[
    ("0", "success"),
    ("1", "failure, with the reason on standard error"),
    ("2", "wrong arguments"),
    ("3", "something grew by more than --fail-above"),
];

/// Compare recordings: the functions by their change
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "The noise is twice the standard error of a change: the spread of several recordings a side, but not less than what \
     sampling causes. Of one recording, only the latter is known, and the column is named Sampling: runs of the same program \
     differ by more. Changes within it have the mark ~. Rows that changed by less than the \
     limit are left out; the last line says how many.\n\n\
     Objects are compared by their file names, so that builds in different folders match; -s sym compares the functions of \
     programs with different names. A program that was replaced has no names: before you build anew in the same place, \
     pack the old one by `perfkit archive`, unpack it into a folder, and name that by --buildid-dir.\n\n\
     With --fail-above the exit status is 3 if a row, or with --absolute also the total, grew by more than the limit even if its \
     noise is subtracted. Give at least three recordings a side: of one recording, the noise is known only in part.\n\n\
     --json prints all rows in the form that docs/report-json.md describes.",
    &[
        ("perfkit diff old.data new.data", "shares of the samples, in percent points"),
        ("perfkit diff --absolute old.data new.data", "time, after the same work"),
        ("perfkit diff 1.data 2.data 3.data --to 4.data 5.data 6.data", ""),
        ("perfkit diff --fail-above 5 1.data 2.data --to 3.data 4.data", ""),
        ("perfkit diff -s dso --children old.data new.data", "with what libraries call"),
        ("perfkit diff -s sym old.data new.data", "functions of programs with different names"),
    ],
    EXIT
))]
pub(crate) struct Options {
    /// The recordings to compare with and, without --to, the other one as the last
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The recordings that are compared with those before
    #[arg(long, value_name = "FILE", num_args = 1..)]
    to: Vec<PathBuf>,
    /// Columns that distinguish rows
    #[arg(short, long, value_enum, value_name = "KEY,...", value_delimiter = ',', default_value = "dso,sym")]
    sort: Vec<SortKey>,
    /// Compare what functions need with their callees, not by themselves
    #[arg(long)]
    children: bool,
    /// Compare times or numbers of events, not shares: for recordings of the same work
    #[arg(long)]
    absolute: bool,
    /// Leave out rows that changed by a smaller share of the total
    #[arg(long, value_name = "PERCENT", default_value_t = 0.1, value_parser = crate::report::percent)]
    percent_limit: f64,
    /// Fail if something grew by more than this share of the base's total, beyond the noise
    #[arg(long, value_name = "PERCENT", value_parser = crate::report::percent)]
    fail_above: Option<f64>,
    /// Print Markdown, for a comment on a change
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
    #[command(flatten)]
    source: SourceOptions,
}

/// A recording of either side.
struct Compared {
    path: PathBuf,
    event: EventId,
    read: ReadProfile,
}

/// Prints the difference of recordings. Damage is an error, after the difference of all that could
/// be read.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    let Some((base, new)) = options.sides() else {
        note("expected two recordings, or several on each side of --to: see `perfkit diff --help`");
        return Ok(ExitCode::from(2));
    };
    let read =
        |paths: &[PathBuf]| paths.iter().map(|path| options.read(path)).collect::<io::Result<Vec<_>>>();
    let (base, new) = (read(base)?, read(new)?);
    let order = if options.children { Order::ByTotal } else { Order::BySelf };
    let scale = if options.absolute { Scale::Value } else { Scale::Share };
    let columns = sort::columns(&options.sort);
    let diff = Diff::new(&profiles(&base), &profiles(&new), &columns, order, scale);
    let grown = options.fail_above.map(|percent| diff.grown(percent / 100.0).copied().collect::<Vec<_>>());
    let mut out = BufWriter::new(out);
    if options.json {
        writeln!(out, "{}", message::json(&json_object(options, &base, &new, &diff, grown.as_deref())))?;
    } else if options.markdown {
        markdown::print(&mut out, options, &base, &new, &diff)?;
    } else {
        text::print(&mut out, options, &base, &new, &diff)?;
    }
    if let Some(grown) = grown.as_ref().filter(|_| !options.json) {
        text::print_verdict(&mut out, options, grown)?;
    }
    out.flush()?;
    drop(out);
    if grown.is_some() && base.len().min(new.len()) < 2 {
        note(
            "the verdict may be wrong: runs of a program differ by more than is known of one recording on a side",
        );
    }
    let code = if grown.is_some_and(|grown| !grown.is_empty()) { GREW } else { 0 };
    base.into_iter().chain(new).try_for_each(|compared| compared.read.finish()).map(|()| code.into())
}

fn profiles(side: &[Compared]) -> Vec<(&Profile, EventId)> {
    side.iter().map(|compared| (&compared.read.profile, compared.event)).collect()
}

impl Options {
    /// Returns the recordings of the two sides; `None` if there are not as many as expected.
    fn sides(&self) -> Option<(&[PathBuf], &[PathBuf])> {
        match self.files.as_slice() {
            [base @ .., new] if self.to.is_empty() && base.len() == 1 => {
                Some((base, std::slice::from_ref(new)))
            }
            base if !self.to.is_empty() => Some((base, &self.to)),
            _ => None,
        }
    }

    fn read(&self, path: &Path) -> io::Result<Compared> {
        if self.sort.contains(&SortKey::TIME) {
            return Err(io::Error::other("-s time: recordings have no common times"));
        }
        let split = Split::for_columns(&sort::columns(&self.sort));
        let read = self.source.profile(&InputOptions::of_file(path), ProfileBuilder::new(), split)?;
        sort::check(&self.sort, &read.metadata).map_err(|error| of_file(path, &error))?;
        let event = single_event(&read.profile, self.source.off_cpu.event());
        let event = event.map_err(|error| of_file(path, &error))?;
        Ok(Compared { path: path.to_owned(), event, read })
    }
}

impl Compared {
    fn event(&self) -> Option<&Event> {
        self.read.profile.event(self.event)
    }
}

fn json_object(
    options: &Options,
    base: &[Compared],
    new: &[Compared],
    diff: &Diff<'_>,
    grown: Option<&[Change<'_>]>,
) -> Value {
    let side = |side: &[Compared]| -> Vec<Value> {
        let recording = |compared: &Compared| {
            let profile = &compared.read.profile;
            json!({
                "file": compared.path.to_string_lossy(),
                "recording": json::recording(&compared.read.metadata),
                "event": compared.event().map(|event| json::event_object(profile, compared.event, event)),
                "losses": json::losses(profile.losses()),
            })
        };
        side.iter().map(recording).collect()
    };
    let estimate = |estimate: Estimate| json!({"mean": estimate.mean, "error": estimate.error});
    let change = |change: &Change<'_>| {
        json!({
            "base": estimate(change.base),
            "new": estimate(change.new),
            "change": change.change(),
            "noise": change.noise(),
        })
    };
    let rows = diff.rows.iter().map(|row| json::entry(&row.entry, [("change", change(row))]));
    json!({
        "version": json::VERSION,
        "scale": if options.absolute { "value" } else { "share" },
        "value": if options.children { "total" } else { "self" },
        "base": side(base),
        "new": side(new),
        "total": change(&diff.total),
        "fail_above": options.fail_above,
        "grown": grown.map(<[_]>::len),
        "sort": options.sort.iter().map(|key| key.name).collect::<Vec<_>>(),
        "rows": rows.collect::<Vec<_>>(),
    })
}
