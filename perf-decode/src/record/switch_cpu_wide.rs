use core::fmt;

use crate::body::{Body, Parse};
use crate::display::Task;
use crate::{Result, SwitchDirection, word};

/// A task was switched in or out of the watched CPU, for CPU events with `context_switch`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u32 next_prev_pid, u32 next_prev_tid` |
///
/// The task itself is in the trailer. Since Linux 4.3.
#[doc(alias = "PERF_RECORD_SWITCH_CPU_WIDE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCpuWide {
    /// Which way the task of the trailer went.
    pub direction: SwitchDirection,
    /// Process of the other task: the next if this one went out, the previous if it came in; `0xffffffff` if the
    /// opener's pid namespace does not see it.
    pub next_prev_pid: u32,
    /// Thread of the other task; 0 is the idle task.
    pub next_prev_tid: u32,
}

impl Parse<'_> for SwitchCpuWide {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        let [next_prev_pid, next_prev_tid] = word::halves(body.fixed()?);
        Ok(Self { direction: SwitchDirection::new(body.misc), next_prev_pid, next_prev_tid })
    }
}

impl fmt::Display for SwitchCpuWide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let other = if self.direction.out { "next" } else { "prev" };
        let (pid, tid) = (Task(self.next_prev_pid), Task(self.next_prev_tid));
        write!(f, "{} {other} pid/tid: {pid}/{tid}", self.direction)
    }
}
