//! Conversions of this crate's errors into [`std::io::Error`].

/// Implements the conversion into [`std::io::Error`], with `$kind` if the error has no errno. The
/// type must have `raw_os_error`.
macro_rules! into_std {
    ($error:ty, $kind:ident) => {
        impl $error {
            /// Returns std's error of the errno, for code that looks at
            /// [`raw_os_error`](std::io::Error::raw_os_error). The text of this error is lost.
            ///
            /// An error without an errno is converted by `From`.
            #[must_use]
            pub fn to_os_error(&self) -> std::io::Error {
                self.raw_os_error().map_or_else(|| self.clone().into(), std::io::Error::from_raw_os_error)
            }
        }

        /// Keeps the kind of the errno and the whole text. [`get_ref`](std::io::Error::get_ref)
        /// returns the error itself.
        ///
        /// [`raw_os_error`](std::io::Error::raw_os_error) of the result is `None`. Use
        /// `to_os_error` to keep the number instead of the text.
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
