//! Where a record keeps the id of its event. All that `Layouts` needs of other modules' internals is here.

use perf_abi::{Attr, RecordType};

use crate::slot::Slot;
use crate::{Error, RawRecord, Result, SampleLayout, body, order};

/// Where the records of an event keep its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdOffset {
    /// Word index in samples.
    sample: Slot,
    /// Words from the end of other records, 0 without an id. From the end, because the lengths of the
    /// events' trailers may differ.
    trailer: usize,
}

impl IdOffset {
    pub(super) const NONE: Self = Self { sample: Slot::ABSENT, trailer: 0 };

    pub(super) fn new(layout: &SampleLayout) -> Self {
        Self {
            sample: layout.head.identifier.or(layout.head.id),
            trailer: usize::from(layout.trailer_words)
                .saturating_sub(layout.trailer.identifier.or(layout.trailer.id).index()),
        }
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
            return self.sample.get(words);
        }
        let (_, after_header) = words.split_first()?;
        let at = after_header.len().checked_sub(self.trailer)?;
        after_header.get(at).copied().filter(|_| body::ends_in_trailer(record.kind()))
    }
}

/// Whether the trailer of this kind follows the body, and the record may go on after it.
///
/// When several events of a CPU get the same KSYMBOL, `BPF_EVENT` or `TEXT_POKE` record, kernels before 7.3
/// make each copy longer than the one before by a trailer that is never written. The words after the
/// true trailer are what the ring held before, possibly other trailers.
pub(super) fn follows_body(kind: RecordType) -> bool {
    body::trailer_follows_body(kind)
}

/// The words after the body of such a record in which an event can keep its id, each with its index from
/// the body's end. The id is the nearest one to the body that is at its event's own index: those of stale
/// trailers are further away.
pub(super) fn words_after_body(record: RawRecord<'_>) -> impl Iterator<Item = (usize, u64)> {
    /// Without a trailer: all words that do not belong to the body are left.
    const BARE: &SampleLayout = &SampleLayout::new(&Attr::new(perf_abi::EventType::SOFTWARE, 0));
    let body = body::split(record, BARE).map_or(usize::MAX, |(body, _)| body.len());
    let after_body = record.words().get(1..).and_then(|words| words.get(body..)).unwrap_or_default();
    after_body.iter().copied().take(order::TRAILER.len()).enumerate()
}

/// Word index of the id in the trailer of an event, above every index without one.
pub(super) fn in_trailer(layout: &SampleLayout) -> usize {
    layout.trailer.identifier.or(layout.trailer.id).index()
}

/// Refuses a layout with fields that this crate does not know: their trailers may end elsewhere.
#[inline]
pub(super) fn check_known(layout: &SampleLayout) -> Result<()> {
    match layout.unknown() {
        0 => Ok(()),
        bits => Err(Error::UnknownSampleType { bits }),
    }
}
