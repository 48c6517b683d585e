//! Byte ranges in a payload: fixed fields, and those that the payload itself places.

use super::Place;
use super::integer::{Width, load};

/// Where a field's bytes are, before a payload is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u32,
    pub(super) size: u32,
    pub(super) place: Place,
}

impl Span {
    pub(super) fn read(self, raw: &[u8]) -> Option<&[u8]> {
        let start = self.offset as usize;
        let behind_word = start.checked_add(4)?;
        match self.place {
            Place::Fixed => raw.get(start..start.checked_add(self.size as usize)?),
            Place::Rest => raw.get(start..),
            Place::DataLoc => dynamic(raw, start, 0),
            Place::RelLoc => dynamic(raw, start, behind_word),
        }
    }
}

/// Follows the dynamic word at `start`: the length in its upper half, the offset from `base` in its lower one.
fn dynamic(raw: &[u8], start: usize, base: usize) -> Option<&[u8]> {
    let word = load(raw, start, Width::Four, false)?;
    let (len, offset) = ((word >> 16) as usize, (word & 0xffff) as usize);
    let from = base.checked_add(offset)?;
    raw.get(from..from.checked_add(len)?)
}

/// A field bound as its bytes, whatever they mean.
///
/// Made by [`Field::bytes`](super::Field::bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BytesField(pub(super) Span);

impl BytesField {
    /// The field's bytes in `raw`, `None` if they do not lie within it.
    ///
    /// Dynamic fields are followed to their data, which may be empty. Text includes its NUL.
    pub fn read(self, raw: &[u8]) -> Option<&[u8]> {
        self.0.read(raw)
    }
}

/// A field bound as text.
///
/// Made by [`Field::text`](super::Field::text) and [`Format::text`](super::Format::text).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextField(pub(super) Span);

impl TextField {
    /// The text in `raw` without its NUL, `None` if the field does not lie within it.
    ///
    /// The bytes are the kernel's and in no particular encoding: task and file names are what users made them. A text
    /// that fills its array has no NUL.
    pub fn read(self, raw: &[u8]) -> Option<&[u8]> {
        self.0.read(raw)?.split(|&byte| byte == 0).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 bytes, then the dynamic word at 8, then data.
    fn payload(len: u32, offset: u32) -> [u8; 20] {
        let mut raw = [0; 20];
        raw[8..12].copy_from_slice(&(len << 16 | offset).to_ne_bytes());
        raw[12..].copy_from_slice(b"abc\0def\0");
        raw
    }

    fn read(place: Place, raw: &[u8]) -> Option<&[u8]> {
        Span { offset: 8, size: 4, place }.read(raw)
    }

    #[test]
    fn data_loc_counts_from_the_start_and_rel_loc_from_behind_its_word() {
        assert_eq!(read(Place::DataLoc, &payload(3, 12)), Some(&b"abc"[..]));
        assert_eq!(read(Place::RelLoc, &payload(4, 4)), Some(&b"def\0"[..]));
    }

    #[test]
    fn dynamic_words_that_point_outside_read_as_none() {
        for (place, len, offset) in [
            (Place::DataLoc, 9, 12),
            (Place::DataLoc, 1, 20),
            (Place::DataLoc, 0, 21),
            (Place::DataLoc, 0xffff, 0xffff),
            (Place::RelLoc, 9, 0),
            (Place::RelLoc, 0xffff, 0xffff),
        ] {
            assert_eq!(read(place, &payload(len, offset)), None, "{place:?} {len} {offset}");
        }
        assert_eq!(read(Place::DataLoc, &payload(3, 12)[..11]), None);
        assert_eq!(Span { offset: u32::MAX, size: 4, place: Place::RelLoc }.read(&payload(3, 12)), None);
    }

    #[test]
    fn dynamic_data_may_be_empty() {
        assert_eq!(read(Place::DataLoc, &payload(0, 0)), Some(&b""[..]));
        assert_eq!(read(Place::DataLoc, &payload(0, 20)), Some(&b""[..]));
        assert_eq!(read(Place::RelLoc, &payload(0, 8)), Some(&b""[..]));
    }

    #[test]
    fn text_ends_at_the_first_nul_or_at_the_end() {
        let text = |size| TextField(Span { offset: 12, size, place: Place::Fixed });
        let raw = payload(0, 0);
        assert_eq!(text(8).read(&raw), Some(&b"abc"[..]));
        assert_eq!(text(3).read(&raw), Some(&b"abc"[..]));
        assert_eq!(text(0).read(&raw), Some(&b""[..]));
        assert_eq!(text(9).read(&raw), None);
        assert_eq!(
            BytesField(Span { offset: 16, size: 0, place: Place::Rest }).read(&raw),
            Some(&b"def\0"[..])
        );
    }
}
