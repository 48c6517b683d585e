use core::error::Error as StdError;
use core::fmt;
use std::io;

use super::{Error, Result};

/// The reason why a call failed, with the value that the call took, as it was before the call.
///
/// For example [`Ring::map`](crate::Ring::map) returns the event with the error, so that a smaller ring can be tried.
/// `?` drops the value and converts this into the error or an [`io::Error`].
///
/// In a function that returns `Box<dyn Error>`, `?` boxes this type itself.
/// [`source`](core::error::Error::source) is `None`, because a chain of errors would print the text twice:
/// downcast the box to this type.
///
/// ```
/// use std::sync::Arc;
///
/// use perf_ring::{Attr, Errno, Event, Refused, Ring, Software, Target};
///
/// fn map() -> Result<Ring, Box<dyn std::error::Error>> {
///     Ok(Ring::map(Event::open(&Attr::software(Software::DUMMY), Target::calling_thread())?, 1 << 20)?)
/// }
///
/// if let Err(error) = map() {
///     match error.downcast_ref::<Refused<Arc<Event>>>().and_then(|refused| refused.error.errno()) {
///         Some(Errno::EPERM | Errno::ENOMEM) => println!("use fewer pages: {error}"),
///         _ => println!("{error}"),
///     }
/// }
/// ```
pub struct Refused<T, E = Error> {
    /// The reason.
    pub error: E,
    /// The value, unchanged.
    pub value: T,
}

impl<T> Refused<T> {
    /// Returns the value with the result of `attempt`, or with its error.
    pub(crate) fn keep<R, E: Into<Error>>(
        value: T,
        attempt: impl FnOnce(&T) -> Result<R, E>,
    ) -> Result<(T, R), Self> {
        match attempt(&value) {
            Ok(result) => Ok((value, result)),
            Err(error) => Err(Self { error: error.into(), value }),
        }
    }
}

impl<T, E: fmt::Display> fmt::Display for Refused<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// The text of `Display`.
impl<T, E: fmt::Display> fmt::Debug for Refused<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// `source` is `None`: `Display` already has the whole text.
impl<T, E: fmt::Display> StdError for Refused<T, E> {}

impl<T> From<Refused<T>> for Error {
    fn from(refused: Refused<T>) -> Self {
        refused.error
    }
}

/// Drops the value. Keeps the kind of the errno, the whole text, and the error, which
/// [`get_ref`](io::Error::get_ref) returns.
impl<T, E: Into<Self>> From<Refused<T, E>> for io::Error {
    fn from(refused: Refused<T, E>) -> Self {
        refused.error.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, Errno};

    const REFUSED: Error = Error::Sys(perf_sys::Error::System { call: Call::Mmap, errno: Errno::EPERM });

    fn refused() -> Refused<String> {
        Refused { error: REFUSED, value: String::new() }
    }

    #[test]
    fn chain_prints_the_text_of_the_error_once() {
        let boxed: Box<dyn StdError> = refused().into();
        assert_eq!(boxed.to_string(), REFUSED.to_string());
        assert_eq!(format!("{boxed:?}"), REFUSED.to_string());
        assert!(boxed.source().is_none());
        assert_eq!(boxed.downcast_ref::<Refused<String>>().unwrap().error, REFUSED);
    }

    #[test]
    fn conversions_keep_the_error() {
        assert_eq!(Error::from(refused()), REFUSED);
        let error = io::Error::from(refused());
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()), Some(&REFUSED));
    }
}
