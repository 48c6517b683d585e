//! The view of LOST records.

view! {
    /// Records were dropped because the ring was full. Written with the next record that fits.
    ///
    /// Only a read with `PERF_FORMAT_LOST` includes the losses after the last LOST record. Since
    /// Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_LOST")]
    Lost of LOST {
        /// Returns the id of the event whose record was written next, which may differ from the
        /// event that lost records.
        id: u64,
        /// Returns the number of records of any kind that the ring dropped since the last LOST
        /// record.
        lost: u64,
    }
}
