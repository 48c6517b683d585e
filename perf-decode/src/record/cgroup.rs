use core::fmt;

use crate::Result;
use crate::body::{Body, Parse};
use crate::display::Text;

/// A control group was created, for events with `cgroup`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u64 id` |
/// | 2.. | `char path[]`, NUL-padded to a word |
///
/// Since Linux 5.7.
#[doc(alias = "PERF_RECORD_CGROUP")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cgroup<'a> {
    /// Inode number of its directory, and the value of CGROUP in samples.
    pub id: u64,
    /// Path from the root of the hierarchy. Raw bytes without the NUL, not UTF-8.
    pub path: &'a [u8],
}

impl<'a> Parse<'a> for Cgroup<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let (id, path) = body.head()?;
        Ok(Self { id, path: body.string(path, "path")? })
    }
}

impl fmt::Display for Cgroup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cgroup: {} {}", self.id, Text(self.path))
    }
}
