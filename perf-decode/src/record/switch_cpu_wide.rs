use crate::{Layout, SwitchDirection, word};

view! {
    /// A task was switched in or out of the CPU. Written for CPU events with `context_switch`.
    ///
    /// | word | field |
    /// |---|---|
    /// | 1 | `u32 next_prev_pid, u32 next_prev_tid` |
    ///
    /// The task itself is in the trailer. Since Linux 4.3.
    #[doc(alias = "PERF_RECORD_SWITCH_CPU_WIDE")]
    SwitchCpuWide: 2 words;
}

impl<L: Layout> SwitchCpuWide<'_, L> {
    /// Returns whether the task of the trailer was switched in or out.
    #[inline]
    #[must_use]
    pub fn direction(&self) -> SwitchDirection {
        SwitchDirection::new(self.misc())
    }

    /// Returns the process of the other task, the next one of a switch out and the previous one of
    /// a switch in; `0xffffffff` if it has no id in the opener's pid namespace.
    #[inline]
    #[must_use]
    pub fn next_prev_pid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[0]
    }

    /// Returns the thread of the other task; 0 is the idle task.
    #[inline]
    #[must_use]
    pub fn next_prev_tid(&self) -> u32 {
        word::halves(self.0.fixed()[1])[1]
    }
}
