//! The way of this module's errors to std's.

use std::fmt;
use std::io;

use super::{KernelMapError, TracepointError};

/// Writes the conversions of an error, whose method `io` returns the error of the system call.
macro_rules! conversions {
    ($($Error:ident)*) => {$(
        impl $Error {
            /// Returns the number of the errno if a system call failed.
            #[must_use]
            pub fn raw_os_error(&self) -> Option<i32> {
                self.io().and_then(io::Error::raw_os_error)
            }

            /// Returns std's error of the errno, for code that looks at
            /// [`raw_os_error`](io::Error::raw_os_error). Without an errno, an error of this one's kind and text.
            #[must_use]
            pub fn to_os_error(&self) -> io::Error {
                match self.raw_os_error() {
                    Some(errno) => io::Error::from_raw_os_error(errno),
                    None => io::Error::new(self.kind(), self.to_string()),
                }
            }

            fn kind(&self) -> io::ErrorKind {
                self.io().map_or(io::ErrorKind::InvalidData, io::Error::kind)
            }
        }

        /// Keeps the kind of the system call's error, the whole text, and the error itself.
        ///
        /// [`raw_os_error`](io::Error::raw_os_error) of the result is `None`;
        #[doc = concat!("[`to_os_error`](", stringify!($Error), "::to_os_error) keeps the number in place of the text.")]
        impl From<$Error> for io::Error {
            fn from(error: $Error) -> Self {
                Self::new(error.kind(), error)
            }
        }

        impl fmt::Debug for $Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

conversions! { KernelMapError TracepointError }

impl KernelMapError {
    fn io(&self) -> Option<&io::Error> {
        match self {
            Self::Io(error) => Some(error),
            Self::Hidden | Self::NoSymbol => None,
        }
    }
}

impl TracepointError {
    #[expect(clippy::unnecessary_wraps, reason = "as in KernelMapError")]
    fn io(&self) -> Option<&io::Error> {
        Some(&self.error)
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
