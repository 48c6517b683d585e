//! In place of `compress`, without the feature `zstd`: no writer compresses.

use std::io::Write;

use super::output::Output;
use super::{Features, WriteError};

/// A compressor that does not exist.
#[derive(Debug)]
pub(super) enum Compressor {}

impl Compressor {
    pub(super) fn write<W: Write>(&mut self, _: &mut Output<W>, _: &[u8]) -> Result<(), WriteError> {
        match *self {}
    }

    pub(super) fn describe(&self, _: &mut Features) {
        match *self {}
    }
}
