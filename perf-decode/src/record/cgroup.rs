//! The view of CGROUP records.

view! {
    /// A control group was created. Written for events with `cgroup`.
    ///
    /// Since Linux 5.7.
    #[doc(alias = "PERF_RECORD_CGROUP")]
    Cgroup of CGROUP {
        /// Returns the inode number of the group's directory, the value of the field `cgroup` in
        /// samples.
        id: u64,
        /// Returns the path from the root of the hierarchy. Raw bytes without the NUL, not UTF-8.
        path: &'a [u8],
    }
}
