use core::fmt;
use std::io;

use super::{Call, Errno, Error};
use crate::ring::Ring;

/// The reason why a ring could not be added to a [`RingSet`](crate::RingSet), with the ring.
///
/// `?` drops the ring and converts this into an [`Error`] or [`io::Error`]. In a `Box<dyn Error>` it is of
/// this type: downcast it, as a [`MapError`](crate::MapError).
pub struct AddError {
    /// The reason.
    pub error: Error,
    /// The ring, unchanged.
    pub ring: Box<Ring>,
}

impl AddError {
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

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// The text of `Display`.
impl fmt::Debug for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `source` is `None`: `Display` already has the whole text.
impl core::error::Error for AddError {}

impl From<AddError> for Error {
    fn from(refused: AddError) -> Self {
        refused.error
    }
}

/// Drops the ring. Keeps the kind of the errno, the whole text, and the [`Error`], which
/// [`get_ref`](io::Error::get_ref) returns.
///
/// [`raw_os_error`](io::Error::raw_os_error) of the result is `None`;
/// [`to_os_error`](AddError::to_os_error) keeps the number in place of the text.
impl From<AddError> for io::Error {
    fn from(refused: AddError) -> Self {
        refused.error.into()
    }
}
