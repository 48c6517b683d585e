use core::fmt;

use perf_abi::Misc;
use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};
use crate::display::{Task, Text};

/// A thread got a new name, by exec or by prctl(2), for events with `comm`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u32 pid, u32 tid` |
/// | 2.. | `char comm[]`, NUL-padded to a word |
///
/// Since Linux 2.6.31; the exec mark since 3.16.
#[doc(alias = "PERF_RECORD_COMM")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comm<'a> {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Whether the name changed because the process runs another program now.
    pub exec: bool,
    /// The new name, at most 15 bytes. Raw bytes without the NUL, not UTF-8.
    pub comm: &'a [u8],
}

#[derive(FromBytes)]
#[repr(C)]
struct Head {
    pid: u32,
    tid: u32,
}

impl<'a> Parse<'a> for Comm<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let (Head { pid, tid }, name) = body.head()?;
        let exec = body.misc.contains(Misc::COMM_EXEC);
        Ok(Self { pid, tid, exec, comm: body.string(name, "comm")? })
    }
}

impl fmt::Display for Comm<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exec = if self.exec { "exec: " } else { "" };
        write!(f, "{exec}{}:{}/{}", Text(self.comm), Task(self.pid), Task(self.tid))
    }
}
