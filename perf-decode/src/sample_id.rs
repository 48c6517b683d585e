//! The trailer of side-band records.

use perf_abi::{RecordType, SampleType};

use crate::error::Result;
use crate::field::{Field, FixedFields};
use crate::fixed::trailer_accessors;
use crate::layout::{Layout, SampleLayout};
use crate::raw::RawRecord;
use crate::record::Record;
use crate::schema::words::{HEAD, TRAILER, row};

/// The trailer of a record that is not a sample: the event that wrote it, the time, the task and
/// the CPU.
///
/// Every side-band record of an event with `sample_id_all` has one. It holds six of a sample's
/// fields, as far as the event's `sample_type` selects them. They describe the context that wrote
/// the record: the parent for FORK, the task that is switched for SWITCH. An accessor returns
/// `None` if the event does not record the field. Since Linux 2.6.38.
#[doc(alias = "sample_id")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SampleId<'a, L = &'a SampleLayout> {
    /// The words of the record up to the end of the trailer; empty for a sample.
    words: &'a [u64],
    layout: L,
}

impl<'a, L: Layout> SampleId<'a, L> {
    #[inline(always)]
    pub(crate) fn new(words: &'a [u64], layout: L) -> Self {
        Self { words, layout }
    }

    /// Returns true if the trailer is missing: for a sample, and without `sample_id_all`.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() || !self.layout.sample_layout().has_trailer()
    }

    /// Returns the fields of the trailer by name, in the order of their words.
    pub fn fields(&self) -> impl Iterator<Item = Field<'static>> + use<'a, L> {
        let (id, mut next) = (*self, FixedFields::default());
        let sample_type = self.layout.sample_layout().sample_type();
        core::iter::from_fn(move || next.next(&TRAILER, sample_type, |row| id.word(row)))
    }

    #[inline(always)]
    fn word(&self, row: usize) -> Option<u64> {
        let from_end = self.layout.sample_layout().trailer.get(row).copied().unwrap_or(0);
        word_from_end(self.words, from_end)
    }
}

trailer_accessors!(SampleId TRAILER: );

/// Returns the word at an index from the end: 1 is the last word, 0 an absent field.
#[inline(always)]
fn word_from_end(words: &[u64], from_end: u8) -> Option<u64> {
    words.get(words.len().wrapping_sub(usize::from(from_end))).copied()
}

impl<'a> RawRecord<'a> {
    /// Returns the trailer of this record. For a sample, all fields are `None`.
    ///
    /// # Errors
    ///
    /// The errors of [`decode`](RawRecord::decode), because the body determines the position of the
    /// trailer.
    pub fn sample_id<L: Layout>(self, layout: L) -> Result<SampleId<'a, L>> {
        let record = self.decode(layout)?;
        Ok(record.sample_id().unwrap_or(SampleId { words: &[], layout }))
    }

    /// Returns when this record was written, in ns of the event's clock, without decoding it. For
    /// sorting.
    ///
    /// It is the time in the sample's head or in the trailer, or else the one in the body, which
    /// FORK, EXIT, THROTTLE and UNTHROTTLE have. `None` if the event does not record the time, or
    /// if the record is truncated.
    #[inline]
    pub fn time<L: Layout>(self, layout: L) -> Option<u64> {
        const TIME: usize = row(&TRAILER, SampleType::TIME);
        if self.kind() == RecordType::SAMPLE {
            return self.head_word(layout.sample_layout(), row(&HEAD, SampleType::TIME));
        }
        match self.trailer_word(layout.sample_layout(), TIME) {
            None => self.decode_for(layout, |record| record.time()),
            time => time,
        }
    }

    /// Returns the id of the event that wrote this record, without decoding it: IDENTIFIER, or else
    /// ID.
    ///
    /// `None` if the event records neither, or if the record is truncated.
    #[inline]
    pub fn id<L: Layout>(self, layout: L) -> Option<u64> {
        let known = layout.sample_layout();
        if self.kind() == RecordType::SAMPLE {
            return match self.head_word(known, row(&HEAD, SampleType::IDENTIFIER)) {
                None => self.head_word(known, row(&HEAD, SampleType::ID)),
                id => id,
            };
        }
        let id = match self.trailer_word(known, row(&TRAILER, SampleType::IDENTIFIER)) {
            None => self.trailer_word(known, row(&TRAILER, SampleType::ID)),
            id => id,
        };
        match id {
            None => self.decode_for(layout, |record| {
                let trailer = record.sample_id()?;
                trailer.identifier().or(trailer.id())
            }),
            id => id,
        }
    }

    /// Returns a word of the head of a sample that contains the whole head.
    #[inline(always)]
    fn head_word(self, layout: &SampleLayout, row: usize) -> Option<u64> {
        let index = layout.head.get(row)?;
        self.words().get(..usize::from(layout.head_words)).and_then(|head| index.of(head))
    }

    /// Returns a word of a trailer that this record ends in.
    #[inline(always)]
    fn trailer_word(self, layout: &SampleLayout, row: usize) -> Option<u64> {
        if self.ends_in_trailer(layout) {
            word_from_end(self.words(), layout.trailer.get(row).copied()?)
        } else {
            None
        }
    }

    /// Decodes the record for a value that is not at a fixed distance from its end.
    #[inline(always)]
    fn decode_for<L: Layout>(self, layout: L, get: impl FnOnce(Record<'a, L>) -> Option<u64>) -> Option<u64> {
        decode_for(self.words(), layout, get)
    }
}

/// The cold path of [`RawRecord::decode_for`].
///
/// Takes the words, because the record is passed by reference, and the hot path before would store
/// it in memory.
#[cold]
#[inline(never)]
fn decode_for<'a, L: Layout>(
    words: &'a [u64],
    layout: L,
    get: impl FnOnce(Record<'a, L>) -> Option<u64>,
) -> Option<u64> {
    let &first = words.first()?;
    RawRecord::framed(first, words).decode(layout).ok().and_then(get)
}

impl<L: Layout> core::fmt::Debug for SampleId<'_, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.fields()).finish()
    }
}
