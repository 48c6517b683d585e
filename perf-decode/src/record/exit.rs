//! The view of EXIT records.

view! {
    /// A thread exited. Written for events with `task`, `comm`, `mmap` or `mmap2`.
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_EXIT")]
    Exit of EXIT {
        /// Returns the process of the thread that exited.
        pid: u32,
        /// Returns the process of the real parent.
        ppid: u32,
        /// Returns the thread that exited.
        tid: u32,
        /// Returns the same as [`ppid`](Self::ppid).
        ptid: u32,
        /// Returns the time in the body, in ns of the event's clock.
        own_time: u64,
    }
}
