//! The validation of a record that is not a sample, once, before it becomes a view.

use perf_abi::{Misc, RecordType};

use crate::read_layout::ReadLayout;
use crate::{Error, RawRecord, Result, SampleLayout, word};

/// The check of one kind of record, as one word of the table of kinds.
///
/// The low byte is the least number of words before the trailer, less one. The highest bit is set
/// unless the body ends in a name. Together they make the check of the common kinds a table look-up
/// and two comparisons, without a branch on the kind.
#[derive(Clone, Copy)]
pub(crate) struct LengthCheck(u64);

impl LengthCheck {
    /// Longer than any record, for a kind that is unknown or has the body's length in its content.
    const RARE: u64 = 1 << 16;
    const UNNAMED: u64 = 1 << 63;
    const WORDS: u64 = 0x7f;

    /// The check of a kind that has no row in the table.
    pub(super) const UNKNOWN: Self = Self::rare(1);

    /// Returns the check of a body of fixed size; `words` includes the header.
    pub(super) const fn fixed(words: usize) -> Self {
        assert!(words > 0 && words <= Self::WORDS as usize);
        Self((words as u64 - 1) | Self::UNNAMED)
    }

    /// Returns the check of a body that ends in a name, of one word at least.
    pub(super) const fn named(words: usize) -> Self {
        Self(Self::fixed(words + 1).0 & !Self::UNNAMED)
    }

    /// Returns the check of a body whose length the kind's own file computes.
    pub(super) const fn rare(words: usize) -> Self {
        Self(Self::fixed(words).0 | Self::RARE)
    }

    /// Returns the words of the shortest record, without its trailer.
    fn words(self) -> usize {
        (self.0 & Self::WORDS) as usize + 1
    }

    /// Returns whether these are the words before the trailer of a whole record of a simple kind.
    #[inline(always)]
    fn is_simple_and_whole(self, words: &[u64]) -> bool {
        if words.len() <= (self.0 & (Self::WORDS | Self::RARE)) as usize {
            return false;
        }
        let last = words.last().copied().unwrap_or(0);
        (word::nul_bits(last) | self.0) & word::NUL_BITS != 0
    }
}

impl RawRecord<'_> {
    /// Returns whether this is a whole record of a kind with a simple body: long enough for body and
    /// trailer, and with a NUL in the last word of its name if it has one.
    #[inline(always)]
    pub(super) fn is_simple_and_whole(self, layout: &SampleLayout) -> bool {
        let words = self.words();
        let Some(end) = words.len().checked_sub(usize::from(layout.trailer_words)) else {
            return false;
        };
        super::length_check(self.kind()).is_simple_and_whole(words.get(..end).unwrap_or(&[]))
            && !has_build_id(self.misc(), layout)
    }

    /// Returns whether the record ends in a whole trailer, whatever else is in it.
    #[inline(always)]
    pub(crate) fn ends_in_trailer(self, layout: &SampleLayout) -> bool {
        let least = (super::length_check(self.kind()).0 & (LengthCheck::WORDS | LengthCheck::RARE)) as usize;
        self.words().len() > least + usize::from(layout.trailer_words)
    }
}

/// Returns the words of header, body and trailer of a record that is not simple; `None` if it is
/// malformed.
// Takes the words alone, because the three words of a `RawRecord` would be spilled for every
// record.
#[cold]
#[inline(never)]
pub(crate) fn whole<'a>(words: &'a [u64], layout: &SampleLayout) -> Option<&'a [u64]> {
    check(words, layout).ok()
}

/// Returns the error of a malformed record.
#[cold]
#[inline(never)]
pub(crate) fn error(words: &[u64], layout: &SampleLayout) -> Error {
    match check(words, layout) {
        Err(error) => error,
        // Not reached: the same check failed before.
        Ok(_) => Error::truncated(RecordType::default(), "body", 0, 0),
    }
}

