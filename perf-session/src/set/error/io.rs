use std::io;

use perf_sys::Errno;

use super::EventSetError;
use crate::names::ProbeError;
use crate::set::EventError;
use crate::set::sized_rings::SizedRingsError;

impl EventError {
    /// Returns the errno of the failed call as a number.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.error.raw_os_error()
    }

    /// Returns std's error of the errno, as [`EventSetError::to_os_error`].
    #[must_use]
    pub fn to_os_error(&self) -> io::Error {
        self.error.to_os_error()
    }
}

impl EventSetError {
    /// Returns the errno of the failed call as a number. It is `ESRCH` for [`NoTask`](Self::NoTask).
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::Event(error) => error.raw_os_error(),
            Self::Rings(error) => error.raw_os_error(),
            Self::File(error) => error.io_error()?.raw_os_error(),
            Self::Command { error, .. } => error.raw_os_error(),
            Self::Probe { error, .. } => error.raw_os_error(),
            Self::NoTask { .. } => Some(Errno::ESRCH.raw_os_error()),
            _ => None,
        }
    }

    /// Returns std's error of the errno, for code that looks at
    /// [`raw_os_error`](io::Error::raw_os_error). The text of this error is lost.
    ///
    /// An error without an errno is converted as by `From`.
    #[must_use]
    pub fn to_os_error(&self) -> io::Error {
        self.raw_os_error().map_or_else(|| self.clone().into(), io::Error::from_raw_os_error)
    }

    /// Returns std's kind of the failed call, or a fitting one.
    fn kind(&self) -> io::ErrorKind {
        match self {
            Self::Event(EventError { error, .. }) | Self::Rings(error) => io::Error::from(*error).kind(),
            Self::File(error) => error.io_error().map_or(io::ErrorKind::InvalidData, io::Error::kind),
            Self::Command { error, .. } => error.kind(),
            Self::Probe { error, .. } => io::Error::from(ProbeError::clone(error)).kind(),
            Self::NoTask { .. } => io::ErrorKind::NotFound,
            _ => io::ErrorKind::InvalidInput,
        }
    }
}

/// Keeps the kind of the errno, the whole text, and the [`EventSetError`] itself, which
/// [`get_ref`](io::Error::get_ref) returns.
///
/// [`raw_os_error`](io::Error::raw_os_error) of the result is `None`;
/// [`to_os_error`](EventSetError::to_os_error) keeps the number in place of the text.
impl From<EventSetError> for io::Error {
    fn from(error: EventSetError) -> Self {
        Self::new(error.kind(), error)
    }
}

/// Keeps the kind of the errno and the whole text; the [`EventError`] is inside.
impl From<EventError> for io::Error {
    fn from(error: EventError) -> Self {
        Self::new(Self::from(error.error).kind(), error)
    }
}

impl SizedRingsError {
    /// Returns the errno of the failed call as a number.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.error.raw_os_error()
    }

    /// Returns std's error of the errno, as [`EventSetError::to_os_error`].
    #[must_use]
    pub fn to_os_error(&self) -> io::Error {
        self.error.to_os_error()
    }
}

/// Keeps the kind of the errno and the whole text; the [`perf_sys::Error`] is inside. The events are dropped.
impl From<SizedRingsError> for io::Error {
    fn from(error: SizedRingsError) -> Self {
        let kind = Self::from(error.error).kind();
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use perf_sys::{Attr, Call, Software};

    use super::*;
    use crate::set::Scope;

    fn refused() -> EventSetError {
        let error = perf_sys::Error::System { call: Call::PerfEventOpen, errno: Errno::EACCES };
        let attr = Box::new(Attr::software(Software::TASK_CLOCK));
        let (label, scope) = ("task-clock".into(), Scope::thread(7));
        EventSetError::Event(EventError {
            label,
            scope,
            attr,
            is_member: false,
            error,
            data_pages: 0,
            cgroup: None,
        })
    }

    #[test]
    fn io_error_keeps_kind_text_and_error() {
        let error = io::Error::from(refused());
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(error.to_string(), refused().to_string());
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<EventSetError>());
        assert_eq!(inner.and_then(EventSetError::raw_os_error), Some(13));
    }

    #[test]
    fn os_error_keeps_the_errno() {
        assert_eq!(refused().to_os_error().raw_os_error(), Some(13));
        assert_eq!(EventSetError::NoTask { id: 7 }.to_os_error().raw_os_error(), Some(3));
        let error = EventSetError::NoEvents;
        assert_eq!(error.to_os_error().to_string(), error.to_string());
    }

    #[test]
    fn debug_prints_the_text_as_display() {
        assert_eq!(format!("{:?}", refused()), refused().to_string());
    }

    #[test]
    fn what_has_the_event_the_call_and_the_errno_without_causes() {
        let what = refused().what();
        assert_eq!(what, "task-clock for thread 7: perf_event_open: Permission denied (os error 13)");
        assert!(refused().to_string().len() > what.len(), "with the usual causes");
        assert_eq!(EventSetError::NoEvents.what(), EventSetError::NoEvents.to_string());
    }
}
