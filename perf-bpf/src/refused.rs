use core::fmt;
use std::io;

use perf_sys::Errno;
use perf_sys::abi::bpf::BpfCmd;

use crate::Error;

/// The reason why a call failed, with the value that the call took.
///
/// `?` drops the value and converts this into an [`Error`] or [`io::Error`]. In a `Box<dyn Error>`
/// it is of this type.
pub struct Refused<T> {
    /// The reason.
    pub error: Error,
    /// The value, as it was before the call.
    pub value: T,
}

impl<T> Refused<T> {
    /// Returns the errno if a system call failed, as [`Error::errno`].
    pub fn errno(&self) -> Option<Errno> {
        self.error.errno()
    }

    /// Returns the command of `bpf(2)` that failed, if one did, as [`Error::command`].
    pub fn command(&self) -> Option<BpfCmd> {
        self.error.command()
    }

    /// Returns the number of the errno if a system call failed, as [`Error::raw_os_error`].
    pub fn raw_os_error(&self) -> Option<i32> {
        self.error.raw_os_error()
    }

    /// Returns an error of std with the errno, as [`Error::to_os_error`].
    pub fn to_os_error(&self) -> io::Error {
        self.error.to_os_error()
    }
}

/// The reason.
impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// The text of `Display`.
impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, f)
    }
}

/// `source` is `None`, because `Display` already has the whole text.
impl<T> core::error::Error for Refused<T> {}

impl<T> From<Refused<T>> for Error {
    fn from(refused: Refused<T>) -> Self {
        refused.error
    }
}

/// As of [`Error`]: keeps the kind of the errno and the whole text. [`Refused::to_os_error`] keeps
/// the number.
impl<T> From<Refused<T>> for io::Error {
    fn from(refused: Refused<T>) -> Self {
        refused.error.into()
    }
}
