//! `perfkit dump`: every record of a saved ring, one a line.

use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use perf_decode::Scratch;
use perf_decode::testing::capture::{Capture, Mode};
use serde_json::Value as Json;

mod entry;
mod json;
mod walk;
mod writers;

use entry::Entry;
use walk::{Placed, Walk};
use writers::Writers;

/// Options of `perfkit dump`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// File with a saved ring
    #[arg(long, value_name = "FILE")]
    ring: PathBuf,
    /// Print one JSON object for each record
    #[arg(long)]
    json: bool,
}

/// Prints the records of a file. Damage is an error, after all that is whole has been printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let path = options.ring.display();
    let bytes =
        fs::read(&options.ring).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
    let (file, end) = Capture::parse_prefix(&bytes);
    drop(bytes);
    let mut table = writers::table(&file.events);
    let mut dump = Dump {
        out: BufWriter::new(out),
        json: options.json,
        writers: Writers::new(&file.events, &mut table),
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
        // The file is sound, so this is no error.
        None if overwritten => writeln!(
            io::stderr(),
            "perfkit: {path}: no records: where one starts is lost when a forward ring is overwritten"
        ),
        None => Ok(()),
    }
}

/// A dump in progress.
struct Dump<'a> {
    out: BufWriter<&'a mut dyn Write>,
    json: bool,
    writers: Writers<'a>,
    damage: Damage,
}

impl Dump<'_> {
    fn snapshots(&mut self, file: &Capture) -> io::Result<()> {
        let mut scratch = Box::new(Scratch::new());
        for (index, snapshot) in file.snapshots.iter().enumerate() {
            match Walk::over(snapshot, file.mode, &mut scratch) {
                Ok(walk) => self.records(index, walk)?,
                Err(error) => self.damage.add(format_args!("snapshot {index}: {error}")),
            }
        }
        Ok(())
    }

    fn records(&mut self, snapshot: usize, walk: Walk<'_>) -> io::Result<()> {
        for next in walk {
            match next {
                Ok(placed) => self.record(snapshot, placed)?,
                Err(error) => self.damage.add(format_args!("snapshot {snapshot}: {error}")),
            }
        }
        Ok(())
    }

    fn record(&mut self, snapshot: usize, placed: Placed<'_>) -> io::Result<()> {
        let entry = Entry::new(snapshot, placed, &self.writers);
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

/// What could not be read.
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

    /// One line: the first error and how many there are.
    fn into_text(self) -> Option<String> {
        match self.count {
            0 | 1 => self.first,
            count => self.first.map(|first| format!("{first}; the first of {count} errors")),
        }
    }
}
