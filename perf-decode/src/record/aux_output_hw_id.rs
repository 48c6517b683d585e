//! The view of `AUX_OUTPUT_HW_ID` records.

view! {
    /// The hardware's own id of an event that writes into the AUX area, for events with
    /// `aux_output`.
    ///
    /// The trailer identifies the event. Since Linux 5.16.
    #[doc(alias = "PERF_RECORD_AUX_OUTPUT_HW_ID")]
    AuxOutputHwId of AUX_OUTPUT_HW_ID {
        /// Returns the id, in the PMU's format.
        hw_id: u64,
    }
}
