//! The view of LOST_SAMPLES records.

view! {
    /// The PMU lost samples before they reached the ring.
    ///
    /// Since Linux 4.2.
    #[doc(alias = "PERF_RECORD_LOST_SAMPLES")]
    LostSamples of LOST_SAMPLES {
        /// Returns the number of samples lost.
        lost: u64,
    }
}
