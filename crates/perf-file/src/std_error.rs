//! Converts errors of this crate to `std::io::Error`.

/// Implements the conversions of errors that have `raw_os_error` and a private `kind`.
macro_rules! into_std {
    ($($Error:ident)*) => {$(
        impl $Error {
            /// Returns std's error of the errno, for code that looks at
            /// [`raw_os_error`](std::io::Error::raw_os_error). Without an errno, an error of this
            /// one's kind and text.
            #[must_use]
            pub fn to_os_error(&self) -> std::io::Error {
                match self.raw_os_error() {
                    Some(errno) => std::io::Error::from_raw_os_error(errno),
                    None => std::io::Error::new(self.kind(), std::string::ToString::to_string(self)),
                }
            }
        }

        /// Keeps the kind of the failed call, the whole text, and the error itself, which
        /// [`get_ref`](std::io::Error::get_ref) returns.
        ///
        /// [`raw_os_error`](std::io::Error::raw_os_error) of the result is `None`;
        #[doc = concat!("[`to_os_error`](", stringify!($Error), "::to_os_error) keeps the number in place of the text.")]
        impl From<$Error> for std::io::Error {
            fn from(error: $Error) -> Self {
                Self::new(error.kind(), error)
            }
        }
    )*};
}

pub(crate) use into_std;
