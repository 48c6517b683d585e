use crate::Layout;

view! {
    /// A task mapped memory. Written for events with `mmap` (executable) or `mmap_data` (other) and
    /// not `mmap2`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u32 pid, u32 tid` |
    /// | 2 | `u64 addr` |
    /// | 3 | `u64 len` |
    /// | 4 | `u64 pgoff` |
    /// | 5.. | `char filename[]`, NUL-padded to a word |
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_MMAP")]
    Mmap: 5 words;
}

#[expect(clippy::len_without_is_empty, reason = "`len` is a field of the record")]
impl<'a, L: Layout> Mmap<'a, L> {
    mapping_fields!();
}
