//! The offset of the event's id in a record. `Layouts` uses no other module's internals than these.

use perf_abi::{RecordType, SampleType};

use crate::error::Result;
use crate::layout::SampleLayout;
use crate::raw::RawRecord;
use crate::record::body_words;
use crate::schema::words::{HEAD, TRAILER, row};
use crate::schema::{Body, TrailerPosition};
use crate::word_index::WordIndex;

/// The offset of the id in the records of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdOffset {
    /// Word index in samples.
    sample: WordIndex,
    /// Word index from the end of a side-band record, 0 without an id. From the end, because the
    /// lengths of the events' trailers may differ.
    trailer: usize,
}

impl IdOffset {
    pub(super) const NONE: Self = Self { sample: WordIndex::ABSENT, trailer: 0 };

    pub(super) fn new(layout: &SampleLayout) -> Self {
        // An IDENTIFIER is the first word of a sample and the last of a trailer, even if other
        // fields are unknown.
        if layout.sample_type().contains(SampleType::IDENTIFIER) {
            return Self { sample: WordIndex::new(1), trailer: usize::from(layout.has_trailer()) };
        }
        let sample = layout.head.get(row(&HEAD, SampleType::ID)).copied().unwrap_or(WordIndex::ABSENT);
        Self { sample, trailer: from_end(layout) }
    }

    /// Returns whether events with this offset and an event with this layout can share a ring.
    pub(super) fn can_share(self, layout: &SampleLayout) -> bool {
        self != Self::NONE && self == Self::new(layout)
    }

    /// Returns the id in a sample, or in a record that ends in its trailer.
    #[inline]
    pub(super) fn id(self, record: RawRecord<'_>) -> Option<u64> {
        let words = record.words();
        if record.kind() == RecordType::SAMPLE {
            return self.sample.of(words);
        }
        let (_, after_header) = words.split_first()?;
        let at = after_header.len().checked_sub(self.trailer)?;
        after_header.get(at).copied().filter(|_| has_trailer(record.kind(), TrailerPosition::AtEnd))
    }
}

fn has_trailer(kind: RecordType, position: TrailerPosition) -> bool {
    Body::of(kind).is_some_and(|body| body.trailer == position)
}

/// Returns whether the trailer of this kind follows the body and can have words after it.
///
/// When several events of a CPU get the same KSYMBOL, `BPF_EVENT` or `TEXT_POKE` record, kernels
/// before 7.3 make each copy longer than the one before by a trailer that is never written. The
/// words after the true trailer are old ring content, possibly other trailers.
pub(super) fn follows_body(kind: RecordType) -> bool {
    has_trailer(kind, TrailerPosition::AfterBody)
}

/// Returns the words after the body of such a record that can be its event's id, each with its
/// index from the body's end. The id is the one nearest to the body that is at its event's own
/// index, because stale trailers are further away.
pub(super) fn words_after_body(record: RawRecord<'_>) -> impl Iterator<Item = (usize, u64)> {
    let end = body_words(record).unwrap_or(usize::MAX);
    let after_body = record.words().get(end..).unwrap_or_default();
    after_body.iter().copied().take(TRAILER.len()).enumerate()
}

/// Returns the word index of the id in the trailer of an event; `usize::MAX` without an id.
pub(super) fn in_trailer(layout: &SampleLayout) -> usize {
    match from_end(layout) {
        0 => usize::MAX,
        from_end => usize::from(layout.trailer_words).wrapping_sub(from_end),
    }
}

/// Returns the word index of an event's id from the end of its trailer, 0 without an id.
fn from_end(layout: &SampleLayout) -> usize {
    let at = |bit| usize::from(layout.trailer.get(row(&TRAILER, bit)).copied().unwrap_or(0));
    match at(SampleType::IDENTIFIER) {
        0 => at(SampleType::ID),
        identifier => identifier,
    }
}

/// Returns an error for a layout with fields unknown to this crate, because its trailers may end
/// elsewhere.
#[inline]
pub(super) fn check_known(layout: &SampleLayout) -> Result<()> {
    layout.unknown().map_or(Ok(()), Err)
}
