use core::fmt;

use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};
use crate::display::Task;

/// A thread or process was created, for events with `task`, `comm`, `mmap` or `mmap2`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u32 pid, u32 ppid` |
/// | 2 | `u32 tid, u32 ptid` |
/// | 3 | `u64 time` |
///
/// Since Linux 2.6.31.
#[doc(alias = "PERF_RECORD_FORK")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes)]
#[repr(C)]
pub struct Fork {
    /// Process of the new thread.
    pub pid: u32,
    /// Process of its creator: the same as `pid` for a new thread.
    pub ppid: u32,
    /// The new thread.
    pub tid: u32,
    /// Thread that created it.
    pub ptid: u32,
    /// Nanoseconds of the event's clock.
    pub time: u64,
}

impl Parse<'_> for Fork {
    #[inline(always)]
    fn parse(body: Body<'_>) -> Result<Self> {
        body.fixed()
    }
}

impl fmt::Display for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [pid, tid, ppid, ptid] = [self.pid, self.tid, self.ppid, self.ptid].map(Task);
        write!(f, "({pid}:{tid}):({ppid}:{ptid})")
    }
}
