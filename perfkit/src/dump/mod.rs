//! `perfkit dump`: prints every record of a `perf.data` file, one per line.

use std::io::{self, BufWriter, Write};

use clap::Args;
use perf_abi::RecordType;
use perf_file::format::Feature;
use perf_profile::read::{Damage, Filter, MetadataGap, Recording};
use perf_symbols::AddressSpaces;

mod entry;
mod feature;
mod json;
mod kind;
mod printer;
mod tool_record;

pub(crate) use json::{of_tracepoint, tracepoint};

use crate::cli::help;
use crate::out::message;
use crate::recording::{self, InputOptions, Shown, TaskFilterOptions, show_progress};
use entry::Entry;
use json::Object;
use printer::Printer;

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
    /// Print one JSON object per record instead of a line of text
    #[arg(short, long)]
    json: bool,
    /// Print the records in time order, by default in file order
    #[arg(long)]
    sorted: bool,
    /// Print and verify the feature sections in place of the records: the machine, events, build ids and others
    #[arg(long, conflicts_with_all = ["sorted", "fields", "kinds", "flat"])]
    features: bool,
    /// Print only these fields, by the names in the output; a record that has none of them is left out
    #[arg(short = 'F', long, value_name = "NAME,...", value_delimiter = ',', value_parser = printer::parse_field)]
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

/// Prints the records of a file, or its features. Damage is an error, after all whole records are
/// printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let recording = options.input.open()?;
    if options.features {
        return print_features(out, recording, options.json);
    }
    let name = recording.name().to_owned();
    let (about, mut records) =
        if options.sorted { recording.in_time_order() } else { recording.in_file_order() };
    let tracepoints = about.tracepoints();
    let mut printer = Printer::new(out, options, &tracepoints)?;
    let mut tasks = TaskFilter { filter: options.filter.filter(&about)?, spaces: AddressSpaces::new() };
    if printer.is_for_people() {
        recording::print(&about, &mut printer)?;
    }
    show_progress(&mut records, Shown::BesideOutput);
    while let Some(record) = records.next() {
        // Skip the record before it is decoded, unless the names of threads need it.
        let is_chosen = options.kinds.is_empty() || options.kinds.contains(&record.kind());
        if !is_chosen && !tasks.filter.needs_comm() {
            continue;
        }
        let entry = Entry::new(record, &about, &tracepoints);
        if tasks.has(&entry) && is_chosen {
            printer.print(&entry)?;
            if let Some(error) = entry.into_error() {
                records.skip(&error);
            }
        }
    }
    printer.flush()?;
    records.finish()?;
    match &about.gap {
        Some(gap @ MetadataGap::Damaged(_)) => Err(io::Error::other(format!("{name}: {gap}"))),
        // A truncated file of a killed recorder still has whole records.
        _ => Ok(()),
    }
}

/// Chooses records by their task, CPU and time.
struct TaskFilter {
    filter: Filter,
    /// Followed only for the names of threads.
    spaces: AddressSpaces,
}

impl TaskFilter {
    /// Returns whether a record is chosen. A filter chooses no record that cannot be decoded.
    fn has(&mut self, entry: &Entry<'_>) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        let Some(record) = entry.decoded() else { return false };
        if self.filter.needs_comm() {
            self.spaces.update(record);
        }
        self.filter.matches_record(&self.spaces, record)
    }
}

/// Prints all feature sections, and verifies their table. A malformed section is damage.
fn print_features(out: &mut dyn Write, mut recording: Recording, is_json: bool) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let mut damage = Damage::default();
    let reader = recording.reader();
    let features: Vec<Feature> = reader.features().iter().collect();
    for feature in features {
        let content = match reader.feature(feature) {
            Ok(None) => continue,
            Ok(Some(section)) => feature::value(&section.section()),
            Err(error) => Err(error),
        };
        let mut json = Object::from_iter([
            ("feature".to_owned(), feature.0.into()),
            ("feature_name".to_owned(), feature.to_string().into()),
        ]);
        match content {
            Ok(content) if is_json => {
                json.insert("content".to_owned(), content);
                writeln!(out, "{}", message::json(&json.into()))?;
            }
            Ok(content) => writeln!(out, "{feature}: {}", message::json(&content))?,
            Err(error) => {
                if is_json {
                    json.insert("error".to_owned(), error.to_string().into());
                    writeln!(out, "{}", message::json(&json.into()))?;
                } else {
                    writeln!(out, "{feature}: {error}")?;
                }
                damage.add(format_args!("{feature}: {error}"));
            }
        }
    }
    if damage.is_empty()
        && let Err(error) = reader.verify_features()
    {
        damage.add(error);
    }
    out.flush()?;
    damage.into_result(recording.name())
}
