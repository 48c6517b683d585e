//! `perfkit dump`: prints every record of a `perf.data` file, one per line.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::Value as Json;

mod about;
mod feature;
mod file;
mod json;
mod tool_record;

use crate::help;
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
    /// perf.data file or directory; - reads the pipe form from standard input
    #[arg(value_name = "FILE", default_value = "perf.data")]
    file: PathBuf,
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
    file::run(out, &options.file, options)
}

/// The lines of a dump in progress, and the errors of its records.
struct Printer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    json: bool,
    damage: SkippedBytes,
}

impl<'a> Printer<'a> {
    fn new(out: &'a mut dyn Write, json: bool) -> Self {
        Self { out: BufWriter::new(out), json, damage: SkippedBytes::default() }
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

/// The errors of a dump.
#[derive(Debug, Default)]
struct SkippedBytes {
    count: u64,
    first: Option<String>,
}

impl SkippedBytes {
    fn add(&mut self, error: impl fmt::Display) {
        self.count += 1;
        self.first.get_or_insert_with(|| error.to_string());
    }

    /// Returns one line: the first error and the number of errors.
    fn into_text(self) -> Option<String> {
        match self.count {
            0 | 1 => self.first,
            count => self.first.map(|first| format!("{first}; the first of {count} errors")),
        }
    }
}
