//! Writing of sections and records, field by field.

use std::vec::Vec;

use crate::order::ByteOrder;

/// Strings of feature sections are padded to a multiple of this number of bytes, as by the perf
/// tool.
const STRING_ALIGN: usize = 64;

/// A section or record under construction: the counterpart of [`Bytes`](crate::bytes::Bytes).
///
/// The writer uses the machine's byte order, tests use both.
#[derive(Debug)]
pub struct Encoder {
    pub(crate) bytes: Vec<u8>,
    pub(crate) order: ByteOrder,
    /// A number from the start of the section that determines the layout of its entries.
    pub(crate) context: u32,
}

impl Encoder {
    pub(crate) const fn new(order: ByteOrder) -> Self {
        Self { bytes: Vec::new(), order, context: 0 }
    }

    fn number<const N: usize>(&mut self, mut little: [u8; N]) -> &mut Self {
        if self.order == ByteOrder::Big {
            little.reverse();
        }
        self.bytes(&little)
    }

    pub(crate) fn u8(&mut self, number: u8) -> &mut Self {
        self.bytes(&[number])
    }

    pub(crate) fn u16(&mut self, number: u16) -> &mut Self {
        self.number(number.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, number: u32) -> &mut Self {
        self.number(number.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, number: u64) -> &mut Self {
        self.number(number.to_le_bytes())
    }

    /// Appends a number of entries or bytes.
    pub(crate) fn count(&mut self, count: usize) -> &mut Self {
        self.u32(count as u32)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends a text, padded with zeros to `len` bytes.
    pub(crate) fn text(&mut self, text: &[u8], len: usize) -> &mut Self {
        let end = self.bytes.len() + len;
        self.bytes(text).bytes.resize(end, 0);
        self
    }

    /// Appends a string of a feature section: its padded length as a `u32`, and its bytes with a
    /// NUL at least.
    pub(crate) fn string(&mut self, text: &[u8]) -> &mut Self {
        let padded = (text.len() + 1).next_multiple_of(STRING_ALIGN);
        self.count(padded).text(text, padded)
    }
}

/// The two byte orders.
#[cfg(test)]
pub(crate) const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];
