//! In place of `decompress`, without the feature `zstd`: compressed records end the reading.

#![expect(clippy::unused_self, reason = "the methods of the decompressor in its place")]

use crate::Malformed;

/// Refuses all streams.
#[derive(Debug, Default)]
pub(super) struct Decompressor;

impl Decompressor {
    pub(super) fn feed(&mut self, _: &[u8]) {}

    pub(super) fn output(&self) -> &[u8] {
        &[]
    }

    pub(super) fn has_rest(&self) -> bool {
        false
    }

    pub(super) fn consume(&mut self, _: usize) {}

    pub(super) fn decode_block(&mut self) -> Result<bool, Malformed> {
        Err(Malformed("perf-file was built without the feature `zstd`"))
    }

    pub(super) fn decode_ahead(&mut self, _: usize) -> Option<usize> {
        None
    }
}
