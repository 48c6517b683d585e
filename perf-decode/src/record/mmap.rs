use core::fmt;

use perf_abi::Misc;
use zerocopy::FromBytes;

use crate::Result;
use crate::body::{Body, Parse};
use crate::display::{Task, Text};

/// A task mapped memory, for events with `mmap` (executable) or `mmap_data` (other) and not `mmap2`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u32 pid, u32 tid` |
/// | 2 | `u64 addr` |
/// | 3 | `u64 len` |
/// | 4 | `u64 pgoff` |
/// | 5.. | `char filename[]`, NUL-padded to a word |
///
/// Since Linux 2.6.31.
#[doc(alias = "PERF_RECORD_MMAP")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mmap<'a> {
    /// Process.
    pub pid: u32,
    /// Thread that made the mapping.
    pub tid: u32,
    /// First address.
    pub addr: u64,
    /// Length in bytes.
    pub len: u64,
    /// Offset in the file in bytes; of anonymous memory often the address.
    pub pgoff: u64,
    /// Whether the mapping is not executable.
    pub data: bool,
    /// Path, or a name such as `//anon`, `[heap]` or `[vdso]`. Raw bytes without the NUL, not UTF-8.
    pub filename: &'a [u8],
}

#[derive(FromBytes)]
#[repr(C)]
struct Head {
    pid: u32,
    tid: u32,
    addr: u64,
    len: u64,
    pgoff: u64,
}

impl<'a> Parse<'a> for Mmap<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let (Head { pid, tid, addr, len, pgoff }, name) = body.head()?;
        let data = body.misc.contains(Misc::MMAP_DATA);
        Ok(Self { pid, tid, addr, len, pgoff, data, filename: body.string(name, "filename")? })
    }
}

impl fmt::Display for Mmap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { addr, len, pgoff, data, filename, .. } = *self;
        let (pid, tid) = (Task(self.pid), Task(self.tid));
        let kind = if data { 'r' } else { 'x' };
        write!(f, "{pid}/{tid}: [{addr:#x}({len:#x}) @ {pgoff:#x}]: {kind} {}", Text(filename))
    }
}
