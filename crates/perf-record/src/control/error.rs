//! The reasons why a control channel cannot be opened.

use std::fmt;
use std::path::PathBuf;

use perf_session::{FileError, into_std};

/// A control channel cannot be opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ControlError {
    /// The text names no channel.
    Syntax {
        /// Text given as the channel.
        found: String,
    },
    /// A file cannot be opened.
    File(FileError),
    /// A file is not a FIFO.
    NotFifo {
        /// Path of the file.
        path: PathBuf,
    },
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { found } => write!(
                f,
                "control channel: expected fifo:COMMANDS[,ACKS] with paths, or fd:COMMANDS[,ACKS] with numbers, found {found:?}"
            ),
            Self::File(error) => write!(f, "control channel: {error}"),
            Self::NotFifo { path } => write!(
                f,
                "control channel: {}: expected a FIFO, found another file; make it with mkfifo(1)",
                path.display()
            ),
        }
    }
}

impl std::error::Error for ControlError {}

impl ControlError {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::File(error) => error.raw_os_error(),
            Self::Syntax { .. } | Self::NotFifo { .. } => None,
        }
    }
}

into_std!(ControlError, InvalidInput);
