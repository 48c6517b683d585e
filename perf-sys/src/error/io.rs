use std::io;

use super::Error;

impl Error {
    /// Returns std's kind of the errno, or a fitting one for an error without an errno.
    fn kind(&self) -> io::ErrorKind {
        if let Some(raw) = self.raw_os_error() {
            return io::Error::from_raw_os_error(raw).kind();
        }
        match self {
            Self::DataArea { .. } | Self::Positions(_) | Self::ReadLength { .. } => {
                io::ErrorKind::InvalidData
            }
            Self::PinnedFailed | Self::AuxInUse | Self::RingInUse => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::InvalidInput,
        }
    }

    /// Returns std's error of the errno, for code that looks at
    /// [`raw_os_error`](io::Error::raw_os_error). The text of this error is lost.
    ///
    /// An error without an errno is converted as by `From`.
    #[must_use]
    pub fn to_os_error(&self) -> io::Error {
        self.raw_os_error().map_or_else(|| (*self).into(), io::Error::from_raw_os_error)
    }
}

/// Keeps the kind of the errno, the whole text, and the [`Error`] itself, which
/// [`get_ref`](io::Error::get_ref) returns.
///
/// [`raw_os_error`](io::Error::raw_os_error) of the result is `None`;
/// [`to_os_error`](Error::to_os_error) keeps the number in place of the text.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}
