//! Captures of rings: events, snapshots of the data area and final counts in one small file.
//!
//! Integers are little-endian. No part has padding before or after it:
//!
//! | part | content |
//! |---|---|
//! | header | `"PERFRNG1"`; `u32`: version 1, page size, data pages, mode, events, snapshots, 0, 0 |
//! | each event | `u64` id; `i32` pid, cpu, group leader's index or -1; `u32` open flags, attr length, name length; attr; name, NUL-padded |
//! | each snapshot | `u32` kind, control page length; `u64` head, tail, data offset, data size; start of the control page; data area |
//! | each event | `u32` length, event index; the words that read(2) returned |
//!
//! A file is not trusted: a length that extends past its end is an [`Error`].
//!
//! ```
//! use perf_decode::testing::capture::{Capture, Error};
//!
//! let truncated = Error::Truncated { field: "version", at: 8, needed: 4, found: 0 };
//! assert_eq!(Capture::parse(b"PERFRNG1").unwrap_err(), truncated);
//! ```

use alloc::{string::String, vec::Vec};
use perf_abi::Attr;

use crate::read::ReadValues;

mod cursor;
mod error;
#[cfg(test)]
mod tests;

use cursor::Cursor;
pub use error::Error;

const MAGIC: &[u8; 8] = b"PERFRNG1";
const VERSION: u32 = 1;

/// How the ring was written and read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The reader consumed the records: a snapshot holds those from tail to head.
    #[default]
    Forward,
    /// `write_backward`: a snapshot holds the records from head upwards, the newest first.
    Backward,
    /// Forward without a reader: once the ring has wrapped, the start of its first record is
    /// unknown.
    Overwritten,
}

/// A ring at several moments, and the events that wrote into it.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Size of a page in bytes.
    pub page_size: u32,
    /// Pages of the data area.
    pub data_pages: u32,
    /// How the ring was written and read.
    pub mode: Mode,
    /// The events of the ring.
    pub events: Vec<Event>,
    /// The ring at several moments, oldest first.
    pub snapshots: Vec<Snapshot>,
}

/// An event of a captured ring.
#[derive(Clone, Debug)]
pub struct Event {
    /// The kernel's id of the event.
    pub id: u64,
    /// A name for people.
    pub name: String,
    /// The attr it was opened with.
    pub attr: Attr,
    /// The words that read(2) returned after the recording, in the attr's `read_format`; empty if
    /// none.
    pub counts: Vec<u64>,
}

impl Event {
    /// Returns the final count, in a group the leader's; `None` if none could be read.
    pub fn count(&self) -> Option<u64> {
        let counts = ReadValues::parse(&self.counts, self.attr.read_format).ok()?;
        counts.iter().next().map(|count| count.value)
    }
}

/// A ring at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Position up to which the kernel had written, in bytes.
    pub head: u64,
    /// Position up to which the reader had consumed, in bytes.
    pub tail: u64,
    /// Length of the data area in bytes.
    pub size: usize,
    /// The data area, or its start if the file ends inside.
    pub data: Vec<u64>,
}

impl Snapshot {
    /// Returns whether the file ends before the data area does.
    pub fn is_truncated(&self) -> bool {
        self.data.len() < self.size / 8
    }
}

impl Capture {
    /// Parses a whole file.
    ///
    /// # Errors
    ///
    /// The first [`Error`] in the file.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let (capture, end) = Self::parse_prefix(bytes);
        end.map(|()| capture)
    }

    /// Parses as much of a file as is sound. Returns it with the error that ended it.
    pub fn parse_prefix(bytes: &[u8]) -> (Self, Result<(), Error>) {
        let mut capture = Self::default();
        let end = capture.fill(bytes);
        (capture, end)
    }

    fn fill(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut cursor = Cursor::new(bytes);
        if cursor.take(MAGIC.len(), "magic")? != MAGIC {
            return Err(Error::Magic);
        }
        let found = cursor.u32("version")?;
        if found != VERSION {
            return Err(Error::Version { found });
        }
        if cfg!(target_endian = "big") {
            return Err(Error::ByteOrder);
        }
        (self.page_size, self.data_pages) = (cursor.u32("page size")?, cursor.u32("data pages")?);
        self.mode = mode(cursor.u32("mode")?)?;
        let (events, snapshots) = (cursor.u32("event count")?, cursor.u32("snapshot count")?);
        cursor.take(8, "reserved words")?;
        // Nothing is reserved for the counts: a malformed one would ask for all memory.
        for _ in 0..events {
            self.events.push(event(&mut cursor)?);
        }
        for _ in 0..snapshots {
            snapshot(&mut cursor, &mut self.snapshots)?;
        }
        for _ in 0..events {
            self.counts(&mut cursor)?;
        }
        cursor.end()
    }

    fn counts(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        let len = cursor.length("counts' length")?;
        let index = cursor.u32("counts' event")?;
        let words = cursor.words(len, "counts")?;
        let event = usize::try_from(index).ok().and_then(|index| self.events.get_mut(index));
        event.ok_or(Error::Invalid { field: "counts' event", value: index.into() })?.counts = words;
        Ok(())
    }
}

fn mode(value: u32) -> Result<Mode, Error> {
    match value {
        0 => Ok(Mode::Forward),
        1 => Ok(Mode::Backward),
        2 => Ok(Mode::Overwritten),
        _ => Err(Error::Invalid { field: "mode", value: value.into() }),
    }
}

fn event(cursor: &mut Cursor<'_>) -> Result<Event, Error> {
    let id = cursor.u64("event id")?;
    cursor.take(16, "event's pid, cpu, group and flags")?;
    let (attr_len, name_len) = (cursor.length("attr length")?, cursor.length("name length")?);
    let attr = attr(cursor.take(attr_len, "attr")?)?;
    let name = cursor.take(name_len, "event name")?;
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(Event { id, name: String::from_utf8_lossy(name).into_owned(), attr, counts: Vec::new() })
}

/// Reads an attr of any length: the fields that it lacks are 0, and those that are unknown must be.
fn attr(bytes: &[u8]) -> Result<Attr, Error> {
    let mut whole = [0; size_of::<Attr>()];
    let (known, rest) = bytes.split_at(bytes.len().min(whole.len()));
    if rest.iter().any(|&byte| byte != 0) {
        return Err(Error::Invalid { field: "attr length", value: bytes.len() as u64 });
    }
    for (to, from) in whole.iter_mut().zip(known) {
        *to = *from;
    }
    Ok(zerocopy::transmute!(whole))
}

/// Adds a snapshot, even one that the file ends in.
fn snapshot(cursor: &mut Cursor<'_>, snapshots: &mut Vec<Snapshot>) -> Result<(), Error> {
    cursor.u32("snapshot kind")?;
    let control = cursor.length("control page length")?;
    let (head, tail) = (cursor.u64("head")?, cursor.u64("tail")?);
    cursor.u64("data offset")?;
    let value = cursor.u64("data size")?;
    let size = usize::try_from(value).ok().filter(|size| size % 8 == 0);
    let size = size.ok_or(Error::Invalid { field: "data size", value })?;
    cursor.take(control, "control page")?;
    let (data, end) = cursor.words_present(size, "data area");
    snapshots.push(Snapshot { head, tail, size, data });
    end
}
