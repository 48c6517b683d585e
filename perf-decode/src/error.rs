//! Why bytes are not perf records.

use core::fmt;

use perf_abi::RecordType;

/// The reason why bytes are not perf records.
///
/// Sizes and positions are in bytes; `at` counts from the start of the window or slice.
///
/// Errors of framing (sizes in headers, alignment) end the iteration, because the next record
/// begins at an unknown place: truncated data are [`SizePastEnd`](Self::SizePastEnd). Errors of a
/// body, such as [`Truncated`](Self::Truncated), concern one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not start at a multiple of 8.
    Misaligned {
        /// Address of the first byte.
        address: usize,
    },
    /// The length of the bytes is not a multiple of 8.
    UnalignedLength {
        /// Length in bytes.
        len: usize,
    },
    /// The size in a header is less than the 8 bytes of the header.
    SizeBelowHeader {
        /// Bytes before this record.
        at: u64,
        /// The header's size field in bytes.
        size: u16,
    },
    /// The size in a header is not a multiple of 8, which the kernel never writes.
    UnalignedSize {
        /// Bytes before this record.
        at: u64,
        /// The header's size field in bytes.
        size: u16,
    },
    /// A record is longer than the rest of the window.
    SizePastEnd {
        /// Bytes before this record.
        at: u64,
        /// The header's size field in bytes.
        size: u16,
        /// Bytes left from the record's start to the end.
        available: u64,
    },
    /// A record wraps at the end of the ring and is longer than the scratch that it must be joined
    /// in.
    ScratchTooShort {
        /// Bytes before this record.
        at: u64,
        /// The header's size field in bytes.
        size: u16,
        /// Bytes of the scratch.
        found: u64,
    },
    /// A slice that should be exactly one record is longer than the size in its header.
    SizeShortOfSlice {
        /// The header's size field in bytes.
        size: u16,
        /// Bytes of the slice.
        len: usize,
    },
    /// The data area of a ring is not a power of two, or is empty.
    RingSize {
        /// Length of the area in bytes.
        len: usize,
    },
    /// `data_head` is before `data_tail`.
    HeadBehindTail {
        /// The reader's position.
        tail: u64,
        /// The writer's position.
        head: u64,
    },
    /// Tail and head are further apart than the size of the ring, so the oldest bytes were
    /// overwritten.
    Overrun {
        /// The reader's position.
        tail: u64,
        /// The writer's position.
        head: u64,
        /// Size of the ring's data area in bytes.
        size: u64,
    },
    /// A ring position is not a multiple of 8.
    UnalignedPosition {
        /// The reader's position.
        tail: u64,
        /// The writer's position.
        head: u64,
    },
    /// A field needs more bytes than its record has left.
    Truncated {
        /// The record's type.
        kind: RecordType,
        /// The field that does not fit.
        field: &'static str,
        /// Bytes that the field needs, saturated at `u32::MAX`.
        needed: u32,
        /// Bytes that are left for it.
        found: u32,
    },
    /// Bytes that should be exactly one `read_format` block are longer.
    TrailingBytes {
        /// The record's type.
        kind: RecordType,
        /// Trailing bytes after the last field.
        found: u64,
    },
    /// A name has no NUL before the end of its record's body.
    Unterminated {
        /// The record's type.
        kind: RecordType,
        /// The field of the name.
        field: &'static str,
    },
    /// A field holds a value that makes the rest of the record unreadable.
    Invalid {
        /// The record's type.
        kind: RecordType,
        /// Name of the field in the record.
        field: &'static str,
        /// The value that was found.
        value: u64,
    },
    /// The attr has bits newer than this decoder, so the layout of its records is unknown.
    UnknownBits {
        /// The field of the attr: `sample_type`, `read_format` or `branch_sample_type`.
        field: &'static str,
        /// The unknown bits, as a mask.
        bits: u64,
    },
    /// No event of the table has this id.
    UnknownId {
        /// The id found in the record.
        id: u64,
    },
    /// The record has no id, and several events share the ring.
    NoId {
        /// The record's type.
        kind: RecordType,
    },
    /// Two events of a shared ring have their ids at different offsets, or have the same id.
    IdConflict {
        /// Id of one of the events that conflict.
        id: u64,
    },
}

/// [`core::result::Result`] with this crate's [`Error`].
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// Returns the error of a field that needs `needed` words and finds `found`.
    pub(crate) fn truncated(kind: RecordType, field: &'static str, needed: u64, found: u64) -> Self {
        let bytes = |words: u64| u32::try_from(words.saturating_mul(8)).unwrap_or(u32::MAX);
        Self::Truncated { kind, field, needed: bytes(needed), found: bytes(found) }
    }
}

