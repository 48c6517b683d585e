//! `attr.read_format`: what `read(2)` and counter values in records hold.

bit_set! {
    /// `enum perf_event_read_format`—which words come with a counter's value.
    ///
    /// The same layout is used by `read(2)`, by `READ` records and by samples with
    /// [`SampleType::READ`](crate::SampleType::READ). All words are `u64`.
    #[doc(alias = "perf_event_read_format")]
    pub struct ReadFormat(u64) {
        /// Time that the event was enabled, in ns. Since Linux 2.6.31.
        "PERF_FORMAT_TOTAL_TIME_ENABLED" TOTAL_TIME_ENABLED = 1 << 0;
        /// Time that the event was counting, in ns; less than enabled means it shared a counter. Since Linux
        /// 2.6.31.
        "PERF_FORMAT_TOTAL_TIME_RUNNING" TOTAL_TIME_RUNNING = 1 << 1;
        /// The event's id. Since Linux 2.6.31.
        "PERF_FORMAT_ID" ID = 1 << 2;
        /// Values of the whole group, leader first. Since Linux 2.6.31.
        "PERF_FORMAT_GROUP" GROUP = 1 << 3;
        /// Number of samples lost by the event. Since Linux 6.0.
        "PERF_FORMAT_LOST" LOST = 1 << 4;
    }
}
