//! The bits of an entropy-coded stream, which is read from its end to its start.

use crate::Malformed;

/// A stream of bits whose next bit is the highest one that is left.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    left: usize,
}

impl<'a> Bits<'a> {
    /// Creates a view of the bits below the highest one that is set in the last byte.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.last() {
            Some(last) if *last != 0 => {
                let padding = last.leading_zeros() as usize + 1;
                Ok(Self { bytes, left: (bytes.len() * 8).saturating_sub(padding) })
            }
            _ => Err(Malformed("a bit stream of a zstd block has no end mark")),
        }
    }

    /// Returns whether all bits are consumed.
    pub(super) fn is_empty(self) -> bool {
        self.left == 0
    }

    /// Returns the number of unread bits.
    pub(super) fn left(self) -> usize {
        self.left
    }

    /// Returns at least the next 57 bits, in the high bits of a word; zeros after the last one.
    #[inline]
    pub(super) fn peek(self) -> Word {
        let end = self.left.div_ceil(8);
        let word = match self.bytes.get(..end).and_then(|bytes| bytes.last_chunk()) {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => self.peek_last(end),
        };
        Word(word << (self.left.wrapping_neg() & 7))
    }

    /// Returns fewer than 8 bytes in the high bits of a word.
    #[cold]
    fn peek_last(self, end: usize) -> u64 {
        let bytes = self.bytes.get(..end).unwrap_or_default();
        let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        word << (64 - 8 * bytes.len().clamp(1, 8))
    }

    /// Consumes bits.
    #[inline]
    pub(super) fn skip(&mut self, len: u32) -> Result<(), Malformed> {
        match self.left.checked_sub(len as usize) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Malformed("a bit stream of a zstd block is truncated")),
        }
    }
}

/// Bits that can be taken from the highest one downwards.
pub(super) struct Word(u64);

impl Word {
    /// Takes `len` bits, at most 32.
    #[inline]
    pub(super) fn take(&mut self, len: u8) -> u32 {
        let bits = self.peek(len);
        self.skip(len);
        bits
    }

    /// Returns the `len` highest bits, at most 32.
    #[inline]
    pub(super) fn peek(&self, len: u8) -> u32 {
        // Two shifts, because `len` can be 0.
        (self.0 >> 1 >> (63 - (len & 63))) as u32
    }

    /// Removes the `len` highest bits.
    #[inline]
    pub(super) fn skip(&mut self, len: u8) {
        self.0 <<= len & 63;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_from_the_mark_in_the_last_byte() {
        // 9 bits: 0 1010_0101, after the mark.
        let mut bits = Bits::new(&[0b1010_0101, 0b0000_0010]).unwrap();
        assert_eq!(bits.left(), 9);
        let mut word = bits.peek();
        assert_eq!([word.take(1), word.take(4), word.take(0), word.take(4)], [0, 0b1010, 0, 0b0101]);
        assert_eq!(word.take(32), 0, "zeros after the last bit");
        bits.skip(9).unwrap();
        assert!(bits.is_empty());
        assert!(bits.skip(1).is_err());
    }

    #[test]
    fn words_at_any_position_have_57_bits() {
        let bytes: [u8; 20] = core::array::from_fn(|index| (index as u8).wrapping_mul(37) | 1);
        let all = bytes.iter().enumerate();
        let bit = |position: usize| {
            let (_, byte) = all.clone().nth(position / 8).unwrap();
            u32::from(byte >> (position % 8) & 1)
        };
        let mut bits = Bits::new(&bytes).unwrap();
        while !bits.is_empty() {
            let mut word = bits.peek();
            for position in (0..bits.left()).rev().take(57) {
                assert_eq!(word.take(1), bit(position), "{position}");
            }
            bits.skip(1).unwrap();
        }
    }

    #[test]
    fn streams_without_a_mark_are_refused() {
        assert!(Bits::new(&[]).is_err());
        assert!(Bits::new(&[1, 0]).is_err());
        assert!(Bits::new(&[1]).is_ok_and(Bits::is_empty));
    }
}
