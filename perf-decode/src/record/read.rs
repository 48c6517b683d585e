use core::fmt;

use crate::body::{Body, Parse};
use crate::display::Task;
use crate::{ReadValues, Result, word};

/// The counts of a child task that ended, for events with `inherit_stat`.
///
/// | word | field |
/// |---|---|
/// | 1 | `u32 pid, u32 tid` |
/// | 2.. | the counts, shaped by the event's `read_format` |
///
/// Since Linux 2.6.31.
#[doc(alias = "PERF_RECORD_READ")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read<'a> {
    /// Process that ended.
    pub pid: u32,
    /// Thread that ended.
    pub tid: u32,
    /// Its counts, and its group's if the format is for groups. The ids are the parent event's.
    pub values: ReadValues<'a>,
}

impl<'a> Parse<'a> for Read<'a> {
    #[inline(always)]
    fn parse(body: Body<'a>) -> Result<Self> {
        let (task, block) = body.head()?;
        let [pid, tid] = word::halves(task);
        let (values, _) = ReadValues::split(block, body.layout.read)?;
        Ok(Self { pid, tid, values })
    }
}

impl fmt::Display for Read<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}: {}", Task(self.pid), Task(self.tid), self.values)
    }
}
