//! Iterates over the records of a recording, with its damage and the progress of reading.

use std::fmt;
use std::fs::File;
use std::io;

use perf_decode::Record;
use perf_file::{FileRecord, Reader, Stream, UserRecord};
use perf_symbols::{AddressSpaces, BuildId};

/// Number of records between two progress reports, less one: a mask, so that records need no
/// division.
const REPORT: u64 = 0xff;

/// The progress of reading a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Bytes of the recording that were read.
    Read(u64),
    /// All records were read, and the functions are being named.
    Naming,
}

/// A record of the kernel in a file, and its content.
pub type DecodedRecord<'r> = (FileRecord<'r>, Record<'r>);

/// Reads the records of a recording one by one. Reading continues after damage, which
/// [`finish`](Self::finish) returns.
pub struct Records {
    name: String,
    reader: Reader<Stream<File>>,
    len: Option<u64>,
    /// Number of records read so far.
    count: u64,
    damage: Damage,
    progress: Option<Box<dyn FnMut(Progress)>>,
}

impl Records {
    pub(super) fn new(name: String, reader: Reader<Stream<File>>, len: Option<u64>) -> Self {
        Self { name, reader, len, count: 0, damage: Damage::default(), progress: None }
    }

    /// Returns the name of the recording, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the length of the recording in bytes; `None` if it is unknown, as for a pipe.
    pub fn byte_len(&self) -> Option<u64> {
        self.len
    }

    /// Calls `report` every 256 records, until [`end_progress`](Self::end_progress) or the drop of
    /// this value.
    pub fn on_progress(&mut self, report: impl FnMut(Progress) + 'static) {
        self.progress = Some(Box::new(report));
    }

    /// Reads the next record; `None` at the end, and at damage that ends the reading.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "the record borrows the reader")]
    pub fn next(&mut self) -> Option<FileRecord<'_>> {
        self.count_record();
        read(&mut self.reader, &mut self.damage)
    }

    /// Reads the next record as [`next`](Self::next) does, and decodes it; `Some(None)` for a
    /// record that is not the kernel's, or that is [skipped](Self::skip).
    ///
    /// Pipes and the output of `perf inject -b` have the build ids of files between the records.
    /// They are added to `spaces`, which the caller updates by the decoded records.
    #[inline]
    pub fn next_decoded(&mut self, spaces: &mut AddressSpaces) -> Option<Option<DecodedRecord<'_>>> {
        self.count_record();
        let record = read(&mut self.reader, &mut self.damage)?;
        if record.kernel().is_none() {
            if let Some((path, id)) = build_id(&record) {
                spaces.add_build_id(path, id);
            }
            return Some(None);
        }
        match record.decode() {
            Ok(decoded) => Some(Some((record, decoded))),
            Err(error) => {
                self.damage.add(error);
                Some(None)
            }
        }
    }

    #[inline]
    fn count_record(&mut self) {
        self.count += 1;
        if self.count & REPORT == 0 {
            self.report(Progress::Read(self.reader.offset()));
        }
    }

    /// Counts an unusable record; [`finish`](Self::finish) returns the first error.
    #[cold]
    pub fn skip(&mut self, error: &perf_file::Error) {
        self.damage.add(error);
    }

    /// Adds damage that several records together show.
    pub fn add_damage(&mut self, damage: Option<String>) {
        if let Some(damage) = damage {
            self.damage.add(damage);
        }
    }

    /// Returns the number of records that came after a record of a later time; 0 in file order.
    pub fn late(&self) -> u64 {
        self.reader.late()
    }

    /// Stops reporting progress.
    pub fn end_progress(&mut self) {
        self.progress = None;
    }

    /// Returns an error with the name of the file.
    pub fn error(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.name))
    }

    pub(super) fn into_damage(self) -> (String, Damage) {
        (self.name, self.damage)
    }

    /// Ends the reading. Call it after use of the records.
    ///
    /// # Errors
    ///
    /// One line with the name of the file, the first damage, and the number of errors.
    pub fn finish(self) -> io::Result<()> {
        self.damage.into_result(&self.name)
    }

    #[cold]
    pub(super) fn report(&mut self, progress: Progress) {
        if let Some(report) = &mut self.progress {
            report(progress);
        }
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records")
            .field("name", &self.name)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

/// Reads a record, and counts an error. Takes the fields, because the record borrows the reader.
#[inline]
fn read<'r>(reader: &'r mut Reader<Stream<File>>, damage: &mut Damage) -> Option<FileRecord<'r>> {
    match reader.next() {
        Ok(record) => record,
        Err(error) => {
            damage.add(error);
            None
        }
    }
}

/// Returns the path and the build id of a record that has one.
fn build_id<'r>(record: &FileRecord<'r>) -> Option<(&'r [u8], BuildId)> {
    match record.user() {
        Ok(UserRecord::HeaderBuildId(id)) => Some((id.filename, BuildId::new(id.build_id)?)),
        _ => None,
    }
}

/// Collects the errors of a recording whose other parts are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    count: u64,
    first: Option<String>,
}

impl Damage {
    /// Adds an error.
    pub fn add(&mut self, error: impl fmt::Display) {
        self.count += 1;
        self.first.get_or_insert_with(|| error.to_string());
    }

    /// Returns whether there was no error.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns one line: the name of the file, the first error and the number of errors.
    pub fn into_result(self, name: &str) -> io::Result<()> {
        match (self.first, self.count) {
            (None, _) => Ok(()),
            (Some(first), 1) => Err(io::Error::other(format!("{name}: {first}"))),
            (Some(first), count) => {
                Err(io::Error::other(format!("{name}: {first}; the first of {count} errors")))
            }
        }
    }
}
