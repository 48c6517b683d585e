//! Integers in a payload, alone and in arrays.

use core::iter::FusedIterator;

use super::bytes::Span;

/// Size of an integer. Holding one proves that the machine has an integer of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    One,
    Two,
    Four,
    Eight,
}

impl Width {
    pub(super) fn from_bytes(bytes: u32) -> Option<Self> {
        match bytes {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }
}

/// Loads the integer at `start`. Extends it to 64 bits, by its sign if it is `signed`.
#[inline]
pub(super) fn load(raw: &[u8], start: usize, width: Width, signed: bool) -> Option<u64> {
    Some(match (width, signed) {
        (Width::One, false) => u64::from(u8::from_ne_bytes(chunk(raw, start)?)),
        (Width::Two, false) => u64::from(u16::from_ne_bytes(chunk(raw, start)?)),
        (Width::Four, false) => u64::from(u32::from_ne_bytes(chunk(raw, start)?)),
        (Width::One, true) => to_unsigned(i64::from(i8::from_ne_bytes(chunk(raw, start)?))),
        (Width::Two, true) => to_unsigned(i64::from(i16::from_ne_bytes(chunk(raw, start)?))),
        (Width::Four, true) => to_unsigned(i64::from(i32::from_ne_bytes(chunk(raw, start)?))),
        (Width::Eight, _) => u64::from_ne_bytes(chunk(raw, start)?),
    })
}

/// Returns the same 64 bits without a sign.
#[inline]
fn to_unsigned(value: i64) -> u64 {
    u64::from_ne_bytes(value.to_ne_bytes())
}

/// Returns the same 64 bits with a sign.
#[inline]
pub(crate) fn to_signed(bits: u64) -> i64 {
    i64::from_ne_bytes(bits.to_ne_bytes())
}

#[inline]
fn chunk<const N: usize>(raw: &[u8], start: usize) -> Option<[u8; N]> {
    raw.get(start..start.checked_add(N)?)?.try_into().ok()
}

/// A field bound as an integer of 1, 2, 4 or 8 bytes: numbers, enums, flags and pointers.
///
/// Made by [`Field::integer`](super::Field::integer) and
/// [`Format::integer`](super::Format::integer). It borrows nothing. It is valid as long as the
/// tracepoint keeps its layout: for this boot, and for tracepoints of a module until the module is
/// unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerField {
    pub(super) offset: u32,
    pub(super) width: Width,
    pub(super) signed: bool,
}

impl IntegerField {
    /// Returns the value in `raw`, `None` if the payload ends before the end of the field.
    ///
    /// A signed field is sign-extended to 64 bits.
    #[inline]
    pub fn read_u64(self, raw: &[u8]) -> Option<u64> {
        load(raw, self.offset as usize, self.width, self.signed)
    }

    /// Returns the value in `raw`, `None` if the payload ends before the end of the field.
    ///
    /// A `u64` above `i64::MAX`, such as a kernel address, becomes negative: use
    /// [`read_u64`](Self::read_u64) for it.
    #[inline]
    pub fn read_i64(self, raw: &[u8]) -> Option<i64> {
        self.read_u64(raw).map(to_signed)
    }

    /// Returns `true` if the kernel declares the field as signed.
    pub fn is_signed(self) -> bool {
        self.signed
    }
}

/// A field bound as an array of integers, of fixed or dynamic length.
///
/// Made by [`Field::array`](super::Field::array) and [`Format::array`](super::Format::array). It
/// borrows nothing, like [`IntegerField`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayField {
    pub(super) span: Span,
    pub(super) width: Width,
    pub(super) signed: bool,
}

impl ArrayField {
    /// Returns the elements in `raw`, `None` if the field does not lie within it.
    pub fn read(self, raw: &[u8]) -> Option<Integers<'_>> {
        Some(Integers { rest: self.span.read(raw)?, width: self.width, signed: self.signed })
    }
}

/// Iterator over the elements of an array.
///
/// Each is extended to 64 bits, by its sign if the array is [signed](Self::is_signed). Trailing
/// bytes that do not fill an element are skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integers<'a> {
    rest: &'a [u8],
    width: Width,
    signed: bool,
}

