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
            #[cfg(feature = "bpf")]
            Self::BpfRecord { .. } => io::ErrorKind::InvalidData,
            Self::PinnedFailed | Self::AuxInUse | Self::RingInUse => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::InvalidInput,
        }
    }
}

/// Keeps the kind of the errno and the whole text.
///
/// [`get_ref`](io::Error::get_ref) returns the [`Error`]; [`raw_os_error`](io::Error::raw_os_error)
/// of the result is `None`, because std keeps a number or a text, not both.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind(), error)
    }
}
