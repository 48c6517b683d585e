//! `perfkit dump`: prints every record of a saved ring, one per line.

use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use perf_decode::Scratch;
use perf_decode::testing::capture::{Capture, Mode};
use serde_json::Value as Json;

mod entry;
mod event_index;
mod json;
mod snapshot_records;

use entry::Entry;
use event_index::EventIndex;
use snapshot_records::{Placed, SnapshotRecords};

/// Options of `perfkit dump`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// File with a saved ring
    #[arg(long, value_name = "FILE")]
    ring: PathBuf,
    /// Print one JSON object per record instead of a line of text
    #[arg(long)]
    json: bool,
}

/// Prints the records of a file. Damage is an error, after all whole records are printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let path = options.ring.display();
    let bytes =
        fs::read(&options.ring).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
    let (file, end) = Capture::parse_prefix(&bytes);
    drop(bytes);
    let mut dump = Dump {
        out: BufWriter::new(out),
        json: options.json,
        events: EventIndex::new(&file.events),
        damage: Damage::default(),
    };
    let overwritten = file.mode == Mode::Overwritten;
    if !overwritten {
        dump.snapshots(&file)?;
    }
    dump.out.flush()?;
    if let Err(error) = end {
        dump.damage.add(error);
    }
    match dump.damage.into_text() {
        Some(text) => Err(io::Error::other(format!("{path}: {text}"))),
        // Not an error, because the file is not damaged.
        None if overwritten => writeln!(
            io::stderr(),
            "perfkit: {path}: no records: the start of the first record of an overwritten forward ring is unknown"
        ),
        None => Ok(()),
    }
}

/// A dump in progress.
struct Dump<'a> {
    out: BufWriter<&'a mut dyn Write>,
    json: bool,
    events: EventIndex<'a>,
    damage: Damage,
}

impl Dump<'_> {
    fn snapshots(&mut self, file: &Capture) -> io::Result<()> {
        let mut scratch = Box::new(Scratch::new());
        for (index, snapshot) in file.snapshots.iter().enumerate() {
            match SnapshotRecords::new(snapshot, file.mode, &mut scratch) {
                Ok(records) => self.records(index, records)?,
                Err(error) => self.damage.add(format_args!("snapshot {index}: {error}")),
            }
        }
        Ok(())
    }

    fn records(&mut self, snapshot: usize, records: SnapshotRecords<'_>) -> io::Result<()> {
        for record in records {
            match record {
                Ok(placed) => self.record(snapshot, placed)?,
                Err(error) => self.damage.add(format_args!("snapshot {snapshot}: {error}")),
            }
        }
        Ok(())
    }

    fn record(&mut self, snapshot: usize, placed: Placed<'_>) -> io::Result<()> {
        let entry = Entry::new(snapshot, placed, &self.events);
        if let Some(error) = entry.error() {
            let offset = placed.offset;
            self.damage.add(format_args!("snapshot {snapshot}, offset {offset:#x}: {error}"));
        }
        if self.json {
            writeln!(self.out, "{}", Json::from(entry.json()))
        } else {
            writeln!(self.out, "{entry}")
        }
    }
}

/// The errors of a dump.
#[derive(Debug, Default)]
struct Damage {
    count: u64,
    first: Option<String>,
}

impl Damage {
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
