//! Errors that return the value that a call took.

use core::error::Error as StdError;
use core::fmt;
use std::io;

use super::{Error, Result};

/// The reason why a call failed, with the value that the call took, as it was before the call.
///
/// For example [`Ring::map`](crate::Ring::map) returns the event with the error, so that a smaller
/// ring can be tried. `?` drops the value and converts this into the error or an [`io::Error`].
///
/// `Display` prints the reason, the field [`error`](Self::error), which is also the
/// [`source`](core::error::Error::source). So `?` into `Box<dyn Error>` leaves an error that prints
/// the reason, and among whose sources a handler finds the type of this crate's errors, regardless
/// of the value that the call took. A reporter that prints the sources prints the text twice,
/// unless it skips repetitions as [`Report`](crate::Report) does. [`Error::find`] is this loop, for
/// the other calls too:
///
/// ```
/// use perf_ring::{Attr, Event, Report, Ring, Software, Target};
///
/// fn map() -> Result<Ring, Box<dyn std::error::Error>> {
///     Ok(Ring::map(Event::open(&Attr::software(Software::DUMMY), Target::calling_thread())?, 3)?)
/// }
///
/// let error = map().unwrap_err();
/// let mut cause = Some(&*error);
/// while let Some(error) = cause {
///     if let Some(error) = error.downcast_ref::<perf_ring::Error>() {
///         assert_eq!(error, &perf_ring::sys::Error::PageCount { found: 3 });
///     }
///     cause = error.source();
/// }
/// let text = Report::from(error).to_string();
/// # if !text.contains("perf_event_open") { // not permitted here
/// assert!(text.ends_with("data pages of a ring: expected a power of two that fits into memory, found 3"));
/// # }
/// ```
pub struct Refused<T, E = Error> {
    /// Why the call failed.
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

/// The text of the error, because many programs print no source.
impl<T, E: fmt::Display> fmt::Display for Refused<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// The error, not the value.
impl<T, E: fmt::Debug> fmt::Debug for Refused<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<T, E: StdError + 'static> StdError for Refused<T, E> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.error)
    }
}

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
    fn text_is_the_one_of_the_error_which_is_the_only_source() {
        let boxed: Box<dyn StdError> = refused().into();
        assert_eq!(boxed.to_string(), REFUSED.to_string());
        let source = boxed.source().unwrap();
        assert_eq!(source.to_string(), REFUSED.to_string());
        assert!(source.source().is_none());
    }

    #[test]
    fn boxed_error_has_one_type_in_its_sources_whatever_the_call_took() {
        let of_a_text: Box<dyn StdError> = refused().into();
        let of_a_number: Box<dyn StdError> = Refused { error: REFUSED, value: 7 }.into();
        for boxed in [of_a_text, of_a_number] {
            assert_eq!(boxed.source().unwrap().downcast_ref::<Error>(), Some(&REFUSED));
        }
    }

    #[test]
    fn debug_prints_the_error_and_not_the_value() {
        assert_eq!(
            format!("{:?}", refused()),
            "Refused { error: Sys(System { call: Mmap, errno: EPERM }), .. }"
        );
    }

    #[test]
    fn conversions_keep_the_error() {
        assert_eq!(Error::from(refused()), REFUSED);
        let error = io::Error::from(refused());
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()), Some(&REFUSED));
    }
}
