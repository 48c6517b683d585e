//! Checked reading of numbers and strings in the byte order of a file.

use crate::error::{Error, Reason, Result};
use crate::order::ByteOrder;

/// The unread part of a section or record.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    rest: &'a [u8],
    order: ByteOrder,
    /// Offset of `rest` in the file, for errors.
    offset: u64,
    /// A number from the start of the section that determines the layout of its entries.
    context: u32,
}

impl<'a> Bytes<'a> {
    pub(crate) const fn new(rest: &'a [u8], order: ByteOrder, offset: u64) -> Self {
        Self { rest, order, offset, context: 0 }
    }

    /// Returns the unread bytes.
    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Sets the number that determines the layout of the section's entries.
    pub(crate) fn set_context(&mut self, context: u32) {
        self.context = context;
    }

    pub(crate) const fn context(&self) -> u32 {
        self.context
    }

    pub(crate) const fn order(&self) -> ByteOrder {
        self.order
    }

    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the error of a field with an unknown value before the unread bytes.
    pub(crate) const fn unsupported(&self, what: &'static str, found: u64) -> Error {
        Error::new(self.offset, Reason::Unsupported { what, found })
    }

    /// Takes the next `len` bytes.
    pub(crate) fn take(&mut self, len: u64, what: &'static str) -> Result<&'a [u8]> {
        // A length of a malformed file is compared with the bytes that are there, before anything
        // is allocated.
        let split = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((taken, rest)) = split else {
            return Err(Error::truncated(self.offset, what, len, self.rest.len() as u64));
        };
        self.rest = rest;
        self.offset += len;
        Ok(taken)
    }

    /// Takes the next `len` bytes as a part that is read on its own.
    pub(crate) fn part(&mut self, len: u64, what: &'static str) -> Result<Self> {
        let whole = *self;
        Ok(Self { rest: self.take(len, what)?, ..whole })
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        match self.rest.split_first_chunk() {
            Some((taken, rest)) => {
                self.rest = rest;
                self.offset += N as u64;
                Ok(*taken)
            }
            None => Err(Error::truncated(self.offset, what, N as u64, self.rest.len() as u64)),
        }
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8> {
        self.array(what).map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16> {
        self.array(what).map(|bytes| self.order.u16(bytes))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32> {
        self.array(what).map(|bytes| self.order.u32(bytes))
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64> {
        self.array(what).map(|bytes| self.order.u64(bytes))
    }

    /// Takes a string: its padded length as a `u32`, and its bytes with a NUL.
    pub(crate) fn string(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let len = self.u32(what)?;
        Ok(until_nul(self.take(len.into(), what)?))
    }

    /// Takes a string that ends with a NUL.
    pub(crate) fn c_string(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let text = until_nul(self.rest);
        // With the NUL: a text without one is truncated.
        self.take(text.len() as u64 + 1, what)?;
        Ok(text)
    }
}

/// Returns the bytes before the first NUL, or all of them.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_ends_at_its_nul_and_skips_its_padding() {
        let bytes = [0, 0, 0, 4, b'a', b'b', 0, 0, 9];
        let mut bytes = Bytes::new(&bytes, ByteOrder::Big, 100);
        assert_eq!(bytes.string("name").unwrap(), b"ab");
        assert_eq!((bytes.rest(), bytes.offset()), (&[9][..], 108));
    }

    #[test]
    fn length_past_the_end_is_reported_with_its_offset() {
        let bytes = [255, 255, 255, 255, b'a'];
        let error = Bytes::new(&bytes, ByteOrder::Little, 100).string("name").unwrap_err();
        assert_eq!(std::format!("{error}"), "offset 0x68: name: expected 4294967295 bytes, found 1");
    }
}
