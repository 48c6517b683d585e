use crate::Layout;

view! {
    /// The PMU lost samples before they reached the ring.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 lost` |
    ///
    /// Since Linux 4.2.
    #[doc(alias = "PERF_RECORD_LOST_SAMPLES")]
    LostSamples: 2 words;
}

impl<L: Layout> LostSamples<'_, L> {
    /// Returns the number of samples lost.
    #[inline]
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.0.fixed()[1]
    }
}
