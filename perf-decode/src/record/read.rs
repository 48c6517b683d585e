//! The view of READ records.

use crate::read::ReadValues;

view! {
    /// The counts of a child task that exited. Written for events with `inherit_stat`.
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_READ")]
    Read of READ {
        /// Returns the process that exited.
        pid: u32,
        /// Returns the thread that exited.
        tid: u32,
        /// Returns the counts of the child, with `PERF_FORMAT_GROUP` for its whole group. The ids
        /// are the parent event's.
        read: ReadValues<'a>,
    }
}
