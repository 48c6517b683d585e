use perf_abi::Misc;

use crate::{Layout, word};

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
    /// Returns the process.
    #[inline]
    #[must_use]
    pub fn pid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[0]
    }

    /// Returns the thread that made the mapping.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[1]
    }

    /// Returns the first address.
    #[inline]
    #[must_use]
    pub fn addr(&self) -> u64 {
        self.0.fixed()[2]
    }

    /// Returns the length in bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.fixed()[3]
    }

    /// Returns the offset in the file in bytes; for anonymous memory often the address.
    #[inline]
    #[must_use]
    pub fn pgoff(&self) -> u64 {
        self.0.fixed()[4]
    }

    /// Returns whether the mapping is not executable.
    #[inline]
    #[must_use]
    pub fn data(&self) -> bool {
        self.misc().contains(Misc::MMAP_DATA)
    }

    /// Returns the path, or a name such as `//anon`, `[heap]` or `[vdso]`. Raw bytes without the
    /// NUL, not UTF-8.
    #[inline]
    #[must_use]
    pub fn filename(&self) -> &'a [u8] {
        self.0.name()
    }
}
