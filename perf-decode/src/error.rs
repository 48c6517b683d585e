use core::fmt;

use perf_abi::RecordType;

/// What was wrong with bytes that should have been perf records.
///
/// A flat `Copy` value: it says what was found and what was needed, in bytes, and holds no borrow of
/// the bytes themselves. Framing errors (`at`) count from the start of the window or slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not start at a multiple of 8. `address` is where they start.
    Misaligned {
        /// Address of the first byte.
        address: usize,
    },
    /// The length of the bytes is not a multiple of 8, so the last word is cut.
    UnalignedLength {
        /// Length in bytes.
        len: usize,
    },
    /// A header says that its record is shorter than the header itself (8 bytes).
    SizeBelowHeader {
        /// Bytes before this record.
        at: u64,
        /// The header's size field in bytes.
        size: u16,
    },
    /// A header's size is not a multiple of 8, which the kernel never writes.
    UnalignedSize {
        /// Bytes before this record.
        at: u64,
        /// The header's size field in bytes.
        size: u16,
    },
    /// A record reaches past the end of what was written.
    SizePastEnd {
        /// Bytes before this record.
        at: u64,
        /// The header's size field in bytes.
        size: u16,
        /// Bytes left from the record's start to the end.
        available: u64,
    },
    /// A slice that should hold exactly one record is longer than its header says.
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
    /// `data_tail` is ahead of `data_head`: nothing can have been written there.
    HeadBehindTail {
        /// The reader's position.
        tail: u64,
        /// The writer's position.
        head: u64,
    },
    /// More bytes lie between tail and head than the ring can hold: the oldest were overwritten.
    Overrun {
        /// The reader's position.
        tail: u64,
        /// The writer's position.
        head: u64,
        /// Size of the ring's data area in bytes.
        size: u64,
    },
    /// A ring position is not a multiple of 8, where every record starts.
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
    /// Every field of a sample was read and bytes remain: the layout is not that of this record.
    TrailingBytes {
        /// The record's type.
        kind: RecordType,
        /// Bytes that no field claims.
        found: u64,
    },
    /// A string has no NUL before the end of its record's body.
    Unterminated {
        /// The record's type.
        kind: RecordType,
        /// The field that holds the string.
        field: &'static str,
    },
    /// A field holds a value that makes the rest of the record unreadable.
    Invalid {
        /// The record's type.
        kind: RecordType,
        /// The field.
        field: &'static str,
        /// What it holds.
        value: u64,
    },
    /// The attr has bits newer than this decoder, so the layout of its records is unknown.
    UnknownBits {
        /// The field of the attr: `sample_type`, `read_format` or `branch_sample_type`.
        field: &'static str,
        /// The unknown bits, as a mask.
        bits: u64,
    },
    /// No event of a shared ring has this id.
    UnknownId {
        /// The id found in the record.
        id: u64,
    },
    /// The record carries no id, and the ring is shared by several events.
    NoId {
        /// The record's type.
        kind: RecordType,
    },
    /// Two events of a shared ring put their ids in different places, or have the same id.
    IdConflict {
        /// Id of the event that disagrees with the first one.
        id: u64,
    },
}

/// [`core::result::Result`] with this crate's [`Error`].
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// Returns the error of a field that needs `needed` words where `found` are left.
    pub(crate) fn truncated(kind: RecordType, field: &'static str, needed: u64, found: u64) -> Self {
        let bytes = |words: u64| u32::try_from(words.saturating_mul(8)).unwrap_or(u32::MAX);
        Self::Truncated { kind, field, needed: bytes(needed), found: bytes(found) }
    }
}

impl core::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Misaligned { address } => {
                write!(
                    f,
                    "records must start at a multiple of 8, these start at {address:#x}: copy them to aligned memory"
                )
            }
            Self::UnalignedLength { len } => write!(f, "{len} bytes are not a whole number of 8-byte words"),
            Self::SizeBelowHeader { at, size } => {
                write!(f, "record at byte {at} claims {size} bytes, less than its 8-byte header")
            }
            Self::UnalignedSize { at, size } => {
                write!(f, "record at byte {at} claims {size} bytes, not a multiple of 8")
            }
            Self::SizePastEnd { at, size, available } => {
                write!(f, "record at byte {at} claims {size} bytes, only {available} were written")
            }
            Self::SizeShortOfSlice { size, len } => {
                write!(f, "record claims {size} bytes, the slice has {len}")
            }
            Self::RingSize { len } => write!(f, "a ring of {len} bytes is not a power of two of at least 8"),
            Self::HeadBehindTail { tail, head } => {
                write!(f, "head {head:#x} is behind tail {tail:#x}")
            }
            Self::Overrun { tail, head, size } => {
                write!(f, "head {head:#x} is more than the ring's {size} bytes ahead of tail {tail:#x}")
            }
            Self::UnalignedPosition { tail, head } => {
                write!(f, "tail {tail:#x} or head {head:#x} is not a multiple of 8")
            }
            Self::Truncated { kind, field, needed, found } => {
                write!(f, "{kind}: {field} needs {needed} bytes, {found} are left")
            }
            Self::TrailingBytes { kind, found } => {
                write!(f, "{kind}: {found} bytes behind the last field: is this the attr of the event?")
            }
            Self::Unterminated { kind, field } => write!(f, "{kind}: {field} has no terminating NUL"),
            Self::Invalid { kind, field, value } => {
                write!(f, "{kind}: {field} is {value:#x}, which has no meaning")
            }
            Self::UnknownBits { field, bits } => {
                write!(
                    f,
                    "{field}: expected known bits, found also {bits:#x}: update perf-decode, or leave them out of the attr"
                )
            }
            Self::UnknownId { id } => write!(f, "no event with id {id} is known for this ring"),
            Self::NoId { kind } => {
                write!(
                    f,
                    "{kind}: no id to find its event by: set IDENTIFIER and sample_id_all on every event of a shared ring"
                )
            }
            Self::IdConflict { id } => {
                write!(
                    f,
                    "event {id} repeats an id or keeps it elsewhere than the others: set IDENTIFIER on all"
                )
            }
        }
    }
}
