use crate::{Layout, word};

view! {
    /// An instruction trace started. Written for events of a PMU that traces into the AUX area.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u32 pid, u32 tid` |
    ///
    /// Since Linux 4.1.
    #[doc(alias = "PERF_RECORD_ITRACE_START")]
    ItraceStart: 2 words;
}

impl<L: Layout> ItraceStart<'_, L> {
    /// Returns the traced process.
    #[inline]
    #[must_use]
    pub fn pid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[0]
    }

    /// Returns the traced thread.
    #[inline]
    #[must_use]
    pub fn tid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[1]
    }
}
