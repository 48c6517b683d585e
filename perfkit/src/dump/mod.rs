//! `perfkit dump`: prints every record of a `perf.data` file, one per line.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use perf_abi::RecordType;

mod entry;
mod feature;
mod field;
mod file;
mod json;
mod kind;
mod printer;
mod tool_record;

pub(crate) use json::{of_tracepoint, tracepoint};

use crate::cli::help;
use crate::recording::{InputOptions, TaskFilterOptions};

/// Options of `perfkit dump`.
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "All records of a damaged file that can be read are printed, and then the first error. With an option for tasks, CPUs or \
     times, records that have none are left out, and those that cannot be decoded. Threads have the names that the records \
     before give them: with --sorted, those of that time.",
    &[
        ("perfkit dump", "the records of perf.data, one a line"),
        ("perfkit dump FILE --json", "one JSON object a line"),
        ("perfkit dump --kind COMM,EXIT --time 10%-20%", "the processes of a part of the time"),
        ("perfkit dump --flat -F time,tid,ip", "a table for awk, spreadsheets and databases"),
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
    #[arg(long, conflicts_with_all = ["sorted", "fields", "kinds", "flat"])]
    features: bool,
    /// Print only these fields, by the names in the output; a record that has none of them is left out
    #[arg(short = 'F', long, value_name = "NAME,...", value_delimiter = ',', value_parser = field::parse)]
    fields: Vec<String>,
    /// Only records of these kinds, by name or number
    #[arg(long = "kind", value_name = "KIND,...", value_delimiter = ',', value_parser = kind::parse)]
    kinds: Vec<RecordType>,
    /// Print a table with a tab between two columns; with --json, objects without inner objects
    #[arg(long)]
    flat: bool,
    #[command(flatten)]
    filter: TaskFilterOptions,
}

/// Prints the records of a file. Damage is an error, after all whole records are printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let recording = match &options.file {
        Some(file) => InputOptions::of_file(file).open()?,
        None => options.input.open()?,
    };
    file::run(out, recording, options)
}
