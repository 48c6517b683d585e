//! Saved rings: events, snapshots of the data area and final counts in one small file.
//!
//! All integers are little endian. Every part follows the one before it without a gap:
//!
//! ```text
//! header     magic "PERFRNG1", u32 version = 1, u32 page size, u32 data pages, u32 mode,
//!            u32 events, u32 snapshots, u32 0, u32 0
//! event      u64 id, i32 pid, i32 cpu, i32 group (index of the leader, or -1), u32 open flags,
//!            u32 attr length, u32 name length, the attr, the name padded with NULs
//! snapshot   u32 kind, u32 control page length, u64 head, u64 tail, u64 data offset, u64 data size,
//!            the control page's start, the data area
//! count      u32 length, u32 event index, what read(2) gave: one for each event
//! ```
//!
//! Nothing in a file is trusted: a length that reaches past the end is an [`Error`], never a panic.

use std::fmt;

use perf_abi::Attr;
use perf_decode::ReadValues;

mod cursor;
#[cfg(test)]
mod tests;

use cursor::Cursor;

const MAGIC: &[u8; 8] = b"PERFRNG1";
const VERSION: u32 = 1;

/// What was wrong with a ring file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Error {
    /// The file starts with something else.
    Magic,
    /// The version is not 1.
    Version(u32),
    /// A field needs more bytes than the file has left.
    Truncated { field: &'static str, at: usize, needed: usize, found: usize },
    /// A field holds a value that the file cannot mean.
    Invalid { field: &'static str, value: u64 },
    /// The file goes on behind its last part.
    Surplus { at: usize, found: usize },
    /// The records are words of the other byte order.
    ByteOrder,
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Magic => write!(f, "not a ring file: it does not start with PERFRNG1"),
            Self::Version(found) => write!(f, "ring file version {found}, this program reads {VERSION}"),
            Self::Truncated { field, at, needed, found } => {
                write!(f, "ring file is cut: {field} at byte {at} needs {needed} bytes, {found} are left")
            }
            Self::Invalid { field, value } => {
                write!(f, "ring file: {field} is {value}, which has no meaning")
            }
            Self::Surplus { at, found } => write!(f, "ring file: {found} bytes behind its end at byte {at}"),
            Self::ByteOrder => write!(f, "ring files hold little-endian records, this machine is big endian"),
        }
    }
}

/// How the ring was written and read while it was saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mode(u32);

impl Mode {
    /// The reader consumed the records: each snapshot holds them from tail to head.
    pub(crate) const FORWARD: Self = Self(0);
    /// `write_backward`: each snapshot holds what lies from head upwards.
    pub(crate) const BACKWARD: Self = Self(1);
    /// Forward without a reader: only the kernel knew where a record starts.
    pub(crate) const OVERWRITTEN: Self = Self(2);
}

/// A ring file, or as much of it as is whole.
#[derive(Debug, Default)]
pub(crate) struct RingFile {
    /// Size of a page in bytes.
    pub(crate) page_size: u32,
    /// Pages of the data area.
    pub(crate) data_pages: u32,
    /// How the ring was used.
    pub(crate) mode: Mode,
    /// The events that wrote into the ring.
    pub(crate) events: Vec<Event>,
    /// The ring at several moments, oldest first.
    pub(crate) snapshots: Vec<Snapshot>,
}

/// One event of a saved ring.
#[derive(Debug)]
pub(crate) struct Event {
    /// The kernel's id of the event.
    pub(crate) id: u64,
    /// Its name, as the recording program called it.
    pub(crate) name: String,
    /// What it was opened with.
    pub(crate) attr: Attr,
    /// Its count after the recording, or its group's first; `None` if nothing could be read.
    pub(crate) count: Option<u64>,
}

/// The ring at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// How far the kernel had written.
    pub(crate) head: u64,
    /// How far the reader had come.
    pub(crate) tail: u64,
    /// Length of the data area in bytes.
    pub(crate) size: usize,
    /// The data area: its start only if the file ends in it.
    pub(crate) data: Vec<u64>,
}

impl Snapshot {
    /// Whether the file ends before the data area does.
    pub(crate) fn is_cut(&self) -> bool {
        self.data.len() < self.size / 8
    }
}

impl RingFile {
    /// Reads a file that is all in memory.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let (file, end) = Self::read(bytes);
        end.map(|()| file)
    }

    /// Reads as much of a file as is whole, and says what ended it.
    pub(crate) fn read(bytes: &[u8]) -> (Self, Result<(), Error>) {
        let mut file = Self::default();
        let end = file.fill(bytes);
        (file, end)
    }

    fn fill(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if cfg!(target_endian = "big") {
            return Err(Error::ByteOrder);
        }
        let mut cursor = Cursor::new(bytes);
        if cursor.take(MAGIC.len(), "magic")? != MAGIC {
            return Err(Error::Magic);
        }
        let version = cursor.u32("version")?;
        if version != VERSION {
            return Err(Error::Version(version));
        }
        (self.page_size, self.data_pages) = (cursor.u32("page size")?, cursor.u32("data pages")?);
        self.mode = mode(cursor.u32("ring mode")?)?;
        let (events, snapshots) = (cursor.u32("event count")?, cursor.u32("snapshot count")?);
        cursor.take(8, "reserved words")?;
        // Counts are not reserved for: a damaged one would ask for all memory before its first error.
        for _ in 0..events {
            self.events.push(event(&mut cursor)?);
        }
        for _ in 0..snapshots {
            snapshot(&mut cursor, &mut self.snapshots)?;
        }
        for _ in 0..events {
            self.count(&mut cursor)?;
        }
        cursor.end()
    }

    fn count(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Error> {
        let len = cursor.length("count length")?;
        let index = cursor.u32("count's event")?;
        let words = cursor.words(len, "count")?;
        let event = usize::try_from(index).ok().and_then(|index| self.events.get_mut(index));
        let event = event.ok_or(Error::Invalid { field: "count's event", value: index.into() })?;
        let counts = ReadValues::parse(&words, event.attr.read_format).ok();
        event.count = counts.and_then(|counts| counts.iter().next()).map(|count| count.value);
        Ok(())
    }
}

fn mode(value: u32) -> Result<Mode, Error> {
    let mode = Mode(value);
    if mode.0 > Mode::OVERWRITTEN.0 {
        return Err(Error::Invalid { field: "ring mode", value: value.into() });
    }
    Ok(mode)
}

fn event(cursor: &mut Cursor<'_>) -> Result<Event, Error> {
    let id = cursor.u64("event id")?;
    cursor.take(16, "event's pid, cpu, group and flags")?;
    let (attr_len, name_len) = (cursor.length("attr length")?, cursor.length("name length")?);
    let attr = attr(cursor.take(attr_len, "attr")?)?;
    let name = cursor.take(name_len, "event name")?;
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(Event { id, name: String::from_utf8_lossy(name).into_owned(), attr, count: None })
}

/// An attr of any length: what an older kernel did not know is zero, and so is what we do not know.
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

/// Adds a snapshot, also one that the file ends in.
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
