//! The view of UNTHROTTLE records.

view! {
    /// The event samples again after a THROTTLE.
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_UNTHROTTLE")]
    Unthrottle of UNTHROTTLE {
        /// Returns the time in the body, in ns of the event's clock.
        own_time: u64,
        /// Returns the id of the opened event.
        id: u64,
        /// Returns the id of the event, or of the inherited copy, that was throttled.
        stream_id: u64,
    }
}
