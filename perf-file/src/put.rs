//! Made-up sections and records for tests, in either byte order.

use std::vec::Vec;

use crate::ByteOrder;

/// Bytes that are written field by field.
pub(crate) struct Put {
    pub(crate) bytes: Vec<u8>,
    order: ByteOrder,
}

impl Put {
    pub(crate) fn new(order: ByteOrder) -> Self {
        Self { bytes: Vec::new(), order }
    }

    fn number(&mut self, number: u64, len: usize) -> &mut Self {
        match self.order {
            ByteOrder::Little => self.bytes.extend(&number.to_le_bytes()[..len]),
            ByteOrder::Big => self.bytes.extend(&number.to_be_bytes()[8 - len..]),
        }
        self
    }

    pub(crate) fn u8(&mut self, number: u8) -> &mut Self {
        self.number(number.into(), 1)
    }

    pub(crate) fn u16(&mut self, number: u16) -> &mut Self {
        self.number(number.into(), 2)
    }

    pub(crate) fn u32(&mut self, number: u32) -> &mut Self {
        self.number(number.into(), 4)
    }

    pub(crate) fn u64(&mut self, number: u64) -> &mut Self {
        self.number(number, 8)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend(bytes);
        self
    }

    /// Writes a text with zeros up to `len` bytes.
    pub(crate) fn text(&mut self, text: &str, len: usize) -> &mut Self {
        self.bytes(text.as_bytes());
        self.bytes.resize(self.bytes.len() + len - text.len(), 0);
        self
    }

    /// Writes a string of a feature section, padded as the perf tool does.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.u32(64).text(text, 64)
    }
}

/// The two byte orders.
pub(crate) const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];
