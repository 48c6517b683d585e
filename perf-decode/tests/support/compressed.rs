//! The zstd stream inside compressed records. Its records may extend over several of them.

use std::io::Read as _;

use ruzstd::decoding::StreamingDecoder;

use super::reader::Reader;

/// An empty last block. The perf tool flushes the stream after each record and never ends it.
const END: [u8; 3] = [1, 0, 0];

#[derive(Debug, Default)]
pub(crate) struct Compressed {
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    /// Bytes of `unpacked` that were taken.
    taken: usize,
}

impl Compressed {
    /// Adds the content of one compressed record.
    pub(crate) fn add(&mut self, packed: &[u8]) {
        self.packed.extend(packed);
        // Unpacks from the start each time, because the streams are short and the decoder has no
        // function that returns all available bytes.
        self.unpacked.clear();
        let stream = [&self.packed[..], &END].concat();
        let mut decoder = StreamingDecoder::new(&stream[..]).unwrap();
        decoder.read_to_end(&mut self.unpacked).unwrap();
    }

    /// Takes the next item, if it is complete.
    pub(crate) fn take<T>(&mut self, next: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<T> {
        let mut rest = Reader(&self.unpacked[self.taken..]);
        let taken = next(&mut rest)?;
        self.taken = self.unpacked.len() - rest.0.len();
        Some(taken)
    }

    /// Returns whether all was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.unpacked.len()
    }
}
