//! Dump of a saved ring.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use perf_decode::Scratch;
use perf_decode::testing::capture::{Capture, Mode};

use super::Printer;
use super::entry::Entry;
use super::event_index::EventIndex;
use super::snapshot_records::{Placed, SnapshotRecords};

/// Prints the records of a saved ring. Damage is an error, after all whole records are printed.
pub(super) fn run(out: &mut dyn Write, path: &Path, json: bool) -> io::Result<()> {
    let bytes = fs::read(path);
    let path = path.display();
    let bytes = bytes.map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
    let (file, end) = Capture::parse_prefix(&bytes);
    drop(bytes);
    let mut dump = Dump { printer: Printer::new(out, json), events: EventIndex::new(&file.events) };
    let overwritten = file.mode == Mode::Overwritten;
    if !overwritten {
        dump.snapshots(&file)?;
    }
    let Printer { mut out, mut damage, .. } = dump.printer;
    out.flush()?;
    if let Err(error) = end {
        damage.add(error);
    }
    match damage.into_text() {
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
    printer: Printer<'a>,
    events: EventIndex<'a>,
}

impl Dump<'_> {
    fn snapshots(&mut self, file: &Capture) -> io::Result<()> {
        let mut scratch = Box::new(Scratch::new());
        for (index, snapshot) in file.snapshots.iter().enumerate() {
            match SnapshotRecords::new(snapshot, file.mode, &mut scratch) {
                Ok(records) => self.records(index, records)?,
                Err(error) => self.printer.damage.add(format_args!("snapshot {index}: {error}")),
            }
        }
        Ok(())
    }

    fn records(&mut self, snapshot: usize, records: SnapshotRecords<'_>) -> io::Result<()> {
        for record in records {
            match record {
                Ok(placed) => self.record(snapshot, placed)?,
                Err(error) => self.printer.damage.add(format_args!("snapshot {snapshot}: {error}")),
            }
        }
        Ok(())
    }

    fn record(&mut self, snapshot: usize, placed: Placed<'_>) -> io::Result<()> {
        let entry = Entry::new(snapshot, placed, &self.events);
        if let Some(error) = entry.error() {
            let offset = placed.offset;
            self.printer.damage.add(format_args!("snapshot {snapshot}, offset {offset:#x}: {error}"));
        }
        self.printer.print(&entry, Entry::json)
    }
}
