//! The view of SWITCH records.

use perf_abi::Misc;

use crate::layout::Layout;

view! {
    /// The task was switched in or out. Written for task events with `context_switch`.
    ///
    /// The body is empty. The task and the time are in the trailer. Since Linux 4.3.
    #[doc(alias = "PERF_RECORD_SWITCH")]
    Switch of SWITCH {} and direction
}

impl<L: Layout> Switch<'_, L> {
    /// Returns whether the task was switched in or out.
    #[inline]
    pub fn direction(&self) -> SwitchDirection {
        SwitchDirection::new(self.misc())
    }
}

/// The direction of a context switch: the misc bits of SWITCH and `SWITCH_CPU_WIDE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchDirection {
    /// The task got the CPU.
    In,
    /// The task left the CPU.
    Out {
        /// It was still runnable (since Linux 4.17).
        preempted: bool,
    },
}

impl SwitchDirection {
    #[inline(always)]
    pub(super) fn new(misc: Misc) -> Self {
        if misc.contains(Misc::SWITCH_OUT) {
            Self::Out { preempted: misc.contains(Misc::SWITCH_OUT_PREEMPT) }
        } else {
            Self::In
        }
    }
}
