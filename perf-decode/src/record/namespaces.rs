//! The view of NAMESPACES records.

use perf_abi::NamespaceLink;

use crate::entries::Entries;

view! {
    /// The namespaces of a task, after fork(2), unshare(2) or setns(2). Written for events with
    /// `namespaces`.
    ///
    /// Since Linux 4.12.
    #[doc(alias = "PERF_RECORD_NAMESPACES")]
    Namespaces of NAMESPACES {
        /// Returns the process.
        pid: u32,
        /// Returns the thread.
        tid: u32,
        /// Returns the namespaces, one per kind, in the order of
        /// [`NamespaceIndex`](perf_abi::NamespaceIndex).
        namespaces: Entries<'a, NamespaceLink, 2>,
    }
}
