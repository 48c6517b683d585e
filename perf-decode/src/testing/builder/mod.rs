//! Records written word by word, as the kernel lays them out.
//!
//! [`RecordBuilder`] writes one field after the other and knows no kind; [`SampleBuilder`] knows
//! the order of fields in a SAMPLE; [`trailer`] returns the trailer of the side-band records of an
//! event with `sample_id_all`; [`ring()`] writes records into memory as a ring buffer has them.

mod ring;
mod sample;
mod trailer;
mod values;

use alloc::vec::Vec;
use perf_abi::{Attr, Misc, RecordType};

pub use ring::{STALE, ring};
pub use sample::SampleBuilder;
pub use trailer::{SampleIdValues, trailer};
pub use values::{ReadValue, ReadValues};

/// A record under construction. Every method appends; [`finish`](Self::finish) writes the header's
/// size.
///
/// ```
/// use perf_abi::{Attr, EventType, Misc, RecordType};
/// use perf_decode::testing::{builder::RecordBuilder, reference};
///
/// // PERF_RECORD_COMM: u32 pid, u32 tid, string
/// let record = RecordBuilder::new(RecordType::COMM, Misc::empty()).pair(10, 11).string(b"cat").finish();
/// assert_eq!(record.len(), 3);
/// let tree = reference::decode(&record, &Attr::new(EventType::SOFTWARE, 0))?;
/// assert_eq!(tree.field("comm").and_then(|comm| comm.as_bytes()), Some(&b"cat"[..]));
/// # Ok::<(), reference::Refusal>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RecordBuilder {
    bytes: Vec<u8>,
}

impl RecordBuilder {
    /// Starts a record with a header of this kind; its size is 0 until [`finish`](Self::finish).
    pub fn new(kind: RecordType, misc: Misc) -> Self {
        Self { bytes: Vec::new() }.u32s(&[kind.0]).u16s(&[misc.bits(), 0])
    }

    /// Appends one word.
    pub fn u64(self, value: u64) -> Self {
        self.words(&[value])
    }

    /// Appends two halves of a word, such as pid and tid.
    pub fn pair(self, first: u32, second: u32) -> Self {
        self.u32s(&[first, second])
    }

    /// Appends 2-byte numbers.
    pub fn u16s(self, values: &[u16]) -> Self {
        values.iter().fold(self, |record, value| record.bytes(&value.to_ne_bytes()))
    }

    /// Appends 4-byte numbers.
    pub fn u32s(self, values: &[u32]) -> Self {
        values.iter().fold(self, |record, value| record.bytes(&value.to_ne_bytes()))
    }

    /// Appends words.
    pub fn words(self, values: &[u64]) -> Self {
        values.iter().fold(self, |record, value| record.bytes(&value.to_ne_bytes()))
    }

    /// Appends bytes as they are.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends bytes, then zeros up to a multiple of 8 of the whole record.
    pub fn bytes_padded(self, bytes: &[u8]) -> Self {
        let mut record = self.bytes(bytes);
        record.bytes.resize(record.bytes.len().next_multiple_of(8), 0);
        record
    }

    /// Appends a string with its NUL and zeros up to a multiple of 8.
    pub fn string(self, text: &[u8]) -> Self {
        self.bytes(text).bytes_padded(&[0])
    }

    /// Appends the trailer of events opened with `attr`; nothing without `sample_id_all`.
    pub fn with_trailer(self, attr: &Attr, values: &SampleIdValues) -> Self {
        self.words(&trailer(attr, values))
    }

    /// Pads to a multiple of 8 and writes the size into the header.
    ///
    /// The size of a record of more than 65528 bytes does not fit into the header and becomes
    /// `u16::MAX`, which every decoder refuses.
    #[must_use]
    pub fn finish(self) -> Vec<u64> {
        let mut bytes = self.bytes_padded(&[]).bytes;
        let size = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        for (byte, of_size) in bytes.iter_mut().skip(6).zip(size.to_ne_bytes()) {
            *byte = of_size;
        }
        words_of(&bytes)
    }
}

/// Returns bytes in memory order as words, padded with zeros.
pub(super) fn words_of(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        u64::from_ne_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}

#[cfg(test)]
mod tests;
