//! The records of a recording, with its damage and the progress of reading.

use std::fmt;
use std::fs::File;
use std::io;

use perf_file::{FileRecord, Reader, Stream};

use super::progress::{Progress, Shown};

/// Records between two looks at the clock, less one: a mask, so that a record costs no division.
const LOOK: u64 = 0xff;

/// The records of a recording, one by one. Damage does not end the program: it is kept, and returned by
/// [`finish`](Self::finish).
#[derive(Debug)]
pub(crate) struct Records {
    name: String,
    reader: Reader<Stream<File>>,
    len: Option<u64>,
    /// Records that were read.
    count: u64,
    damage: Damage,
    progress: Option<Progress>,
}

impl Records {
    pub(super) fn new(name: String, reader: Reader<Stream<File>>, len: Option<u64>) -> Self {
        Self { name, reader, len, count: 0, damage: Damage::default(), progress: None }
    }

    /// Shows on a terminal how much of the file was read, after a second.
    pub(crate) fn show_progress(&mut self, shown: Shown) {
        self.progress = Progress::new(shown, format!("reading {}", self.name), self.len);
    }

    /// Reads the next record; `None` at the end, and at damage that ends the reading.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<FileRecord<'_>> {
        self.count += 1;
        if self.count & LOOK == 0 {
            self.look();
        }
        match self.reader.next() {
            Ok(record) => record,
            Err(error) => {
                self.damage.add(error);
                None
            }
        }
    }

    /// Counts a record that cannot be used: [`finish`](Self::finish) returns the first error.
    #[cold]
    pub(crate) fn skip(&mut self, error: &perf_file::Error) {
        self.damage.add(error);
    }

    /// Adds damage that is found in several records together.
    pub(crate) fn add_damage(&mut self, damage: Option<String>) {
        if let Some(damage) = damage {
            self.damage.add(damage);
        }
    }

    /// Returns how many records came after a record of a later time; 0 in the order of the file.
    pub(crate) fn late(&self) -> u64 {
        self.reader.late()
    }

    /// Removes the progress from the terminal, as is needed before the output of a command. Dropping does it, too.
    pub(crate) fn clear_progress(&mut self) {
        self.progress = None;
    }

    /// Returns an error with the name of the file.
    pub(super) fn error(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.name))
    }

    /// Ends the reading. Call it after the output was written, which has all records that could be read.
    ///
    /// # Errors
    ///
    /// One line with the name of the file, the first damage, and how much there is. It is the error of the command.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.damage.into_result(&self.name)
    }

    #[cold]
    fn look(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.set(self.reader.offset());
        }
    }
}

/// The errors of a recording whose other parts are used.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    count: u64,
    first: Option<String>,
}

impl Damage {
    /// Adds an error.
    pub(crate) fn add(&mut self, error: impl fmt::Display) {
        self.count += 1;
        self.first.get_or_insert_with(|| error.to_string());
    }

    /// Returns whether there was no error.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns one line: the name of the file, the first error and the number of errors.
    pub(crate) fn into_result(self, name: &str) -> io::Result<()> {
        match (self.first, self.count) {
            (None, _) => Ok(()),
            (Some(first), 1) => Err(io::Error::other(format!("{name}: {first}"))),
            (Some(first), count) => {
                Err(io::Error::other(format!("{name}: {first}; the first of {count} errors")))
            }
        }
    }
}
