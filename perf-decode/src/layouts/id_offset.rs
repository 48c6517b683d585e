//! Where a record keeps the id of its event. All that `Layouts` needs of other modules' internals is here.

use perf_abi::{RecordType, SampleType};

use crate::field_order::{HEAD, TRAILER, row};
use crate::record::{has_row, trailer_follows_body, words_of_body};
use crate::word_index::WordIndex;
use crate::{RawRecord, Result, SampleLayout};

/// Where the records of an event keep its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdOffset {
    /// Word index in samples.
    sample: WordIndex,
    /// Words from the end of other records, 0 without an id. From the end, because the lengths of the
    /// events' trailers may differ.
    trailer: usize,
}

impl IdOffset {
    pub(super) const NONE: Self = Self { sample: WordIndex::ABSENT, trailer: 0 };

    pub(super) fn new(layout: &SampleLayout) -> Self {
        // An IDENTIFIER is the first and the last word also if the fields between are unknown.
        if layout.sample_type().contains(SampleType::IDENTIFIER) {
            return Self { sample: WordIndex::new(1), trailer: usize::from(layout.has_trailer()) };
        }
        let sample = layout.head.get(row(&HEAD, SampleType::ID)).copied().unwrap_or(WordIndex::ABSENT);
        Self { sample, trailer: from_end(layout) }
    }

    /// Whether events with this offset and one with this layout can be told apart.
    pub(super) fn can_share(self, layout: &SampleLayout) -> bool {
        self != Self::NONE && self == Self::new(layout)
    }

    /// The id in a sample, or in a record that ends in its trailer.
    #[inline]
    pub(super) fn id(self, record: RawRecord<'_>) -> Option<u64> {
        let words = record.words();
        if record.kind() == RecordType::SAMPLE {
            return self.sample.of(words);
        }
        let (_, after_header) = words.split_first()?;
        let at = after_header.len().checked_sub(self.trailer)?;
        after_header.get(at).copied().filter(|_| has_row(record.kind()) && !follows_body(record.kind()))
    }
}

/// Whether the trailer of this kind follows the body, and the record may go on after it.
///
/// When several events of a CPU get the same KSYMBOL, `BPF_EVENT` or `TEXT_POKE` record, kernels before 7.3
/// make each copy longer than the one before by a trailer that is never written. The words after the
/// true trailer are what the ring held before, possibly other trailers.
pub(super) fn follows_body(kind: RecordType) -> bool {
    trailer_follows_body(kind)
}

/// The words after the body of such a record in which an event can keep its id, each with its index from
/// the body's end. The id is the nearest one to the body that is at its event's own index: those of stale
/// trailers are further away.
pub(super) fn words_after_body(record: RawRecord<'_>) -> impl Iterator<Item = (usize, u64)> {
    let end = words_of_body(record).unwrap_or(usize::MAX);
    let after_body = record.words().get(end..).unwrap_or_default();
    after_body.iter().copied().take(TRAILER.len()).enumerate()
}

/// Word index of the id in the trailer of an event, above every index without one.
pub(super) fn in_trailer(layout: &SampleLayout) -> usize {
    match from_end(layout) {
        0 => usize::MAX,
        from_end => usize::from(layout.trailer_words).wrapping_sub(from_end),
    }
}

/// Words from the id of an event to the end of its trailer, 0 without an id.
fn from_end(layout: &SampleLayout) -> usize {
    let at = |bit| usize::from(layout.trailer.get(row(&TRAILER, bit)).copied().unwrap_or(0));
    match at(SampleType::IDENTIFIER) {
        0 => at(SampleType::ID),
        identifier => identifier,
    }
}

/// Refuses a layout with fields that this crate does not know: their trailers may end elsewhere.
#[inline]
pub(super) fn check_known(layout: &SampleLayout) -> Result<()> {
    layout.unknown().map_or(Ok(()), Err)
}
