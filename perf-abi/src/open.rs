//! Flags of the system call itself.

bit_set! {
    /// `PERF_FLAG_*`—the last argument of `perf_event_open`, an unsigned long.
    ///
    /// # References
    ///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "Arguments"
    #[doc(alias = "PERF_FLAG")]
    pub struct OpenFlags(u64) {
        /// Does not join the group of `group_fd`; useful only with `FD_OUTPUT`. Since Linux 2.6.32.
        "PERF_FLAG_FD_NO_GROUP" FD_NO_GROUP = 1 << 0;
        /// Sends records to the ring of `group_fd`; the ioctl `SET_OUTPUT` is the usual way. Since Linux
        /// 2.6.32.
        "PERF_FLAG_FD_OUTPUT" FD_OUTPUT = 1 << 1;
        /// `pid` is an open descriptor of a cgroup's directory; needs a CPU. Since Linux 2.6.39.
        "PERF_FLAG_PID_CGROUP" PID_CGROUP = 1 << 2;
        /// Closes the descriptor on exec. Since Linux 3.14.
        "PERF_FLAG_FD_CLOEXEC" FD_CLOEXEC = 1 << 3;
    }
}
