use perf_abi::RecordType;

use crate::slot::Slot;
use crate::{RawRecord, Result, SampleLayout, body, word};

/// The trailer of a record that is not a sample: who wrote it, where and when.
///
/// There is one on every record of an event whose attr has `sample_id_all`, with the same six fields as
/// far as its `sample_type` has them. It tells of the context that wrote the record: for FORK the
/// parent, for SWITCH the task that is switched. Each accessor is `None` if the event does not sample
/// the field. Since Linux 2.6.38.
#[doc(alias = "sample_id")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SampleId<'a> {
    words: &'a [u64],
    layout: &'a SampleLayout,
}

impl<'a> SampleId<'a> {
    pub(crate) fn new(words: &'a [u64], layout: &'a SampleLayout) -> Self {
        Self { words, layout }
    }

    /// Whether there is no trailer: on a sample, and without `sample_id_all`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Process, as the opener's pid namespace sees it; `0xffffffff` if it does not.
    #[inline]
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.layout.trailer.tid.get(self.words).map(|word| word::halves(word)[0])
    }

    /// Thread, as the opener's pid namespace sees it.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> Option<u32> {
        self.layout.trailer.tid.get(self.words).map(|word| word::halves(word)[1])
    }

    /// Nanoseconds of the event's clock at which the record was written.
    #[inline]
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        self.layout.trailer.time.get(self.words)
    }

    /// Id of the opened event: an inherited copy reports its parent's.
    #[inline]
    #[must_use]
    pub fn id(&self) -> Option<u64> {
        self.layout.trailer.id.get(self.words)
    }

    /// Id of the event or of the inherited copy that wrote the record.
    #[inline]
    #[must_use]
    pub fn stream_id(&self) -> Option<u64> {
        self.layout.trailer.stream_id.get(self.words)
    }

    /// CPU that wrote the record.
    #[inline]
    #[must_use]
    pub fn cpu(&self) -> Option<u32> {
        self.layout.trailer.cpu.get(self.words).map(|word| word::halves(word)[0])
    }

    /// The same id as [`SampleId::id`], always the trailer's last word. Since Linux 3.12.
    #[inline]
    #[must_use]
    pub fn identifier(&self) -> Option<u64> {
        self.layout.trailer.identifier.get(self.words)
    }
}

impl core::fmt::Debug for SampleId<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SampleId")
            .field("pid", &self.pid())
            .field("tid", &self.tid())
            .field("time", &self.time())
            .field("id", &self.id())
            .field("stream_id", &self.stream_id())
            .field("cpu", &self.cpu())
            .field("identifier", &self.identifier())
            .finish()
    }
}

impl<'a> RawRecord<'a> {
    /// The trailer of this record. All its fields are `None` for a sample, which has none.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`](crate::Error::Truncated) if the record is too short for the trailer that
    /// the layout asks for.
    pub fn sample_id(self, layout: &'a SampleLayout) -> Result<SampleId<'a>> {
        let trailer = body::split(self, layout)?.1;
        Ok(SampleId::new(trailer, layout))
    }

    /// When this record was written, in ns of its event's clock, without decoding it: what a sorter needs.
    ///
    /// Of a record without a time in its trailer it is the body's own time, which FORK, EXIT, THROTTLE
    /// and UNTHROTTLE have. `None` if there is none at all, or if the record is cut.
    #[inline]
    pub fn time(self, layout: &SampleLayout) -> Option<u64> {
        if self.kind() == RecordType::SAMPLE {
            return layout.head.time.get(self.words());
        }
        self.trailer_word(layout, layout.trailer.time).or_else(|| self.time_elsewhere(layout))
    }

    /// Id of the event that wrote this record, without decoding it: IDENTIFIER, or else ID.
    ///
    /// `None` if the event samples neither, or if the record is cut.
    #[inline]
    pub fn id(self, layout: &SampleLayout) -> Option<u64> {
        if self.kind() == RecordType::SAMPLE {
            return layout.head.identifier.or(layout.head.id).get(self.words());
        }
        let slot = layout.trailer.identifier.or(layout.trailer.id);
        self.trailer_word(layout, slot).or_else(|| self.word_behind_body(layout, slot))
    }

    /// A word of a trailer that the record ends in.
    ///
    /// By its index in the record and not in the part that `body::split_end` cuts off: a sorter asks for it of
    /// every record, and the cut costs a third more instructions.
    #[inline(always)]
    fn trailer_word(self, layout: &SampleLayout, slot: Slot) -> Option<u64> {
        if !body::ends_in_trailer(self.kind()) {
            return None;
        }
        let start = self.words().len().checked_sub(usize::from(layout.trailer_words))?;
        // Without room for the header before the trailer the record is cut.
        if start == 0 { None } else { self.words().get(start + slot.index()).copied() }
    }

    /// A word of a trailer that the record need not end in.
    #[cold]
    #[inline(never)]
    fn word_behind_body(self, layout: &SampleLayout, slot: Slot) -> Option<u64> {
        if !body::trailer_follows_body(self.kind()) {
            return None;
        }
        body::split(self, layout).ok().and_then(|(_, trailer)| slot.get(trailer))
    }

    #[cold]
    #[inline(never)]
    fn time_elsewhere(self, layout: &SampleLayout) -> Option<u64> {
        if !layout.trailer.time.is_absent() {
            return self.word_behind_body(layout, layout.trailer.time);
        }
        match self.kind() {
            RecordType::FORK | RecordType::EXIT => self.words().get(3).copied(),
            RecordType::THROTTLE | RecordType::UNTHROTTLE => self.words().get(1).copied(),
            _ => None,
        }
    }
}
