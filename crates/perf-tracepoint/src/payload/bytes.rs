//! Byte ranges in a payload, at a fixed offset or at the offset in a dynamic word.

use super::Location;
use super::integer::{Width, load};

/// The byte range of a field, as its `format` line gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) location: Location,
}

impl Span {
    pub(super) fn read(self, raw: &[u8]) -> Option<&[u8]> {
        let start = self.offset as usize;
        match self.location {
            Location::Fixed => raw.get(start..start.checked_add(self.size as usize)?),
            Location::Rest => raw.get(start..),
            Location::DataLoc => dynamic(raw, start, 0),
            Location::RelLoc => dynamic(raw, start, start.checked_add(4)?),
        }
    }
}

/// Follows the dynamic word at `start`: length in its upper half, offset from `base` in its lower.
fn dynamic(raw: &[u8], start: usize, base: usize) -> Option<&[u8]> {
    let word = load(raw, start, Width::Four, false)?;
    let (len, offset) = ((word >> 16) as usize, (word & 0xffff) as usize);
    let from = base.checked_add(offset)?;
    raw.get(from..from.checked_add(len)?)
}

/// A field bound as its bytes, whatever its kind.
///
/// Made by [`Field::bytes`](super::Field::bytes). It borrows nothing, like
/// [`IntegerField`](super::IntegerField).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytesField(pub(super) Span);

impl BytesField {
    /// Returns the field's bytes in `raw`, `None` if they do not lie within it.
    ///
    /// The bytes of a dynamic field are its data, which may be empty. Text includes its NUL.
    pub fn read(self, raw: &[u8]) -> Option<&[u8]> {
        self.0.read(raw)
    }
}

/// A field bound as text.
///
/// Made by [`Field::text`](super::Field::text) and [`Format::text`](super::Format::text). It
/// borrows nothing, like [`IntegerField`](super::IntegerField).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextField(pub(super) Span);

impl TextField {
    /// Returns the text in `raw` without its NUL, `None` if the field does not lie within it.
    ///
    /// The bytes have no particular encoding, because users choose the names of tasks and files.
    /// Text that fills its array has no NUL.
    pub fn read(self, raw: &[u8]) -> Option<&[u8]> {
        self.0.read(raw)?.split(|&byte| byte == 0).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns 8 bytes, the dynamic word at 8, then data.
    fn payload(len: u32, offset: u32) -> [u8; 20] {
        let mut raw = [0; 20];
        raw[8..12].copy_from_slice(&(len << 16 | offset).to_ne_bytes());
        raw[12..].copy_from_slice(b"abc\0def\0");
        raw
    }

    fn read(location: Location, raw: &[u8]) -> Option<&[u8]> {
        Span { offset: 8, size: 4, location }.read(raw)
    }

    #[test]
    fn data_loc_counts_from_the_payload_and_rel_loc_from_after_its_word() {
        assert_eq!(read(Location::DataLoc, &payload(3, 12)), Some(&b"abc"[..]));
        assert_eq!(read(Location::RelLoc, &payload(4, 4)), Some(&b"def\0"[..]));
    }

    #[test]
    fn dynamic_data_may_be_longer_and_further_than_32_kib() {
        let (len, offset) = (0xfedc_u32, 0xfba9);
        let mut raw: Vec<u8> = vec![0; 8];
        raw.extend((len << 16 | offset).to_ne_bytes());
        raw.extend((0..len + offset).map(|at: u32| (at % 251) as u8));
        let (len, offset) = (len as usize, offset as usize);
        assert_eq!(read(Location::DataLoc, &raw), raw.get(offset..offset + len));
        assert_eq!(read(Location::RelLoc, &raw), raw.get(12 + offset..));
        assert_eq!(read(Location::RelLoc, &raw).map(<[u8]>::len), Some(len));
        assert_eq!(read(Location::RelLoc, &raw[..raw.len() - 1]), None);
        assert_eq!(read(Location::DataLoc, &raw[..offset + len - 1]), None);
    }

    #[test]
    fn dynamic_words_that_point_outside_read_as_none() {
        for (location, len, offset) in [
            (Location::DataLoc, 9, 12),
            (Location::DataLoc, 1, 20),
            (Location::DataLoc, 0, 21),
            (Location::DataLoc, 0xffff, 0xffff),
            (Location::RelLoc, 9, 0),
            (Location::RelLoc, 0xffff, 0xffff),
        ] {
            assert_eq!(read(location, &payload(len, offset)), None, "{location:?} {len} {offset}");
        }
        assert_eq!(read(Location::DataLoc, &payload(3, 12)[..11]), None);
        for location in [Location::Fixed, Location::Rest, Location::DataLoc, Location::RelLoc] {
            let span = Span { offset: u32::MAX, size: 4, location };
            assert_eq!(span.read(&payload(3, 12)), None, "{location:?}");
        }
    }

    #[test]
    fn dynamic_data_may_be_empty() {
        assert_eq!(read(Location::DataLoc, &payload(0, 0)), Some(&b""[..]));
        assert_eq!(read(Location::DataLoc, &payload(0, 20)), Some(&b""[..]));
        assert_eq!(read(Location::RelLoc, &payload(0, 8)), Some(&b""[..]));
    }

    #[test]
    fn fixed_fields_end_at_their_size_and_the_rest_at_the_payload() {
        let raw = payload(0, 0);
        assert_eq!(read(Location::Fixed, &raw), Some(&[0; 4][..]));
        let bytes = |size, location| BytesField(Span { offset: 16, size, location }).read(&raw);
        assert_eq!(bytes(3, Location::Fixed), Some(&b"def"[..]));
        assert_eq!(bytes(5, Location::Fixed), None);
        assert_eq!(bytes(0, Location::Rest), Some(&b"def\0"[..]));
    }

    #[test]
    fn text_ends_at_the_first_nul_or_at_the_end() {
        let raw = payload(0, 0);
        let text = |size| TextField(Span { offset: 12, size, location: Location::Fixed }).read(&raw);
        assert_eq!(text(8), Some(&b"abc"[..]));
        assert_eq!(text(3), Some(&b"abc"[..]));
        assert_eq!(text(0), Some(&b""[..]));
        assert_eq!(text(9), None);
    }
}
