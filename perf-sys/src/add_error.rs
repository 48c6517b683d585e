use core::fmt;
use std::io;

use crate::{Error, Ring};

/// The reason why a ring could not be added to a [`RingSet`](crate::RingSet), with the ring.
///
/// `?` drops the ring and converts this into an [`Error`].
#[derive(Debug)]
pub struct AddError {
    /// The reason.
    pub error: Error,
    /// The ring, unchanged.
    pub ring: Box<Ring>,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl core::error::Error for AddError {}

impl From<AddError> for Error {
    fn from(refused: AddError) -> Self {
        refused.error
    }
}

impl From<AddError> for io::Error {
    fn from(refused: AddError) -> Self {
        refused.error.into()
    }
}
