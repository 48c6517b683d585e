//! Framed records that are not decoded.

use perf_abi::{Header, Misc, RecordType};

use crate::error::{Error, Result};
use crate::word;

/// One framed record that is not decoded.
///
/// Holding one proves that it has a header and that the size in the header is the length of the
/// slice. Its body is not validated.
///
/// Records are words in this machine's byte order. They start 8-aligned and their sizes are
/// multiples of 8 bytes, as in the kernel's ring. Data of the other byte order must be swapped
/// first.
#[doc(alias = "perf_event_header")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// The header. Framing loaded it for the size; decoding reads the kind from it next.
    first: u64,
    words: &'a [u64],
}

impl<'a> RawRecord<'a> {
    /// Splits the first record off `words`. Returns it and the words after it.
    ///
    /// # Errors
    ///
    /// [`Error::SizeBelowHeader`], [`Error::UnalignedSize`] or [`Error::SizePastEnd`], the last
    /// also for an empty slice (size 0, 0 bytes available).
    #[inline]
    pub fn split_first(words: &'a [u64]) -> Result<(Self, &'a [u64])> {
        match frame(words) {
            Some(framed) => Ok(framed),
            None => Err(first_error(words)),
        }
    }

    /// Views a slice that holds exactly one record.
    ///
    /// # Errors
    ///
    /// The errors of [`RawRecord::split_first`], and [`Error::SizeShortOfSlice`] if the slice is
    /// longer.
    #[inline]
    pub fn from_words(words: &'a [u64]) -> Result<Self> {
        let (record, rest) = Self::split_first(words)?;
        if rest.is_empty() {
            Ok(record)
        } else {
            Err(Error::SizeShortOfSlice { size: record.header().size, len: words.len() * 8 })
        }
    }

    /// Views bytes that hold exactly one record.
    ///
    /// # Errors
    ///
    /// The errors of [`RawRecord::from_words`], [`Error::Misaligned`] if the bytes do not start at
    /// a multiple of 8, and [`Error::UnalignedLength`] if their number is not a multiple of 8.
    /// Misaligned bytes are not copied, because that is the caller's decision.
    #[inline]
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self> {
        Self::from_words(word::words_from_bytes(bytes)?)
    }

    /// Returns the header, the first eight bytes.
    #[inline]
    pub fn header(self) -> Header {
        Header::from_word(self.first)
    }

    /// Returns the kind of the record.
    #[inline]
    pub fn kind(self) -> RecordType {
        self.header().kind
    }

    /// Returns the header's `misc` bits; their meaning depends on the kind.
    #[inline]
    pub fn misc(self) -> Misc {
        self.header().misc
    }

    /// Returns the length in bytes with the header, at most 65528.
    #[inline]
    pub fn size(self) -> usize {
        self.words.len() * 8
    }

    /// Returns the size in bytes that the first word of a record has.
    #[inline(always)]
    pub(crate) fn size_of(first: u64) -> u64 {
        u64::from(Header::from_word(first).size)
    }

    /// Views words that were framed; `first` is the first of them.
    #[inline(always)]
    pub(crate) fn framed(first: u64, words: &'a [u64]) -> Self {
        Self { first, words }
    }

    /// Returns the header's word, which was read for framing.
    #[inline(always)]
    pub(crate) fn first_word(self) -> u64 {
        self.first
    }

    /// Returns the whole record as words, the header first.
    #[inline]
    pub fn words(self) -> &'a [u64] {
        self.words
    }

    /// Returns the whole record as bytes, the header first.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        word::bytes(self.words)
    }
}

impl core::fmt::Debug for RawRecord<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RawRecord").field("header", &self.header()).field("words", &self.words).finish()
    }
}

/// Frames the first record of `words`, if it is whole.
#[inline(always)]
pub(crate) fn frame(words: &[u64]) -> Option<(RawRecord<'_>, &[u64])> {
    let Some(&first) = words.first() else {
        unframed(0);
        return None;
    };
    let size = Header::from_word(first).size;
    // Words of the record. The rotation makes a size that is not a multiple of 8 longer than any
    // slice, so that it needs no separate comparison.
    let len = usize::from(size).rotate_right(3);
    if len == 0 {
        unframed(1);
        return None;
    }
    let Some((record, rest)) = words.split_at_checked(len) else {
        unframed(2);
        return None;
    };
    Some((RawRecord { first, words: record }, rest))
}