impl Integers<'_> {
    /// Returns `true` if the elements are signed. Cast them by `as i64` in that case.
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
    use super::super::Location;
    use super::*;

    const WIDTHS: [(u32, Width); 4] = [(1, Width::One), (2, Width::Two), (4, Width::Four), (8, Width::Eight)];

    #[test]
    fn widths_are_those_of_the_machine() {
        for bytes in 0..=16 {
            let expected = WIDTHS.iter().find(|(size, _)| *size == bytes).map(|(_, width)| *width);
            assert_eq!(Width::from_bytes(bytes), expected);
            assert_eq!(expected.map(Width::bytes), expected.map(|_| bytes as usize));
        }
    }

    #[test]
    fn sign_is_extended_only_where_the_field_is_signed() {
        let raw = [0xfe; 9];
        for (bytes, width) in WIDTHS {
            let unsigned = 0xfefe_fefe_fefe_fefe >> (64 - 8 * bytes);
            let field = IntegerField { offset: 1, width, signed: false };
            assert_eq!((field.read_u64(&raw), field.is_signed()), (Some(unsigned), false));
            let signed = IntegerField { signed: true, ..field };
            let value = to_signed(unsigned << (64 - 8 * bytes)) >> (64 - 8 * bytes);
            assert!(value < 0);
            assert_eq!((signed.read_i64(&raw), signed.is_signed()), (Some(value), true));
            assert_eq!(signed.read_u64(&raw), Some(to_unsigned(value)));
        }
    }

    #[test]
    fn integers_are_read_at_their_offset() {
        let raw = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        let read = |offset, width| IntegerField { offset, width, signed: true }.read_u64(&raw);
        assert_eq!(read(8, Width::One), Some(9));
        assert_eq!(read(3, Width::Two), Some(u64::from(u16::from_ne_bytes([4, 5]))));
        assert_eq!(read(2, Width::Four), Some(u64::from(u32::from_ne_bytes([3, 4, 5, 6]))));
        assert_eq!(read(1, Width::Eight), Some(u64::from_ne_bytes([2, 3, 4, 5, 6, 7, 8, 9])));
    }

    #[test]
    fn integers_beyond_the_payload_read_as_none() {
        for (bytes, width) in WIDTHS {
            let read = |offset| IntegerField { offset, width, signed: false }.read_i64(&[0; 8]);
            assert_eq!(read(8 - bytes), Some(0));
            for offset in [9 - bytes, 8, 9, u32::MAX] {
                assert_eq!(read(offset), None, "{bytes} at {offset}");
            }
        }
    }

    #[test]
    fn elements_are_read_to_the_last_whole_one() {
        let raw = [1, 2, 0xff, 3, 4];
        let span = Span { offset: 1, size: 4, location: Location::Fixed };
        let read = ArrayField { span, width: Width::One, signed: true }.read(&raw).unwrap();
        assert_eq!((read.len(), read.is_signed()), (4, true));
        assert_eq!(read.map(to_signed).collect::<Vec<_>>(), [2, -1, 3, 4]);

        let span = Span { offset: 2, size: 0, location: Location::Rest };
        let shorts = ArrayField { span, width: Width::Two, signed: false };
        let mut read = shorts.read(&raw).unwrap();
        assert_eq!((read.len(), read.is_signed()), (1, false));
        assert_eq!(read.next(), Some(u64::from(u16::from_ne_bytes([0xff, 3]))));
        assert_eq!((read.len(), read.next()), (0, None));
        assert_eq!(shorts.read(&raw[..1]), None);
    }

    #[test]
    fn elements_of_eight_bytes_are_counted_whole() {
        let mut raw = [0; 28];
        for (at, value) in (4..).step_by(8).zip([u64::MAX, 7, 1 << 40]) {
            raw[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        }
        let span = Span { offset: 4, size: 24, location: Location::Fixed };
        let read = ArrayField { span, width: Width::Eight, signed: false }.read(&raw).unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!(read.collect::<Vec<_>>(), [u64::MAX, 7, 1 << 40]);
    }
}
