use std::io;

use super::Error;

impl Error {
    /// Returns an error of std with the errno, for code that looks at
    /// [`raw_os_error`](io::Error::raw_os_error). An error without an errno is converted as by
    /// `From`.
    pub fn to_os_error(&self) -> io::Error {
        self.raw_os_error().map_or_else(|| self.clone().into(), io::Error::from_raw_os_error)
    }

    /// Returns std's kind of the errno, or a fitting one for an error without an errno.
    fn kind(&self) -> io::ErrorKind {
        if let Some(raw) = self.raw_os_error() {
            return io::Error::from_raw_os_error(raw).kind();
        }
        match self {
            Self::Event(error) => io::Error::from(*error).kind(),
            Self::Attach { error, .. } => error.kind(),
            Self::File(error) if error.io_error().is_some() => {
                error.io_error().map_or(io::ErrorKind::Other, io::Error::kind)
            }
            Self::Decode(_) | Self::File(_) | Self::FdInfo { .. } | Self::RingBufRecord { .. } => {
                io::ErrorKind::InvalidData
            }
            Self::Set(_) => io::ErrorKind::Other,
            Self::Contended { .. } | Self::RingBufInUse | Self::RingBufShared { .. } => {
                io::ErrorKind::ResourceBusy
            }
            _ => io::ErrorKind::InvalidInput,
        }
    }
}

/// Keeps the kind of the errno and the whole text.
///
/// [`get_ref`](io::Error::get_ref) returns the [`Error`]; [`raw_os_error`](io::Error::raw_os_error)
/// of the result is `None`, because std keeps a number or a text, not both.
/// [`Error::to_os_error`] keeps the number.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}