/// Cold-path hint: marks the branch unlikely and keeps the hot loop's registers free. Each call
/// passes another argument, hidden from the optimizer. Otherwise LLVM merges the tests before the
/// calls into one that depends on all of them.
#[cold]
#[inline(never)]
fn unframed(condition: u8) {
    core::hint::black_box(condition);
}

/// Returns why [`frame`] found no record in `words`.
#[cold]
#[inline(never)]
fn first_error(words: &[u64]) -> Error {
    framing_error(words, 0, words.len())
}

/// Returns why [`frame`] found no record at the start of `words`, `at` words into the window with
/// `available` words left.
#[cold]
pub(crate) fn framing_error(words: &[u64], at: usize, available: usize) -> Error {
    let at = at as u64 * 8;
    let size = words.first().map_or(0, |&first| Header::from_word(first).size);
    match size {
        0..8 if available > 0 => Error::SizeBelowHeader { at, size },
        _ if size % 8 != 0 => Error::UnalignedSize { at, size },
        _ => Error::SizePastEnd { at, size, available: available as u64 * 8 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header word with kind 2 (LOST) and this size.
    fn sized(size: u16) -> u64 {
        Header { kind: RecordType::LOST, misc: Misc::empty(), size }.to_word()
    }

    #[test]
    fn size_of_zero_is_below_the_header() {
        assert_eq!(RawRecord::split_first(&[sized(0), 0]), Err(Error::SizeBelowHeader { at: 0, size: 0 }));
    }

    #[test]
    fn size_of_four_is_below_the_header() {
        assert_eq!(RawRecord::split_first(&[sized(4), 0]), Err(Error::SizeBelowHeader { at: 0, size: 4 }));
    }

    #[test]
    fn size_of_twelve_is_unaligned() {
        assert_eq!(RawRecord::split_first(&[sized(12), 0]), Err(Error::UnalignedSize { at: 0, size: 12 }));
    }

    #[test]
    fn record_is_whole_words_of_the_slice() {
        for size in 0..=u16::MAX {
            let framed = RawRecord::split_first(&[sized(size), 1, 2])
                .map(|(record, rest)| (record.size(), rest.len()));
            match size {
                8 | 16 | 24 => assert_eq!(framed, Ok((usize::from(size), 3 - usize::from(size) / 8))),
                _ => assert!(framed.is_err(), "{size}: {framed:?}"),
            }
        }
    }

    #[test]
    fn size_past_the_end_reports_the_available_bytes() {
        assert_eq!(
            RawRecord::split_first(&[sized(24), 0]),
            Err(Error::SizePastEnd { at: 0, size: 24, available: 16 })
        );
    }

    #[test]
    fn empty_slice_holds_no_record() {
        assert_eq!(RawRecord::split_first(&[]), Err(Error::SizePastEnd { at: 0, size: 0, available: 0 }));
    }

    #[test]
    fn slice_longer_than_its_record_is_refused() {
        assert_eq!(RawRecord::from_words(&[sized(8), 0]), Err(Error::SizeShortOfSlice { size: 8, len: 16 }));
    }

    #[test]
    fn header_alone_is_a_record() {
        let words = [sized(8)];
        let record = RawRecord::from_words(&words).unwrap();
        assert_eq!((record.kind(), record.size()), (RecordType::LOST, 8));
    }

    #[test]
    fn debug_form_shows_the_header_and_the_words() {
        let words = [sized(16), 7];
        let shown = std::format!("{:?}", RawRecord::from_words(&words).unwrap());
        let header = std::format!("{:?}", Header::from_word(words[0]));
        assert_eq!(shown, std::format!("RawRecord {{ header: {header}, words: {words:?} }}"));
    }
}
