//! The texts of errors.

use core::fmt;

use perf_abi::RecordType;

use super::{Error, Reason};
use crate::format::record_type;

/// The starts of compressed files, and the names of the formats.
const COMPRESSED: [(&[u8], &str); 4] = [
    (&[0x1f, 0x8b], "gzip"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (b"BZh", "bzip2"),
];

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.offset, &self.reason) {
            #[cfg(feature = "std")]
            (Some(offset), Reason::Write { part, error }) => {
                write!(f, "cannot write the {part} at offset {offset}: {error}")
            }
            (Some(offset), reason) => write!(f, "offset {offset:#x}: {reason}"),
            (None, reason) => reason.fmt(f),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                f.write_str("expected a perf.data file, found no bytes: the file or pipe is empty")
            }
            Self::NotPerfData { found, len } => not_perf_data(found.get(..*len).unwrap_or(found), f),
            Self::Size { what, expected, found } => {
                write!(f, "size of {what}: expected {expected}, found {found}")
            }
            Self::AttrLength { found, expected } => {
                write!(f, "size in an attr: expected {expected} as in the header, found {found}")
            }
            Self::AttrsSize { found, entry } => {
                write!(f, "size of the attrs: expected a multiple of {entry} bytes, found {found}")
            }
            Self::Overlap { what, with } => {
                write!(f, "{what}: overlaps the {with}")
            }
            Self::Limit { what, found, limit } => {
                write!(f, "{what}: expected at most {limit}, found {found}")
            }
            Self::Truncated { what, needed, available } => {
                write!(f, "{what}: expected {needed} bytes, found {available}")
            }
            Self::TruncatedRecord { kind, needed, available } => write!(
                f,
                "{}: expected {needed} bytes, found {available}; the file is truncated",
                Name(*kind)
            ),
            Self::RecordSize { kind, found } => write!(
                f,
                "{}: expected a size of 8 at least, in records of the kernel a multiple of 8, found {found}",
                Name(*kind)
            ),
            Self::Unsupported { what, found } => {
                write!(f, "{what}: expected a known value, found {found:#x}")
            }
            Self::Compressed(malformed) => write!(f, "compressed record: {}", malformed.0),
            Self::Decoding(error) => error.fmt(f),
            Self::NotPipe => f.write_str("expected the pipe form, found the file form; open it as a file"),
            #[cfg(feature = "std")]
            Self::NoDataFile => f.write_str("expected a file `data` in the directory, found none"),
            #[cfg(feature = "std")]
            Self::NoPart { number } => {
                write!(
                    f,
                    "expected a file `data.{number}` in the directory, found none; its records are missing"
                )
            }
            #[cfg(feature = "std")]
            Self::NotRegularFile { path } => {
                write!(
                    f,
                    "expected a regular file in the directory, found something else: {}",
                    path.display()
                )
            }
            #[cfg(feature = "std")]
            Self::Io(error) => error.fmt(f),
            #[cfg(feature = "std")]
            Self::Write { part, error } => write!(f, "cannot write the {part}: {error}"),
            #[cfg(feature = "std")]
            Self::RecordTooLong { part, size } => write!(
                f,
                "expected at most {} bytes in the record of the {part}, found {size}; \
                 write the file form in place of the pipe form",
                u16::MAX
            ),
            #[cfg(feature = "std")]
            Self::NoEvent { event, events } => {
                write!(f, "expected the index of one of {events} events, found {event}")
            }
        }
    }
}

/// Names what starts with other bytes than a `perf.data` file.
fn not_perf_data(found: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match COMPRESSED.iter().find(|(start, _)| found.starts_with(start)) {
        Some((_, name)) => {
            write!(f, "expected a perf.data file, found a file compressed with {name}; decompress it first")
        }
        None => write!(f, "expected a perf.data file, found \"{}\"", found.escape_ascii()),
    }
}

/// Displays the name of a kind.
struct Name(RecordType);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match record_type::name(self.0) {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}
