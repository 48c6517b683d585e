//! The view of FORK records.

view! {
    /// A task was created. Written for events with `task`, `comm`, `mmap` or `mmap2`.
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_FORK")]
    Fork of FORK {
        /// Returns the process of the new task; equal to [`ppid`](Self::ppid) for a new thread.
        pid: u32,
        /// Returns the process of the creator.
        ppid: u32,
        /// Returns the new thread.
        tid: u32,
        /// Returns the thread of the creator.
        ptid: u32,
        /// Returns the time in the body, in ns of the event's clock.
        own_time: u64,
    }
}
