use crate::Layout;

view! {
    /// A control group was created. Written for events with `cgroup`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u64 id` |
    /// | 2.. | `char path[]`, NUL-padded to a word |
    ///
    /// Since Linux 5.7.
    #[doc(alias = "PERF_RECORD_CGROUP")]
    Cgroup: 2 words;
}

impl<'a, L: Layout> Cgroup<'a, L> {
    /// Returns the inode number of the group's directory, the value of the field `cgroup` in
    /// samples.
    #[inline]
    #[must_use]
    pub fn id(&self) -> u64 {
        self.0.fixed()[1]
    }

    /// Returns the path from the root of the hierarchy. Raw bytes without the NUL, not UTF-8.
    #[inline]
    #[must_use]
    pub fn path(&self) -> &'a [u8] {
        self.0.name()
    }
}
