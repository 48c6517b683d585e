//! `perfkit dump`: prints every record of a `perf.data` file, one per line.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::Value as Json;

mod feature;
mod file;
mod json;
mod tool_record;

use crate::help;
use crate::recording::InputOptions;
use json::Object;

/// Options of `perfkit dump`.
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "All records of a damaged file that can be read are printed, and then the first error.",
    &[
        ("perfkit dump", "the records of perf.data, one a line"),
        ("perfkit dump FILE --json", "one JSON object a line"),
        ("perfkit dump FILE --features", "the machine, the events, build ids and others"),
        ("perfkit record -o - CMD | perfkit dump -", "the records of a pipe"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// The recording, as by -i
    #[arg(value_name = "FILE", conflicts_with = "input")]
    file: Option<PathBuf>,
    /// Print one JSON object per record instead of a line of text
    #[arg(long)]
    json: bool,
    /// Print the records in time order, by default in file order
    #[arg(long)]
    sorted: bool,
    /// Print and verify the feature sections in place of the records: the machine, events, build ids and others
    #[arg(long, conflicts_with = "sorted")]
    features: bool,
}

/// Prints the records of a file. Damage is an error, after all whole records are printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let recording = match &options.file {
        Some(file) => InputOptions::of_file(file).open()?,
        None => options.input.open()?,
    };
    file::run(out, recording, options)
}

/// The lines of a dump in progress.
struct Printer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    json: bool,
}

impl<'a> Printer<'a> {
    fn new(out: &'a mut dyn Write, json: bool) -> Self {
        Self { out: BufWriter::new(out), json }
    }

    /// Prints a record as a line.
    fn print<E: fmt::Display>(&mut self, entry: &E, json: impl FnOnce(&E) -> Object) -> io::Result<()> {
        if self.json {
            writeln!(self.out, "{}", Json::from(json(entry)))
        } else {
            writeln!(self.out, "{entry}")
        }
    }
}
