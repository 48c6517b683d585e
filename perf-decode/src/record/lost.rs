use crate::Layout;

view! {
    /// Records were dropped because the ring was full. Written with the next record that fits.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 id` |
    /// | 2 | `u64 lost` |
    ///
    /// Only a read with `PERF_FORMAT_LOST` counts the records lost after the last one that fitted.
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_LOST")]
    Lost: 3 words;
}

impl<L: Layout> Lost<'_, L> {
    /// Returns the id of the event whose record was written next, not of the one that lost records.
    #[inline]
    #[must_use]
    pub fn id(&self) -> u64 {
        self.0.fixed()[1]
    }

    /// Returns the number of records of any kind that the ring dropped since the last LOST record.
    #[inline]
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.0.fixed()[2]
    }
}