fn check<'a>(words: &'a [u64], layout: &SampleLayout) -> Result<&'a [u64]> {
    let raw = RawRecord::from_words(words)?;
    let Some(end) = super::body_end(raw.kind()) else {
        // The bodies of other kinds are unknown.
        return Ok(raw.words());
    };
    layout.known_in(raw.kind())?;
    let check = super::length_check(raw.kind());
    let trailer = usize::from(layout.trailer_words);
    let has_build_id = has_build_id(raw.misc(), layout);
    let body = Body { kind: raw.kind(), words, trailer, read: layout.read, has_build_id };
    match words.len().checked_sub(trailer) {
        Some(end) if end >= check.words() => {}
        Some(end) if end > 0 => {
            return Err(body.truncated("body", check.words() as u64 - 1, end as u64 - 1));
        }
        _ => return Err(body.truncated("sample_id", trailer as u64, words.len() as u64 - 1)),
    }
    end(body)
}

/// A record that is at least as long as its kind's shortest body and the trailer.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    kind: RecordType,
    words: &'a [u64],
    /// Words of the trailer.
    trailer: usize,
    read: ReadLayout,
    /// Whether an MMAP2 record names its file by a build id.
    pub(super) has_build_id: bool,
}

impl<'a> Body<'a> {
    /// Returns the words before the trailer of a record that ends in it.
    pub(super) fn before_trailer(self) -> &'a [u64] {
        let end = self.words.len().saturating_sub(self.trailer);
        self.words.get(..end).unwrap_or(self.words)
    }

    /// Returns all words of the record, whose trailer is at its end.
    pub(super) fn words(self) -> &'a [u64] {
        self.words
    }

    /// Returns the words of a record whose trailer follows its first `words` words, without those
    /// after the trailer.
    ///
    /// When several events of a CPU get the same KSYMBOL, `BPF_EVENT` or `TEXT_POKE`, kernels
    /// before 7.3 make each copy longer than the one before by a trailer that is never written. The
    /// true trailer directly follows the body.
    pub(super) fn words_with_trailer_after(self, words: usize) -> Result<&'a [u64]> {
        let (needed, found) = (words + self.trailer, self.words.len());
        self.words.get(..needed).ok_or_else(|| self.truncated("sample_id", needed as u64, found as u64))
    }

    /// Checks that `words` words of the field `name` follow the first `start` words.
    pub(super) fn needs(self, name: &'static str, start: usize, words: u64) -> Result<&'a [u64]> {
        let found = (self.before_trailer().len() as u64).saturating_sub(start as u64);
        if words > found { Err(self.truncated(name, words, found)) } else { Ok(self.words) }
    }

    /// Checks the counts of a READ record, from word `start` on.
    pub(super) fn needs_counts(self, name: &'static str, start: usize) -> Result<&'a [u64]> {
        let first = self.before_trailer().get(start).copied().unwrap_or(0);
        self.needs(name, start, self.read.words(first))
    }

    /// Returns the index of the word after the NUL of the name that starts at word `start`.
    pub(super) fn name_end(self, name: &'static str, start: usize) -> Result<usize> {
        let text = word::text(self.before_trailer().get(start..).unwrap_or(&[]));
        let text = text.ok_or(Error::Unterminated { kind: self.kind, field: name })?;
        Ok(start + word::words_for(text.len() + 1))
    }

    pub(super) fn word(self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }

    pub(super) fn invalid(self, field: &'static str, value: u64) -> Error {
        Error::Invalid { kind: self.kind, field, value }
    }

    /// Returns the error of a field that needs `needed` words and finds `found`.
    fn truncated(self, field: &'static str, needed: u64, found: u64) -> Error {
        Error::truncated(self.kind, field, needed, found)
    }
}

/// Returns whether an MMAP2 record with these misc bits names its file by a build id.
///
/// Kernels before 7.3 also set the bit on records with inodes, of events that did not ask for build
/// ids, if another event of the CPU did.
#[inline(always)]
pub(super) fn has_build_id(misc: Misc, layout: &SampleLayout) -> bool {
    layout.build_id && misc.contains(Misc::MMAP_BUILD_ID)
}
