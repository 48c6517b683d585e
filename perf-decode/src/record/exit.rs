use crate::{Layout, word};

view! {
    /// A thread exited. Written for events with `task`, `comm`, `mmap` or `mmap2`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u32 pid, u32 ppid` |
    /// | 2 | `u32 tid, u32 ptid` |
    /// | 3 | `u64 time` |
    ///
    /// Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_EXIT")]
    Exit: 4 words, time in word 3;
}

impl<L: Layout> Exit<'_, L> {
    /// Returns the process of the thread that exited.
    #[inline]
    #[must_use]
    pub fn pid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[0]
    }

    /// Returns the process of the real parent.
    #[inline]
    #[must_use]
    pub fn ppid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[1]
    }

    /// Returns the thread that exited.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> u32 {
        word::halves(self.0.fixed()[2])[0]
    }

    /// Returns the same as [`ppid`](Self::ppid).
    #[inline]
    #[must_use]
    pub fn ptid(&self) -> u32 {
        word::halves(self.0.fixed()[2])[1]
    }
}
