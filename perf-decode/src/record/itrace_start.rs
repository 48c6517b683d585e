//! The view of `ITRACE_START` records.

view! {
    /// An instruction trace started. Written for events of a PMU that traces into the AUX area.
    ///
    /// Since Linux 4.1.
    #[doc(alias = "PERF_RECORD_ITRACE_START")]
    ItraceStart of ITRACE_START {
        /// Returns the traced process.
        pid: u32,
        /// Returns the traced thread.
        tid: u32,
    }
}
