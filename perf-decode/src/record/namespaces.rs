use core::fmt;

use perf_abi::{NamespaceIndex, NamespaceLink};
use zerocopy::FromBytes;

use crate::body::{Body, Parse};
use crate::display::Task;
use crate::{Result, word};

/// A task is in new namespaces, by fork, unshare(2) or setns(2), for events with `namespaces`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u32 pid, u32 tid` |
/// | 2 | `u64 nr_namespaces` |
/// | 3.. | `{ u64 dev, u64 inode }` for each |
///
/// Since Linux 4.12.
#[doc(alias = "PERF_RECORD_NAMESPACES")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespaces<'a> {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// One for each kind, in the order of [`NamespaceIndex`].
    pub namespaces: &'a [NamespaceLink],
}

#[derive(FromBytes)]
#[repr(C)]
struct Head {
    pid: u32,
    tid: u32,
    nr: u64,
}

impl<'a> Parse<'a> for Namespaces<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let (Head { pid, tid, nr }, rest) = body.head()?;
        Ok(Self { pid, tid, namespaces: body.elements(word::bytes(rest), nr, "namespaces")? })
    }
}

impl fmt::Display for Namespaces<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{} nr {}", Task(self.pid), Task(self.tid), self.namespaces.len())?;
        for (index, NamespaceLink { dev, inode }) in (0..).zip(self.namespaces) {
            write!(f, " {}: {dev}/{inode:#x}", NamespaceIndex(index))?;
        }
        Ok(())
    }
}
