use core::fmt;

use perf_abi::Misc;

use crate::Result;
use crate::body::{Body, Parse};

/// The watched task was switched in or out, for task events with `context_switch`.
///
/// There is no body: who and when is in the trailer. Since Linux 4.3.
#[doc(alias = "PERF_RECORD_SWITCH")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Which way.
    pub direction: SwitchDirection,
}

/// Which way a task was switched: the misc bits of SWITCH and `SWITCH_CPU_WIDE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchDirection {
    /// Out of the CPU; otherwise in.
    pub out: bool,
    /// Out while it could have run on (since Linux 4.17).
    pub preempted: bool,
}

impl SwitchDirection {
    pub(super) fn new(misc: Misc) -> Self {
        let out = misc.contains(Misc::SWITCH_OUT);
        Self { out, preempted: out && misc.contains(Misc::SWITCH_OUT_PREEMPT) }
    }
}

impl Parse<'_> for Switch {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        Ok(Self { direction: SwitchDirection::new(body.misc) })
    }
}

impl fmt::Display for SwitchDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self { out: false, .. } => "IN",
            Self { preempted: false, .. } => "OUT",
            Self { preempted: true, .. } => "OUT preempt",
        })
    }
}

impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.direction.fmt(f)
    }
}