impl core::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Misaligned { address } => write!(
                f,
                "records: expected a start at a multiple of 8, found {address:#x}; copy them to aligned memory"
            ),
            Self::UnalignedLength { len } => {
                write!(f, "records: expected a multiple of 8 bytes, found {len}")
            }
            Self::SizeBelowHeader { at, size } => {
                write!(f, "record at byte {at}: expected a size of 8 at least, found {size}")
            }
            Self::UnalignedSize { at, size } => {
                write!(f, "record at byte {at}: expected a size that is a multiple of 8, found {size}")
            }
            Self::SizePastEnd { at, size, available } => {
                write!(f, "record at byte {at}: expected {size} bytes, found {available}")
            }
            Self::ScratchTooShort { at, size, found } => {
                write!(f, "record at byte {at}: expected a scratch of {size} bytes, found {found}")
            }
            Self::SizeShortOfSlice { size, len } => {
                write!(f, "record: expected a slice of {size} bytes, found {len}")
            }
            Self::RingSize { len } => {
                write!(f, "ring: expected a size that is a power of two, at least 8, found {len}")
            }
            Self::HeadBehindTail { tail, head } => {
                write!(f, "ring: expected a head at or after the tail {tail:#x}, found {head:#x}")
            }
            Self::Overrun { tail, head, size } => write!(
                f,
                "ring: expected a head at most {size} bytes after the tail {tail:#x}, found {head:#x}"
            ),
            Self::UnalignedPosition { tail, head } => {
                write!(f, "ring: expected positions that are multiples of 8, found {tail:#x} and {head:#x}")
            }
            Self::Truncated { kind, field, needed, found } => {
                let more = if needed == u32::MAX { " or more" } else { "" };
                write!(f, "{kind}: {field}: expected {needed} bytes{more}, found {found}")
            }
            Self::TrailingBytes { kind, found } => {
                write!(f, "{kind}: {found} trailing bytes after the last field; the layout may not match")
            }
            Self::Unterminated { kind, field } => {
                write!(f, "{kind}: {field}: expected a terminating NUL, found none")
            }
            Self::Invalid { kind, field, value } => {
                write!(f, "{kind}: {field}: expected a known value, found {value:#x}")
            }
            Self::UnknownBits { field, bits } => write!(
                f,
                "{field}: expected known bits, found {bits:#x}; update perf-decode or leave them out of the attr"
            ),
            Self::UnknownId { id } => write!(f, "id: expected one of this ring's events, found {id}"),
            Self::NoId { kind } => write!(
                f,
                "{kind}: expected an id, found none; set IDENTIFIER and sample_id_all on all events of the ring"
            ),
            Self::IdConflict { id } => write!(
                f,
                "event {id}: expected a unique id at the same offset for all, found a conflict; set IDENTIFIER on all"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn text_has_what_was_expected_and_found_and_the_remedy() {
        let kind = RecordType::COMM;
        let (at, size, tail, head) = (16, 12, 0x20, 0x18);
        for (error, text) in [
            (
                Error::Misaligned { address: 0x1003 },
                "records: expected a start at a multiple of 8, found 0x1003; copy them to aligned memory",
            ),
            (Error::UnalignedLength { len: 9 }, "records: expected a multiple of 8 bytes, found 9"),
            (
                Error::SizeBelowHeader { at, size: 4 },
                "record at byte 16: expected a size of 8 at least, found 4",
            ),
            (
                Error::UnalignedSize { at, size },
                "record at byte 16: expected a size that is a multiple of 8, found 12",
            ),
            (Error::SizePastEnd { at, size, available: 8 }, "record at byte 16: expected 12 bytes, found 8"),
            (
                Error::ScratchTooShort { at, size, found: 8 },
                "record at byte 16: expected a scratch of 12 bytes, found 8",
            ),
            (Error::SizeShortOfSlice { size, len: 16 }, "record: expected a slice of 12 bytes, found 16"),
            (
                Error::RingSize { len: 24 },
                "ring: expected a size that is a power of two, at least 8, found 24",
            ),
            (
                Error::HeadBehindTail { tail, head },
                "ring: expected a head at or after the tail 0x20, found 0x18",
            ),
            (
                Error::Overrun { tail, head, size: 64 },
                "ring: expected a head at most 64 bytes after the tail 0x20, found 0x18",
            ),
            (
                Error::UnalignedPosition { tail: 1, head },
                "ring: expected positions that are multiples of 8, found 0x1 and 0x18",
            ),
            (
                Error::Truncated { kind, field: "comm", needed: u32::MAX, found: 8 },
                "COMM: comm: expected 4294967295 bytes or more, found 8",
            ),
            (
                Error::TrailingBytes { kind, found: 8 },
                "COMM: 8 trailing bytes after the last field; the layout may not match",
            ),
            (
                Error::Unterminated { kind, field: "comm" },
                "COMM: comm: expected a terminating NUL, found none",
            ),
            (Error::Invalid { kind, field: "abi", value: 9 }, "COMM: abi: expected a known value, found 0x9"),
            (
                Error::UnknownBits { field: "sample_type", bits: 0x80 },
                "sample_type: expected known bits, found 0x80; update perf-decode or leave them out of the attr",
            ),
            (Error::UnknownId { id: 7 }, "id: expected one of this ring's events, found 7"),
            (
                Error::NoId { kind },
                "COMM: expected an id, found none; set IDENTIFIER and sample_id_all on all events of the ring",
            ),
            (
                Error::IdConflict { id: 7 },
                "event 7: expected a unique id at the same offset for all, found a conflict; set IDENTIFIER on all",
            ),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }
}
