use crate::Layout;

view! {
    /// The event overflowed too often and was stopped until the next tick.
    ///
    /// There are no samples between a THROTTLE and its UNTHROTTLE.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 time` |
    /// | 2 | `u64 id` |
    /// | 3 | `u64 stream_id` |
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_THROTTLE")]
    Throttle: 4 words, time in word 1;
}

impl<L: Layout> Throttle<'_, L> {
    /// Returns the id of the opened event.
    #[inline]
    #[must_use]
    pub fn id(&self) -> u64 {
        self.0.fixed()[2]
    }

    /// Returns the id of the event, or of the inherited copy, that was throttled.
    #[inline]
    #[must_use]
    pub fn stream_id(&self) -> u64 {
        self.0.fixed()[3]
    }
}
