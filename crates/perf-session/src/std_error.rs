//! Converts errors to `std::io::Error`.

/// Implements the conversion into [`std::io::Error`], with this kind if the error has no errno:
///
/// ```text
/// into_std!(FileError, InvalidData);
///
/// impl FileError { pub fn to_os_error(&self) .. }  // the errno alone
/// impl From<FileError> for io::Error { .. }        // kind of the errno, whole text, the error inside
/// ```
///
/// The type needs `raw_os_error`. With `no_errno` before it, it does not, and gets no
/// `to_os_error`.
///
/// Exported for `perf-record`, whose errors convert in the same way.
#[doc(hidden)]
#[macro_export]
macro_rules! into_std {
    (no_errno $error:ty, $kind:ident) => {
        /// Keeps the text and the error itself, which [`get_ref`](std::io::Error::get_ref) returns.
        impl From<$error> for std::io::Error {
            fn from(error: $error) -> Self {
                Self::new(std::io::ErrorKind::$kind, error)
            }
        }
    };
    ($error:ty, $kind:ident) => {
        impl $error {
            /// Returns std's error of the errno, for code that looks at
            /// [`raw_os_error`](std::io::Error::raw_os_error). The text of this error is lost.
            ///
            /// An error without an errno is converted as by `From`.
            #[must_use]
            pub fn to_os_error(&self) -> std::io::Error {
                self.raw_os_error().map_or_else(|| self.clone().into(), std::io::Error::from_raw_os_error)
            }
        }

        /// Keeps the kind of the errno, the whole text, and the error itself, which
        /// [`get_ref`](std::io::Error::get_ref) returns.
        ///
        /// [`raw_os_error`](std::io::Error::raw_os_error) of the result is `None`; `to_os_error`
        /// keeps the number in place of the text.
        impl From<$error> for std::io::Error {
            fn from(error: $error) -> Self {
                let kind = match error.raw_os_error() {
                    Some(errno) => Self::from_raw_os_error(errno).kind(),
                    None => std::io::ErrorKind::$kind,
                };
                Self::new(kind, error)
            }
        }
    };
}

pub(crate) use into_std;
