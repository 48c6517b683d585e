//! Statistics of calls by thread and number.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{Syscall, SyscallStats};

/// Limit of the different calls of a thread with statistics by number. Every architecture has fewer
/// calls.
const MAX_CALLS: usize = 1024;

/// Statistics of the calls of each thread, as `strace -c` and `perf trace -s` print them.
///
/// Only calls that returned have statistics; [`unfinished`](Self::unfinished) is the number of the
/// others. Memory is bounded: threads beyond the capacity share one sum, and a thread that tries
/// more numbers than the kernel has gets the rest as number -1.
///
/// ```
/// use perf_tracepoint::{Syscall, SyscallEnd, SyscallEnter, SyscallSummary};
///
/// let mut summary = SyscallSummary::new();
/// let enter = Some(SyscallEnter { time: 100, args: [0; 6] });
/// let end = SyscallEnd::Returned { time: 350, result: -2 };
/// summary.add(&Syscall { pid: 7, tid: 7, number: 39, enter, end });
/// let (number, stats) = summary.of_thread(Some(7))[0];
/// assert_eq!((number, stats.calls, stats.errors, stats.total), (39, 1, 1, 250));
/// assert_eq!(summary.total(), summary.of_thread(Some(7)));
/// ```
#[derive(Clone, Debug)]
pub struct SyscallSummary {
    /// Statistics by number for each thread; `None` is the sum of the threads beyond the capacity.
    threads: HashMap<Option<u32>, HashMap<i64, SyscallStats>>,
    capacity: usize,
    unfinished: u64,
}

impl Default for SyscallSummary {
    fn default() -> Self {
        Self::new()
    }
}

impl SyscallSummary {
    /// Returns a summary of up to 4096 threads, which takes less than 40 MB if each makes 64
    /// different calls.
    pub fn new() -> Self {
        Self::with_capacity(4096)
    }

    /// Returns a summary of up to `threads` threads. With 0, all calls are summed for the thread
    /// `None`.
    pub fn with_capacity(threads: usize) -> Self {
        Self { threads: HashMap::new(), capacity: threads, unfinished: 0 }
    }

    /// Adds a call.
    pub fn add(&mut self, call: &Syscall) {
        if call.result().is_none() {
            self.unfinished += 1;
            return;
        }
        let named = self.threads.len() - usize::from(self.threads.contains_key(&None));
        let has_space = named < self.capacity || self.threads.contains_key(&Some(call.tid));
        let thread = self.threads.entry(has_space.then_some(call.tid)).or_default();
        let is_full = thread.len() >= MAX_CALLS && !thread.contains_key(&call.number);
        let number = if is_full { -1 } else { call.number };
        thread.entry(number).or_default().add(call.duration(), call.error().is_some());
    }

    /// Returns the threads with the number of their calls, the most first; `None` stands for the
    /// threads beyond the capacity.
    pub fn threads(&self) -> Vec<(Option<u32>, u64)> {
        let calls = |rows: &HashMap<i64, SyscallStats>| rows.values().map(|stats| stats.calls).sum::<u64>();
        let mut threads: Vec<_> = self.threads.iter().map(|(thread, rows)| (*thread, calls(rows))).collect();
        threads.sort_unstable_by_key(|(thread, calls)| (Reverse(*calls), *thread));
        threads
    }

    /// Returns the statistics of a thread by the number of the call, the longest total first.
    pub fn of_thread(&self, thread: Option<u32>) -> Vec<(i64, SyscallStats)> {
        by_time(self.threads.get(&thread).cloned().unwrap_or_default())
    }

    /// Returns the statistics of all threads by the number of the call, the longest total first.
    pub fn total(&self) -> Vec<(i64, SyscallStats)> {
        let mut total: HashMap<i64, SyscallStats> = HashMap::new();
        for (number, stats) in self.threads.values().flatten() {
            total.entry(*number).or_default().merge(stats);
        }
        by_time(total)
    }

    /// Returns the number of added calls that had not returned, or whose return was not seen.
    pub const fn unfinished(&self) -> u64 {
        self.unfinished
    }
}

fn by_time(rows: HashMap<i64, SyscallStats>) -> Vec<(i64, SyscallStats)> {
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_unstable_by_key(|(number, stats)| (Reverse((stats.total, stats.calls)), *number));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syscalls::{SyscallEnd, SyscallEnter};

    fn returned(tid: u32, number: i64, duration: u64) -> Syscall {
        let enter = Some(SyscallEnter { time: 100, args: [0; 6] });
        let end = SyscallEnd::Returned { time: 100 + duration, result: 0 };
        Syscall { pid: 1, tid, number, enter, end }
    }

    #[test]
    fn calls_of_threads_add_up_to_the_total() {
        let mut summary = SyscallSummary::new();
        for (tid, number, duration) in [(1, 0, 5), (2, 0, 7), (2, 1, 100), (1, 0, 1)] {
            summary.add(&returned(tid, number, duration));
        }
        summary.add(&Syscall { end: SyscallEnd::Lost, ..returned(1, 0, 0) });
        assert_eq!(summary.threads(), [(Some(1), 2), (Some(2), 2)]);
        let totals: Vec<_> = summary.total().iter().map(|(number, stats)| (*number, stats.total)).collect();
        assert_eq!((totals, summary.unfinished()), (vec![(1, 100), (0, 13)], 1));
        assert_eq!(summary.of_thread(Some(1))[0].1.calls, 2);
        assert!(summary.of_thread(Some(3)).is_empty());
    }

    #[test]
    fn numbers_that_no_kernel_has_are_summed_up() {
        let mut summary = SyscallSummary::new();
        (0..5000).for_each(|number| summary.add(&returned(1, number, 1)));
        let rows = summary.of_thread(Some(1));
        assert_eq!((rows.len(), rows[0].0, rows[0].1.calls), (MAX_CALLS + 1, -1, 5000 - MAX_CALLS as u64));
        assert_eq!(summary.threads(), [(Some(1), 5000)]);
    }

    #[test]
    fn threads_beyond_the_capacity_are_summed_up() {
        let mut summary = SyscallSummary::with_capacity(1);
        (1..=4).for_each(|tid| summary.add(&returned(tid, 0, 1)));
        summary.add(&returned(1, 0, 1));
        assert_eq!(summary.threads(), [(None, 3), (Some(1), 2)]);
        let mut total = SyscallSummary::with_capacity(0);
        (1..=4).for_each(|tid| total.add(&returned(tid, 0, 1)));
        assert_eq!(total.threads(), [(None, 4)]);
    }
}
