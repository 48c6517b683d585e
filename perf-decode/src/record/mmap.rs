//! The view of MMAP records.

use perf_abi::Misc;

use crate::layout::Layout;

view! {
    /// A task mapped memory. Written for events with `mmap` (executable) or `mmap_data` (other) and
    /// not `mmap2`.
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_MMAP")]
    Mmap of MMAP {
        /// Returns the process.
        pid: u32,
        /// Returns the thread that made the mapping.
        tid: u32,
        /// Returns the first address.
        addr: u64,
        /// Returns the length in bytes.
        len: u64,
        /// Returns the offset in the file in bytes; for anonymous memory often the address.
        pgoff: u64,
        /// Returns the path, or a name such as `//anon`, `[heap]` or `[vdso]`. Raw bytes without
        /// the NUL, not UTF-8.
        filename: &'a [u8],
    } and is_executable
}

impl<L: Layout> Mmap<'_, L> {
    /// Returns whether the memory was mapped executable: whether the record is without
    /// [`MMAP_DATA`](Misc::MMAP_DATA).
    #[doc(alias = "PERF_RECORD_MISC_MMAP_DATA")]
    #[inline]
    pub fn is_executable(&self) -> bool {
        !self.misc().contains(Misc::MMAP_DATA)
    }
}
