//! The view of `CALLCHAIN_DEFERRED` records.

view! {
    /// The user part of callchains that were sampled in the kernel. Written for events with
    /// `defer_output`.
    ///
    /// It belongs to every earlier sample of the task whose callchain ends in a deferred marker and
    /// this cookie. The kernel never writes the record if the task was killed or the ring was full.
    /// Since Linux 6.19.
    #[doc(alias = "PERF_RECORD_CALLCHAIN_DEFERRED")]
    CallchainDeferred of CALLCHAIN_DEFERRED {
        /// Returns the cookie that this record and its samples share; it has no other meaning.
        cookie: u64,
        /// Returns the user addresses, innermost first, without a context marker.
        ips: &'a [u64],
    }
}
