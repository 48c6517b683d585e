use crate::Layout;

view! {
    /// The hardware's own id of an event that writes into the AUX area, for events with
    /// `aux_output`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 hw_id` |
    ///
    /// The trailer identifies the event. Since Linux 5.16.
    #[doc(alias = "PERF_RECORD_AUX_OUTPUT_HW_ID")]
    AuxOutputHwId: 2 words;
}

impl<L: Layout> AuxOutputHwId<'_, L> {
    /// Returns the id, in the PMU's format.
    #[inline]
    #[must_use]
    pub fn hw_id(&self) -> u64 {
        self.0.fixed()[1]
    }
}
