use core::fmt;

use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};
use crate::display::Task;

/// Instruction tracing of a thread started.
///
/// | word | field |
/// |---|---|
/// | 1 | `u32 pid, u32 tid` |
///
/// Since Linux 4.1.
#[doc(alias = "PERF_RECORD_ITRACE_START")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
pub struct ItraceStart {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
}

impl Parse<'_> for ItraceStart {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        body.fixed()
    }
}

impl fmt::Display for ItraceStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid: {} tid: {}", Task(self.pid), Task(self.tid))
    }
}
