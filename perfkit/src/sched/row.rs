//! The threads that are printed, sorted.

use std::cmp::Reverse;
use std::os::unix::ffi::OsStrExt as _;

use perf_profile::read::ReadSched;
use perf_profile::{SchedThread, ThreadState};

use super::{Options, Sort};

/// A thread.
#[derive(Clone, Debug)]
pub(super) struct Row<'s> {
    pub(super) tid: u32,
    /// The name, `:TID` without one.
    pub(super) name: String,
    pub(super) thread: &'s SchedThread,
}

impl Row<'_> {
    /// Returns how long the thread waited for a CPU at the end of the recording, in ns; `None` if it
    /// did not.
    pub(super) fn ready_for(&self, end: u64) -> Option<u64> {
        match self.thread.state {
            ThreadState::Ready(since) => Some(end.saturating_sub(since)),
            _ => None,
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an average has no sign")]
    fn key(&self, sort: Sort) -> u64 {
        let SchedThread { waits, sleeps, .. } = self.thread;
        match sort {
            Sort::Wait => waits.total(),
            Sort::Avg => waits.mean().unwrap_or(0.0) as u64,
            Sort::P99 => waits.quantile(0.99).unwrap_or(0),
            Sort::Max => waits.max(),
            Sort::Runs => self.thread.runs,
            Sort::Run => self.thread.runtime,
            Sort::Sleep => sleeps.total(),
            Sort::Migrations => self.thread.migrations,
        }
    }
}

/// Returns the threads that the user chooses, the largest value first.
pub(super) fn rows<'s>(read: &'s ReadSched, options: &Options) -> Vec<Row<'s>> {
    let is_chosen = |ids: &[u32], id: Option<u32>| ids.is_empty() || id.is_some_and(|id| ids.contains(&id));
    // A live recording of tasks has these tasks, and those that they start.
    let has_ids = !options.is_live();
    let threads = read.summary.threads().filter(|&(tid, thread)| {
        let by_ids = is_chosen(&options.pid, thread.pid) && is_chosen(&options.tid, Some(tid));
        let by_name =
            options.comm.is_empty() || options.comm.iter().any(|name| name.as_bytes() == thread.comm);
        (by_ids || !has_ids) && by_name
    });
    let mut rows: Vec<_> = threads
        .map(|(tid, thread)| {
            let name = match &thread.comm[..] {
                [] => format!(":{tid}"),
                comm => String::from_utf8_lossy(comm).into_owned(),
            };
            Row { tid, name, thread }
        })
        .collect();
    rows.sort_by_cached_key(|row| (Reverse(row.key(options.sort)), row.tid));
    rows
}
