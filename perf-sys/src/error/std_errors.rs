//! Conversions into the errors of the standard library.

use std::io;

use super::Error;

impl Error {
    /// Returns std's kind of the errno, or a fitting one for an error without an errno.
    fn kind(&self) -> io::ErrorKind {
        if let Some(raw) = self.raw_os_error() {
            return io::Error::from_raw_os_error(raw).kind();
        }
        match self {
            Self::DataArea { .. } | Self::Positions { .. } => io::ErrorKind::InvalidData,
            Self::AuxInUse | Self::RingInUse => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::InvalidInput,
        }
    }
}

/// Keeps the kind of the errno, the whole text, and the [`Error`] itself, which
/// [`get_ref`](io::Error::get_ref) returns. [`raw_os_error`](io::Error::raw_os_error) of the result
/// is `None`.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}
