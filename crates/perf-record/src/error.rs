//! The reasons why events cannot be recorded.

use std::fmt;
use std::io;

use perf_session::{EventSetError, FileError, TracefsError};

/// The reason why events could not be recorded, or why a recording could not continue.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// An event or a ring cannot be used.
    Events(EventSetError),
    /// The recording cannot be written.
    Write(perf_file::Error),
    /// The processes that run cannot be listed.
    File(FileError),
    /// The tracepoint of wakeups cannot be read.
    Tracefs(TracefsError),
}

impl RecordError {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::Events(error) => error.raw_os_error(),
            Self::Write(error) => error.raw_os_error(),
            Self::File(error) => error.raw_os_error(),
            Self::Tracefs(error) => error.raw_os_error(),
        }
    }
}

/// Prints the text of the error inside.
impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
            Self::Tracefs(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<EventSetError> for RecordError {
    fn from(error: EventSetError) -> Self {
        Self::Events(error)
    }
}

impl From<perf_session::ring::Error> for RecordError {
    fn from(error: perf_session::ring::Error) -> Self {
        Self::Events(error.into())
    }
}

impl From<perf_file::Error> for RecordError {
    fn from(error: perf_file::Error) -> Self {
        Self::Write(error)
    }
}

impl From<FileError> for RecordError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<TracefsError> for RecordError {
    fn from(error: TracefsError) -> Self {
        Self::Tracefs(error)
    }
}

/// Keeps the kind of the errno and the whole text. [`get_ref`](io::Error::get_ref) returns the
/// error itself.
impl From<RecordError> for io::Error {
    fn from(error: RecordError) -> Self {
        let kind = error.raw_os_error().map(|errno| Self::from_raw_os_error(errno).kind());
        Self::new(kind.unwrap_or(io::ErrorKind::Other), error)
    }
}
