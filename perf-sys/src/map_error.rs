use core::fmt;
use std::io;
use std::sync::Arc;

use crate::{Error, Event};

/// The reason why a ring could not be mapped, with the event.
///
/// The event is unchanged, so that a smaller ring can be mapped. `?` drops it and converts this
/// into an [`Error`].
#[derive(Debug)]
pub struct MapError {
    /// The reason.
    pub error: Error,
    /// The event, still without a ring.
    pub event: Arc<Event>,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl core::error::Error for MapError {}

impl From<MapError> for Error {
    fn from(refused: MapError) -> Self {
        refused.error
    }
}

impl From<MapError> for io::Error {
    fn from(refused: MapError) -> Self {
        refused.error.into()
    }
}
