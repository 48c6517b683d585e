//! What compressed records hold together: one stream of zstd, that records may lie in across their ends.

use std::io::Read as _;

use ruzstd::decoding::StreamingDecoder;

use super::reader::Reader;

/// The perf tool flushes the stream behind each record and never ends it. An empty last block does.
const END: [u8; 3] = [1, 0, 0];

#[derive(Debug, Default)]
pub(crate) struct Compressed {
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    /// Bytes of `unpacked` that were taken.
    taken: usize,
}

impl Compressed {
    /// Adds what one record holds.
    pub(crate) fn add(&mut self, packed: &[u8]) {
        self.packed.extend(packed);
        // From the start each time: the streams are short, and the decoder has no other way to be asked for all
        // that there is.
        self.unpacked.clear();
        let stream = [&self.packed[..], &END].concat();
        let mut decoder = StreamingDecoder::new(&stream[..]).unwrap();
        decoder.read_to_end(&mut self.unpacked).unwrap();
    }

    /// Takes the next thing, if all of it is there.
    pub(crate) fn take<T>(&mut self, next: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        let mut rest = Reader(&self.unpacked[self.taken..]);
        let taken = next(&mut rest)?;
        self.taken = self.unpacked.len() - rest.0.len();
        Some(taken)
    }

    /// Whether all was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.unpacked.len()
    }
}
