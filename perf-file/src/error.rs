//! The reasons why a file cannot be read further.

use core::fmt;

use perf_abi::RecordType;

use crate::format::{FileHeader, PipeHeader, record_type};

/// An error of a file, with its offset.
#[derive(Debug)]
pub struct Error {
    offset: u64,
    reason: Reason,
}

/// [`core::result::Result`] with this crate's [`Error`].
pub type Result<T> = core::result::Result<T, Error>;

/// The reason of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The file does not start as a `perf.data` file does.
    NotPerfData {
        /// The first 8 bytes, zeros for those that are missing.
        found: [u8; 8],
    },
    /// The size in the file's header is that of no known header.
    HeaderSize {
        /// The size in bytes.
        found: u64,
    },
    /// The size of an entry of the attrs is less than that of the first attr.
    AttrSize {
        /// The size in bytes.
        found: u64,
    },
    /// A field or section needs more bytes than there are.
    Truncated {
        /// The field or section.
        what: &'static str,
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that are there.
        available: u64,
    },
    /// The file ends within a record.
    TruncatedRecord {
        /// Kind of the record.
        kind: RecordType,
        /// Its size in bytes, with the data that follows it.
        needed: u64,
        /// Bytes that are there.
        available: u64,
    },
    /// The size of a record is less than that of its header, or not a multiple of 8 in a record of
    /// the kernel.
    RecordSize {
        /// Kind of the record.
        kind: RecordType,
        /// The size in bytes.
        found: u16,
    },
    /// A number selects a form that this crate does not know.
    Unsupported {
        /// The field.
        what: &'static str,
        /// Its value.
        found: u64,
    },
    /// A compressed record is not a part of a zstd stream.
    Compressed(Malformed),
    /// A record of the kernel cannot be decoded, or its event is unknown.
    Decoding(perf_decode::Error),
    /// A stream has the file form, whose sections cannot be read from a pipe.
    NotPipe,
    /// The file cannot be read.
    #[cfg(feature = "std")]
    Io(std::io::Error),
}

/// The reason why a zstd stream is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl Error {
    /// Creates an error at `offset`, in bytes from the start of the file.
    pub(crate) const fn new(offset: u64, reason: Reason) -> Self {
        Self { offset, reason }
    }

    pub(crate) const fn truncated(offset: u64, what: &'static str, needed: u64, available: u64) -> Self {
        Self::new(offset, Reason::Truncated { what, needed, available })
    }

    /// Returns the offset in bytes from the start of the file; inside compressed records, that of
    /// the compressed record.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the reason.
    #[must_use]
    pub const fn reason(&self) -> &Reason {
        &self.reason
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.reason {
            Reason::Decoding(error) => Some(error),
            #[cfg(feature = "std")]
            Reason::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {:#x}: {}", self.offset, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |kind: &RecordType| Name(*kind);
        match self {
            Self::NotPerfData { found } => {
                write!(f, "expected a perf.data file, found \"{}\"", found.escape_ascii())
            }
            Self::HeaderSize { found } => write!(
                f,
                "size of the header: expected {}, {} or {}, found {found}",
                FileHeader::SIZE,
                FileHeader::SIZE_WITHOUT_FEATURES,
                PipeHeader::SIZE
            ),
            Self::AttrSize { found } => {
                write!(f, "size of an attr with its ids: expected 80 at least, found {found}")
            }
            Self::Truncated { what, needed, available } => {
                write!(f, "{what}: expected {needed} bytes, found {available}")
            }
            Self::TruncatedRecord { kind, needed, available } => {
                write!(f, "{}: expected {needed} bytes, found {available}; the file is truncated", name(kind))
            }
            Self::RecordSize { kind, found } => write!(
                f,
                "{}: expected a size of 8 at least, in records of the kernel a multiple of 8, found {found}",
                name(kind)
            ),
            Self::Unsupported { what, found } => {
                write!(f, "{what}: expected a known value, found {found:#x}")
            }
            Self::Compressed(malformed) => write!(f, "compressed record: {}", malformed.0),
            Self::Decoding(error) => error.fmt(f),
            Self::NotPipe => f.write_str("expected the pipe form, found the file form; open it as a file"),
            #[cfg(feature = "std")]
            Self::Io(error) => error.fmt(f),
        }
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

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use core::error::Error as _;
    use std::string::ToString;

    #[test]
    fn source_is_the_error_below() {
        let source = |reason| Error::new(7, reason).source().map(ToString::to_string);
        assert_eq!(source(Reason::Io(std::io::Error::other("no medium"))), Some("no medium".into()));
        let decoding = perf_decode::RawRecord::from_words(&[]).unwrap_err();
        assert_eq!(source(Reason::Decoding(decoding)), Some(decoding.to_string()));
        assert_eq!(source(Reason::NotPipe), None);
    }

    #[test]
    fn record_is_named_or_numbered() {
        let text = |kind| Error::new(16, Reason::RecordSize { kind, found: 4 }).to_string();
        assert!(
            text(record_type::FINISHED_ROUND).starts_with("offset 0x10: FINISHED_ROUND: expected a size")
        );
        let unknown = std::format!("offset 0x10: {}: expected", RecordType(99));
        assert!(text(RecordType(99)).starts_with(&unknown), "{unknown}");
    }
}
