use perf_abi::Misc;

use crate::{Layout, word};

view! {
    /// A thread changed its name, by exec or by prctl(2). Written for events with `comm`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u32 pid, u32 tid` |
    /// | 2.. | `char comm[]`, NUL-padded to a word |
    ///
    /// Since Linux 2.6.31; the exec bit since 3.16.
    #[doc(alias = "PERF_RECORD_COMM")]
    Comm: 2 words;
}

impl<'a, L: Layout> Comm<'a, L> {
    /// Returns the process.
    #[inline]
    #[must_use]
    pub fn pid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[0]
    }

    /// Returns the thread.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[1]
    }

    /// Returns whether exec(2) changed the name: the process runs another program now.
    #[inline]
    #[must_use]
    pub fn exec(&self) -> bool {
        self.misc().contains(Misc::COMM_EXEC)
    }

    /// Returns the new name, at most 15 bytes. Raw bytes without the NUL, not UTF-8.
    #[inline]
    #[must_use]
    pub fn comm(&self) -> &'a [u8] {
        self.0.name()
    }
}
