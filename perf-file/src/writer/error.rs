use std::fmt;
use std::io;

use crate::std_error::into_std;

/// A recording that cannot be written further. What was written before stays readable.
///
/// `Display` names the part and the offset, and not the file, which the writer does not know: the program that
/// opened it adds its path. `Debug` prints the same text.
#[non_exhaustive]
pub enum WriteError {
    /// The file or pipe did not take the bytes: a full disk, a closed pipe.
    Io {
        /// The part of the recording that was being written.
        part: &'static str,
        /// Bytes from the start of the file or pipe to those that it did not take. It took all bytes before.
        offset: u64,
        /// The error of the system call.
        error: io::Error,
    },
    /// A record has a length of 16 bits. The file form has no such limit for events and features.
    RecordTooLong {
        /// The content of the record.
        part: &'static str,
        /// Its length in bytes, the header included.
        size: usize,
    },
    /// There is no event with this index.
    NoEvent {
        /// The index.
        event: usize,
        /// Number of events of the recording.
        events: usize,
    },
}

impl WriteError {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::Io { error, .. } => error.raw_os_error(),
            Self::RecordTooLong { .. } | Self::NoEvent { .. } => None,
        }
    }

    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Io { error, .. } => error.kind(),
            Self::RecordTooLong { .. } | Self::NoEvent { .. } => io::ErrorKind::InvalidInput,
        }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { part, offset, error } => {
                write!(f, "cannot write the {part} at offset {offset}: {error}")
            }
            Self::RecordTooLong { part, size } => write!(
                f,
                "expected at most {} bytes in the record of the {part}, found {size}; \
                 write the file form in place of the pipe form",
                u16::MAX
            ),
            Self::NoEvent { event, events } => {
                write!(f, "expected the index of one of {events} events, found {event}")
            }
        }
    }
}

impl fmt::Debug for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::RecordTooLong { .. } | Self::NoEvent { .. } => None,
        }
    }
}

into_std! { WriteError }
