//! The view of `SWITCH_CPU_WIDE` records.

use crate::layout::Layout;
use crate::record::SwitchDirection;

view! {
    /// A task was switched in or out of the CPU. Written for CPU events with `context_switch`.
    ///
    /// The task itself is in the trailer. Since Linux 4.3.
    #[doc(alias = "PERF_RECORD_SWITCH_CPU_WIDE")]
    SwitchCpuWide of SWITCH_CPU_WIDE {
        /// Returns the process of the other task, the next one of a switch out and the previous one
        /// of a switch in; `0xffffffff` if it has no id in the opener's pid namespace.
        next_prev_pid: u32,
        /// Returns the thread of the other task; 0 is the idle task.
        next_prev_tid: u32,
    } and direction
}

impl<L: Layout> SwitchCpuWide<'_, L> {
    /// Returns whether the task of the trailer was switched in or out.
    #[inline]
    pub fn direction(&self) -> SwitchDirection {
        SwitchDirection::new(self.misc())
    }
}
