use std::fmt;
use std::io;

/// A recording that cannot be written further. What was written before stays readable.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The file or pipe did not take the bytes: a full disk, a closed pipe.
    Io {
        /// The part of the recording that was being written.
        part: &'static str,
        /// Bytes that the writer had taken before, some of which may be missing in the file.
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

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { part, offset, error } => {
                write!(f, "perf.data: cannot write the {part} after {offset} bytes: {error}")
            }
            Self::RecordTooLong { part, size } => write!(
                f,
                "perf.data: expected at most {} bytes in the record of the {part}, found {size}; \
                 write the file form in place of the pipe form",
                u16::MAX
            ),
            Self::NoEvent { event, events } => {
                write!(f, "perf.data: expected the index of one of {events} events, found {event}")
            }
        }
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

impl From<WriteError> for io::Error {
    /// Keeps the kind of the system call's error.
    fn from(error: WriteError) -> Self {
        let kind = match &error {
            WriteError::Io { error, .. } => error.kind(),
            WriteError::RecordTooLong { .. } | WriteError::NoEvent { .. } => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}
