//! The validation of a record that is not a sample, once, before it becomes a view.

use perf_abi::{Attr, EventType, RecordType};

use crate::error::{Error, Result};
use crate::layout::SampleLayout;
use crate::raw::RawRecord;
use crate::schema::{BODIES, Body, FieldType, TrailerPosition, has_build_id};

/// The fast check of one kind of record, as one word of the table of kinds.
///
/// The low byte is the least number of words before the trailer, less one. The highest bit is set
/// unless the body ends in a name. Together they make the check of the common kinds a table look-up
/// and two comparisons, without a branch on the kind.
#[derive(Clone, Copy)]
struct FastCheck(u64);

impl FastCheck {
    /// Longer than any record, for a kind that always needs the full check because it is unknown,
    /// the length of its body is in its content, or its trailer follows the body.
    const NEVER: u64 = 1 << 16;
    const UNNAMED: u64 = 1 << 63;
    const WORDS: u64 = 0x7f;

    const UNKNOWN: Self = Self(Self::NEVER | Self::UNNAMED);

    const fn of(body: &Body) -> Self {
        let least = body.least_words() as u64 - 1;
        assert!(least <= Self::WORDS);
        match (body.trailer, body.variable()) {
            (TrailerPosition::AtEnd, None) => Self(least | Self::UNNAMED),
            (TrailerPosition::AtEnd, Some(FieldType::Name)) => Self(least),
            _ => Self(least | Self::UNNAMED | Self::NEVER),
        }
    }

    /// Returns the least number of words before the trailer, less one; more than any record has if
    /// the check never passes.
    #[inline(always)]
    fn least(self) -> usize {
        // The other bits are in the upper half.
        self.0 as u32 as usize
    }

    /// Returns whether the first `end` words are the words before the trailer of a whole record.
    #[inline(always)]
    fn passes(self, words: &[u64], end: usize) -> bool {
        if end <= self.least() {
            return false;
        }
        let Some(&last) = words.get(end - 1) else { return false };
        // The kernel pads names with zeros, so the last byte is a NUL. Less one, 0 has the highest
        // bit and no other byte does. A name with an earlier NUL alone gets the full check.
        let byte = last.to_le() >> 56;
        (byte.wrapping_sub(1) | self.0) & Self::UNNAMED != 0
    }
}

/// The fast check of each kind, by its number.
#[expect(clippy::indexing_slicing, reason = "a constant: an index out of bounds does not compile")]
const FAST_CHECKS: [FastCheck; RecordType::LAST.0 as usize + 1] = {
    let mut checks = [FastCheck::UNKNOWN; RecordType::LAST.0 as usize + 1];
    let mut bodies = BODIES;
    while let [body, rest @ ..] = bodies {
        checks[body.kind.0 as usize] = FastCheck::of(body);
        bodies = rest;
    }
    checks
};

#[inline(always)]
fn fast_check(kind: RecordType) -> FastCheck {
    FAST_CHECKS.get(kind.0 as usize).copied().unwrap_or(FastCheck::UNKNOWN)
}

impl RawRecord<'_> {
    /// Returns whether a look at the length and the last word shows that the record is whole: long
    /// enough for body and trailer, and with a NUL in the last word of its name if it has one.
    #[inline(always)]
    pub(super) fn passes_fast_check(self, layout: &SampleLayout) -> bool {
        if has_build_id(self.misc(), layout.build_id) {
            return false;
        }
        let words = self.words();
        let Some(end) = words.len().checked_sub(usize::from(layout.trailer_words)) else {
            return false;
        };
        fast_check(self.kind()).passes(words, end)
    }

    /// Returns whether the record ends in a whole trailer, whatever else is in it.
    #[inline(always)]
    pub(crate) fn ends_in_trailer(self, layout: &SampleLayout) -> bool {
        self.words().len() > fast_check(self.kind()).least() + usize::from(layout.trailer_words)
    }
}

/// Returns the words of header, body and trailer of a record that did not pass the fast check;
/// `None` if it is malformed.
// Takes the words alone, because the three words of a `RawRecord` would be spilled for every
// record.
#[cold]
#[inline(never)]
pub(super) fn whole<'a>(words: &'a [u64], layout: &SampleLayout) -> Option<&'a [u64]> {
    check(words, layout).ok()
}

/// Returns the error of a malformed record.
#[cold]
#[inline(never)]
pub(super) fn error(words: &[u64], layout: &SampleLayout) -> Error {
    match check(words, layout) {
        Err(error) => error,
        // Not reached: the same check failed before.
        Ok(_) => Error::truncated(RecordType::default(), "body", 0, 0),
    }
}

fn check<'a>(words: &'a [u64], layout: &SampleLayout) -> Result<&'a [u64]> {
    let raw = RawRecord::from_words(words)?;
    let Some(body) = Body::of(raw.kind()) else {
        // The bodies of other kinds are unknown.
        return Ok(raw.words());
    };
    layout.known_in(raw.kind())?;
    let trailer = usize::from(layout.trailer_words);
    let before_trailer = words.len().checked_sub(trailer).and_then(|end| words.get(..end)).unwrap_or(&[]);
    if before_trailer.is_empty() {
        let found = words.len() as u64 - 1;
        return Err(Error::truncated(raw.kind(), "sample_id", trailer as u64, found));
    }
    let end = body.end(before_trailer, layout)?;
    Ok(match body.trailer {
        TrailerPosition::AtEnd => words,
        TrailerPosition::AfterBody => words.get(..end + trailer).unwrap_or(words),
    })
}

/// Returns the words of header and body of a record whose trailer follows its body; `None` if it is
/// malformed.
pub(crate) fn body_words(raw: RawRecord<'_>) -> Option<usize> {
    /// The layout of an event without `sample_id_all`, whose records end with the body.
    const NO_TRAILER: &SampleLayout = &SampleLayout::new(&Attr::new(EventType::SOFTWARE, 0));
    Body::of(raw.kind())?.end(raw.words(), NO_TRAILER).ok()
}
