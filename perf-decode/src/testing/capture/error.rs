//! Why a file is not a capture.

use core::fmt;

/// Why a file is not a capture, or not a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file starts with something else.
    Magic,
    /// The format has another version.
    Version {
        /// The version in the header.
        found: u32,
    },
    /// The file ends in a field.
    Truncated {
        /// The name of the field.
        field: &'static str,
        /// Offset of the field in the file, in bytes.
        at: usize,
        /// Length of the field in bytes.
        needed: usize,
        /// Bytes that are left.
        found: usize,
    },
    /// A field has a value without a meaning.
    Invalid {
        /// The name of the field.
        field: &'static str,
        /// The value that was found.
        value: u64,
    },
    /// Bytes follow the last part.
    TrailingBytes {
        /// Offset of the end of the last part, in bytes.
        at: usize,
        /// Bytes after it.
        found: usize,
    },
    /// The records are little-endian and this machine is not.
    ByteOrder,
}

impl core::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Magic => write!(f, "capture: expected a file that starts with PERFRNG1, found another"),
            Self::Version { found } => {
                write!(f, "capture: expected version {}, found {found}", super::VERSION)
            }
            Self::Truncated { field, at, needed, found } => {
                write!(f, "capture: {field} at byte {at}: expected {needed} bytes, found {found}")
            }
            Self::Invalid { field, value } => {
                write!(f, "capture: {field}: expected a valid value, found {value}")
            }
            Self::TrailingBytes { at, found } => {
                write!(f, "capture: expected its end at byte {at}, found {found} trailing bytes")
            }
            Self::ByteOrder => {
                write!(
                    f,
                    "capture: its records are little-endian, this machine is big-endian; read it on another"
                )
            }
        }
    }
}
