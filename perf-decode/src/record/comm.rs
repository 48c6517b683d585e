//! The view of COMM records.

use perf_abi::Misc;

use crate::layout::Layout;

view! {
    /// A thread changed its name, by exec or by prctl(2). Written for events with `comm`.
    ///
    /// Since Linux 2.6.31; the exec bit since 3.16.
    #[doc(alias = "PERF_RECORD_COMM")]
    Comm of COMM {
        /// Returns the process.
        pid: u32,
        /// Returns the thread.
        tid: u32,
        /// Returns the new name, at most 15 bytes. Raw bytes without the NUL, not UTF-8.
        comm: &'a [u8],
    } and exec
}

impl<L: Layout> Comm<'_, L> {
    /// Returns whether exec(2) changed the name: the process runs another program now.
    #[inline]
    pub fn exec(&self) -> bool {
        self.misc().contains(Misc::COMM_EXEC)
    }
}
