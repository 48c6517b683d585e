//! The view of THROTTLE records.

view! {
    /// The event overflowed too often and was stopped until the next tick.
    ///
    /// The event writes no samples between a THROTTLE and its UNTHROTTLE.
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_THROTTLE")]
    Throttle of THROTTLE {
        /// Returns the time in the body, in ns of the event's clock.
        own_time: u64,
        /// Returns the id of the opened event.
        id: u64,
        /// Returns the id of the event, or of the inherited copy, that was throttled.
        stream_id: u64,
    }
}
