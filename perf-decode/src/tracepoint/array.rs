//! Arrays of integers in a payload.

use core::iter::FusedIterator;

use super::bytes::Span;
use super::integer::{Width, load};

/// A field bound as an array of integers, of fixed or dynamic length.
///
/// Made by [`Field::array`](super::Field::array) and [`Format::array`](super::Format::array).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayField {
    pub(super) span: Span,
    pub(super) width: Width,
    pub(super) signed: bool,
}

impl ArrayField {
    /// The elements in `raw`, `None` if the field does not lie within it.
    pub fn read(self, raw: &[u8]) -> Option<Integers<'_>> {
        Some(Integers { rest: self.span.read(raw)?, width: self.width, signed: self.signed })
    }
}

/// The elements of an array, each extended to 64 bits by its own sign if the array is [signed](Self::is_signed).
///
/// Bytes at the end that do not fill an element are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integers<'a> {
    rest: &'a [u8],
    width: Width,
    signed: bool,
}

impl Integers<'_> {
    /// Whether the elements are signed: then `as i64` gives their value.
    pub fn is_signed(&self) -> bool {
        self.signed
    }
}

impl Iterator for Integers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let value = load(self.rest, 0, self.width, self.signed)?;
        self.rest = self.rest.get(self.width.bytes()..)?;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.rest.len() / self.width.bytes();
        (len, Some(len))
    }
}

impl ExactSizeIterator for Integers<'_> {}
impl FusedIterator for Integers<'_> {}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::super::Place;
    use super::super::integer::with_sign;
    use super::*;

    #[test]
    fn elements_are_read_to_the_last_whole_one() {
        let raw = [1, 2, 0xff, 3, 4];
        let span = Span { offset: 1, size: 4, place: Place::Fixed };
        let bytes = ArrayField { span, width: Width::One, signed: true };
        let read = bytes.read(&raw).unwrap();
        assert_eq!((read.len(), read.is_signed()), (4, true));
        assert_eq!(read.map(with_sign).collect::<Vec<_>>(), [2, -1, 3, 4]);

        let span = Span { size: 0, place: Place::Rest, ..span };
        let shorts = ArrayField { span: Span { offset: 2, ..span }, width: Width::Two, signed: false };
        let read = shorts.read(&raw).unwrap();
        assert_eq!((read.len(), read.clone().count()), (1, 1));
        assert_eq!(read.collect::<Vec<_>>(), [u64::from(u16::from_ne_bytes([0xff, 3]))]);
        assert_eq!(shorts.read(&raw[..1]), None);
    }
}
