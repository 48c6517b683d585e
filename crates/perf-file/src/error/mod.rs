//! The reasons why a file cannot be read or written further.

use perf_abi::RecordType;

mod display;
#[cfg(feature = "std")]
mod io;

/// An error of a file that is read or written, with its offset.
///
/// `Display` prints the offset, if there is one, and the whole reason, and not the file, whose path
/// the program adds. So [`source`](core::error::Error::source) is always `None`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Error {
    /// The offset in bytes from the start of the file; inside a compressed record, the
    /// offset of the compressed record. `None` if the error is of the whole file, such as one that
    /// cannot be opened.
    pub offset: Option<u64>,
    /// The expected and the found value.
    pub reason: Reason,
}

/// [`core::result::Result`] with this crate's [`Error`].
pub type Result<T> = core::result::Result<T, Error>;

/// The reason of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The file or pipe has no bytes.
    Empty,
    /// The file does not start as a `perf.data` file does.
    NotPerfData {
        /// The first 8 bytes, zeros for those that are missing.
        found: [u8; 8],
        /// Bytes that are there, of these 8.
        len: usize,
    },
    /// No known header has the size that the file's header reports. Or the size of an attr, with
    /// the section of its ids in the file form, is less than the size of the first published attr,
    /// or more than a page.
    Size {
        /// The header or the attr.
        what: &'static str,
        /// The permitted sizes in bytes.
        expected: &'static str,
        /// The size in bytes.
        found: u64,
    },
    /// The size inside an attr differs from the size in the file header.
    AttrLength {
        /// The size inside of the attr in bytes.
        found: u32,
        /// The size by the header in bytes.
        expected: u64,
    },
    /// The section of the attrs is not a multiple of the size of an entry.
    AttrsSize {
        /// Size of the section in bytes.
        found: u64,
        /// Size of an entry in bytes.
        entry: u64,
    },
    /// Two parts of a file overlap.
    Overlap {
        /// The part that is at the offset of the error.
        what: &'static str,
        /// The part that has the same bytes.
        with: &'static str,
    },
    /// The file has more than this crate reads, so that a malformed file cannot take any amount of
    /// memory.
    Limit {
        /// The items that are counted.
        what: &'static str,
        /// The number in the file.
        found: u64,
        /// The largest number of bytes that is permitted.
        limit: u64,
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
    /// The size of a record is less than 8, its header, or not a multiple of 8 in a record of
    /// the kernel.
    RecordSize {
        /// Kind of the record.
        kind: RecordType,
        /// The size in bytes.
        found: u16,
    },
    /// A number selects a form that this crate does not know.
    Unsupported {
        /// Name of the field.
        what: &'static str,
        /// Value of the field.
        found: u64,
    },
    /// A compressed record is not a part of a zstd stream.
    Compressed(Malformed),
    /// A record of the kernel cannot be decoded, or its event is unknown.
    Decoding(perf_decode::Error),
    /// A stream has the file form, whose sections cannot be read from a pipe.
    NotPipe,
    /// A directory has no file with the header.
    #[cfg(feature = "std")]
    NoDataFile,
    /// A numbered file of a directory is missing.
    #[cfg(feature = "std")]
    NoPart {
        /// N of `data.N`.
        number: u32,
    },
    /// A file of a directory is not a regular one. A pipe, which can block, is not opened.
    #[cfg(feature = "std")]
    NotRegularFile {
        /// The path as the caller named it.
        path: std::path::PathBuf,
    },
    /// The file cannot be read.
    #[cfg(feature = "std")]
    Io(std::io::Error),
    /// The file or pipe did not take all bytes of a recording: a full disk, a closed pipe. It took
    /// those before the offset of the error.
    #[cfg(feature = "std")]
    Write {
        /// The part of the recording that was being written.
        part: &'static str,
        /// The error of the system call.
        error: std::io::Error,
    },
    /// A record that is written is longer than its 16 bits of length can say. The file form has no
    /// such limit for events and features.
    #[cfg(feature = "std")]
    RecordTooLong {
        /// The content of the record.
        part: &'static str,
        /// Its length in bytes, the header included.
        size: usize,
    },
    /// A recording that is written has no event with this index.
    #[cfg(feature = "std")]
    NoEvent {
        /// Index of the event.
        event: usize,
        /// Number of events of the recording.
        events: usize,
    },
}

/// The reason why a zstd stream is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl Error {
    /// Creates an error at `offset`, in bytes from the start of the file.
    pub(crate) const fn new(offset: u64, reason: Reason) -> Self {
        Self { offset: Some(offset), reason }
    }

    /// Creates an error of the whole file.
    pub(crate) const fn of_file(reason: Reason) -> Self {
        Self { offset: None, reason }
    }

    /// Returns whether a part of the file is after its end.
    pub(crate) const fn is_past_the_end(&self) -> bool {
        matches!(self.reason, Reason::Truncated { .. })
    }

    pub(crate) const fn truncated(offset: u64, what: &'static str, needed: u64, available: u64) -> Self {
        Self::new(offset, Reason::Truncated { what, needed, available })
    }
}

impl core::error::Error for Error {}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::format::record_type;
    use core::error::Error as _;
    use std::string::ToString;

    #[test]
    fn chain_prints_the_text_of_the_error_below_once() {
        let decoding = perf_decode::RawRecord::from_words(&[]).unwrap_err();
        for (reason, text) in [
            (Reason::Io(std::io::Error::other("no medium")), "no medium".to_string()),
            (Reason::Decoding(decoding), decoding.to_string()),
        ] {
            let error = Error::new(7, reason);
            assert_eq!(error.to_string(), std::format!("offset 0x7: {text}"));
            assert!(error.source().is_none());
        }
    }

    #[test]
    fn text_has_what_was_expected_and_found() {
        let kind = record_type::FINISHED_ROUND;
        let write = Reason::Write { part: "header", error: std::io::Error::other("no medium") };
        for (reason, text) in [
            (Reason::Limit { what: "events", found: 9, limit: 8 }, "events: expected at most 8, found 9"),
            (
                Reason::TruncatedRecord { kind, needed: 16, available: 8 },
                "FINISHED_ROUND: expected 16 bytes, found 8; the file is truncated",
            ),
            (
                Reason::Unsupported { what: "version", found: 16 },
                "version: expected a known value, found 0x10",
            ),
            (Reason::NotPipe, "expected the pipe form, found the file form; open it as a file"),
            (Reason::NoDataFile, "expected a file `data` in the directory, found none"),
            (write, "cannot write the header: no medium"),
        ] {
            assert_eq!(Error::of_file(reason).to_string(), text);
        }
    }

    #[test]
    fn debug_prints_the_fields() {
        let error = Error::new(7, Reason::NotPipe);
        assert_eq!(std::format!("{error:?}"), "Error { offset: Some(7), reason: NotPipe }");
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
