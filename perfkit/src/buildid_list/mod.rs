//! `perfkit buildid-list`: the build ids of a recording's objects, for programs that call the perf
//! tool, such as perf2bolt.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use clap::Args;
use perf_profile::read::{Metadata, Records};
use perf_symbols::BuildId;

use crate::archive;
use crate::cli::help;
use crate::out::message::shown;
use crate::recording::InputOptions;

/// Print the build ids of the objects in a recording
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "Each line has a build id and the path of its object: those that the recorder listed, or of a recording whose mappings \
     have build ids, the objects in which samples are. `perfkit archive` packs the files.",
    &[
        ("perfkit buildid-list", ""),
        ("perfkit buildid-list --with-hits", "only objects in which samples are"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// Accepted as the perf tool has it: perfkit reads files of any owner
    #[arg(short = 'f', hide = true)]
    is_forced: bool,
    /// Only objects in which samples are
    #[arg(short = 'H', long)]
    with_hits: bool,
}

/// Prints the list. Damage is an error, after all that could be read is printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let (about, mut records) = options.input.open()?.in_time_order();
    let mut out = BufWriter::new(out);
    // A recorder that lists build ids lists all of them.
    if !options.with_hits && !about.build_ids.is_empty() {
        for (path, id) in &about.build_ids {
            print(&mut out, *id, path)?;
        }
        return out.flush();
    }
    let mut printed = HashSet::new();
    for (id, path) in hits(&about, &mut records) {
        if printed.insert((id, path.clone())) {
            print(&mut out, id, &path)?;
        }
    }
    out.flush()?;
    records.finish()
}

fn print(out: &mut dyn Write, id: BuildId, path: &[u8]) -> io::Result<()> {
    writeln!(out, "{id} {}", shown(String::from_utf8_lossy(path).as_ref()))
}

/// Returns the build ids and paths of the objects in which samples are.
fn hits(about: &Metadata, records: &mut Records) -> Vec<(BuildId, Vec<u8>)> {
    let used = archive::read(about, records).into_iter().filter(|object| object.is_used);
    used.filter_map(|object| Some((object.build_id?, object.object().path().to_vec()))).collect()
}
