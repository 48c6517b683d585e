use core::fmt;
use std::io;
use std::sync::Arc;

use super::{Call, Errno, Error};
use crate::event::Event;

/// The reason why a ring could not be mapped, with the event.
///
/// The event is as it was, so that a smaller ring can be tried. `?` drops it and converts this into an
/// [`Error`] or [`io::Error`].
///
/// In a function that returns `Box<dyn Error>`, `?` boxes this type itself. [`source`] is `None`, because
/// a chain of errors would print the text twice: downcast the box to this type.
///
/// ```
/// use perf_sys::{Attr, Errno, Event, MapError, Ring, Software, Target};
///
/// fn map() -> Result<Ring, Box<dyn std::error::Error>> {
///     Ok(Ring::map(Event::open(&Attr::software(Software::DUMMY), Target::calling_thread())?, 1 << 20)?)
/// }
///
/// if let Err(error) = map() {
///     match error.downcast_ref::<MapError>().and_then(MapError::errno) {
///         Some(Errno::EPERM | Errno::ENOMEM) => println!("use fewer pages: {error}"),
///         _ => println!("{error}"),
///     }
/// }
/// ```
///
/// [`source`]: core::error::Error::source
pub struct MapError {
    /// The reason.
    pub error: Error,
    /// The event, still without a ring.
    pub event: Arc<Event>,
}

impl MapError {
    /// Returns the errno if a system call failed, as [`Error::errno`].
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        self.error.errno()
    }

    /// Returns the number of the errno if a system call failed, as [`Error::raw_os_error`].
    #[must_use]
    pub const fn raw_os_error(&self) -> Option<i32> {
        self.error.raw_os_error()
    }

    /// Returns std's error of the errno, as [`Error::to_os_error`].
    #[must_use]
    pub fn to_os_error(&self) -> io::Error {
        self.error.to_os_error()
    }

    /// Returns the system call that failed, if one did, as [`Error::call`].
    #[must_use]
    pub const fn call(&self) -> Option<Call> {
        self.error.call()
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// The text of `Display`.
impl fmt::Debug for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `source` is `None`: `Display` already has the whole text.
impl core::error::Error for MapError {}

impl From<MapError> for Error {
    fn from(refused: MapError) -> Self {
        refused.error
    }
}

/// Drops the event. Keeps the kind of the errno, the whole text, and the [`Error`], which
/// [`get_ref`](io::Error::get_ref) returns.
///
/// [`raw_os_error`](io::Error::raw_os_error) of the result is `None`;
/// [`to_os_error`](MapError::to_os_error) keeps the number in place of the text.
impl From<MapError> for io::Error {
    fn from(refused: MapError) -> Self {
        refused.error.into()
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use perf_abi::{Attr, Software};

    use super::*;
    use crate::error::AddError;
    use crate::map::Area;
    use crate::ring::Ring;

    const REFUSED: Error = Error::System { call: Call::Mmap, errno: Errno::EPERM };

    fn map_error() -> MapError {
        let ring = Ring::on(Arc::new(Area::anonymous(1).unwrap()), Attr::software(Software::DUMMY));
        MapError { error: REFUSED, event: Arc::clone(ring.event()) }
    }

    fn add_error() -> AddError {
        let ring = Ring::on(Arc::new(Area::anonymous(1).unwrap()), Attr::software(Software::DUMMY));
        AddError { error: REFUSED, ring: Box::new(ring) }
    }

    #[test]
    fn boxed_error_is_reached_by_a_downcast() {
        let map: Box<dyn std::error::Error> = map_error().into();
        let map = map.downcast_ref::<MapError>().unwrap();
        assert_eq!(
            (map.errno(), map.raw_os_error(), map.call()),
            (Some(Errno::EPERM), Some(1), Some(Call::Mmap))
        );
        assert_eq!(map.error, REFUSED);
        let add: Box<dyn std::error::Error> = add_error().into();
        let add = add.downcast_ref::<AddError>().unwrap();
        assert_eq!(
            (add.errno(), add.raw_os_error(), add.call()),
            (Some(Errno::EPERM), Some(1), Some(Call::Mmap))
        );
        assert_eq!(add.error, REFUSED);
    }

    #[test]
    fn chain_prints_the_text_once() {
        assert_eq!(map_error().to_string(), REFUSED.to_string());
        assert!(map_error().source().is_none());
        assert_eq!(add_error().to_string(), REFUSED.to_string());
        assert!(add_error().source().is_none());
    }

    #[test]
    fn io_error_keeps_kind_text_and_error() {
        for error in [io::Error::from(map_error()), io::Error::from(add_error())] {
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert_eq!(error.to_string(), REFUSED.to_string());
            assert_eq!(error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()), Some(&REFUSED));
        }
    }

    #[test]
    fn os_error_keeps_the_errno() {
        for error in [map_error().to_os_error(), add_error().to_os_error()] {
            assert_eq!(error.raw_os_error(), Some(1));
        }
    }

    #[test]
    fn debug_prints_the_text_as_display() {
        assert_eq!(format!("{:?}", map_error()), REFUSED.to_string());
        assert_eq!(format!("{:?}", add_error()), REFUSED.to_string());
    }
}
