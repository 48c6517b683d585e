use super::check::Body;
use crate::{Layout, ReadValues, Result, word};

view! {
    /// The counts of a child task that exited. Written for events with `inherit_stat`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u32 pid, u32 tid` |
    /// | 2.. | the counts, in the event's `read_format` |
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_READ")]
    Read: 2 words;
}

impl<'a, L: Layout> Read<'a, L> {
    /// Returns the process that exited.
    #[inline]
    #[must_use]
    pub fn pid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[0]
    }

    /// Returns the thread that exited.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[1]
    }

    /// Returns its counts, and those of its group with `PERF_FORMAT_GROUP`. The ids are the parent
    /// event's.
    #[inline]
    #[must_use]
    pub fn read(&self) -> ReadValues<'a> {
        ReadValues::first_of(self.0.tail(), self.0.layout().sample_layout().read)
    }

    pub(super) fn unclaimed_words(&self) -> usize {
        self.0.tail().len().saturating_sub(self.read().block().len())
    }
}

pub(super) fn end(body: Body<'_>) -> Result<&[u64]> {
    body.needs_counts("values", Read::WORDS)
}
