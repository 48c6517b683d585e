//! The way of this module's errors to std's.

use std::fmt;
use std::io;

use super::{KernelMapError, TracepointError};
use crate::std_error::into_std;

into_std! { KernelMapError TracepointError }

impl KernelMapError {
    /// Returns the number of the errno if a system call failed.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.io()?.raw_os_error()
    }

    fn kind(&self) -> io::ErrorKind {
        self.io().map_or(io::ErrorKind::InvalidData, io::Error::kind)
    }

    fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Io(error) => Some(error),
            Self::Hidden | Self::NoSymbol => None,
        }
    }
}

impl TracepointError {
    /// Returns the number of the errno if a system call failed.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        self.error.raw_os_error()
    }

    fn kind(&self) -> io::ErrorKind {
        self.error.kind()
    }
}

impl fmt::Debug for KernelMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for TracepointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn std_errors_keep_kind_text_and_errno() {
        let refused = || KernelMapError::Io(io::Error::from_raw_os_error(13));
        let error = io::Error::from(refused());
        assert_eq!(
            (error.kind(), error.to_string()),
            (io::ErrorKind::PermissionDenied, refused().to_string())
        );
        assert_eq!(
            (refused().to_os_error().raw_os_error(), format!("{:?}", refused())),
            (Some(13), refused().to_string())
        );
        assert_eq!(KernelMapError::Hidden.to_os_error().kind(), io::ErrorKind::InvalidData);
        let missing = TracepointError { file: "events/a/b".into(), error: io::Error::from_raw_os_error(2) };
        assert_eq!(
            (missing.raw_os_error(), io::Error::from(missing).kind()),
            (Some(2), io::ErrorKind::NotFound)
        );
    }
}
