//! The parts of each thread's time, one after another.

use std::mem;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::collect::Gaps;

/// A part of the time of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// Process id of the thread.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The start, in ns of the events' clock.
    pub start: u64,
    /// The end, in ns of the events' clock.
    pub end: u64,
    /// The state of the thread.
    pub kind: SpanKind,
}

/// The state of a thread in a [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpanKind {
    /// It was on a CPU.
    Running,
    /// It waited in a wait that [`ThreadSpans::wait`] got.
    Wait,
    /// It was off the CPU since before the recording.
    WaitsFromStart,
    /// Records were lost.
    Lost,
}

/// Divides the time of each thread, from its start to its end within a recording, into spans
/// without gaps or overlaps: their sum is the time.
///
/// Call its methods in time order, for example beside [`Waits`](crate::Waits), and take the
/// [spans](Self::take) that each call completes. Memory grows with the threads.
///
/// ```
/// use perf_profile::{Gaps, SpanKind, ThreadSpans};
///
/// let mut threads = ThreadSpans::new(Gaps::new());
/// threads.begin(7, 8, 1000);
/// threads.switch_in(7, 8, 1500);
/// threads.wait(7, 8, 1700, 1900);
/// threads.exit(7, 8, 2000, false);
/// let spans: Vec<_> = threads.take().iter().map(|span| (span.kind, span.end - span.start)).collect();
/// let (before, running, wait) = (SpanKind::WaitsFromStart, SpanKind::Running, SpanKind::Wait);
/// assert_eq!(spans, [(before, 500), (running, 200), (wait, 200), (running, 100)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ThreadSpans {
    threads: FxHashMap<u32, Thread>,
    /// Threads that are exiting: they still run, and write records.
    exited: FxHashSet<u32>,
    /// Start and end of the intervals in which records were lost, in ns, sorted and disjoint.
    gaps: Vec<(u64, u64)>,
    spans: Vec<Span>,
}

/// A thread whose time has begun.
#[derive(Clone, Copy, Debug)]
struct Thread {
    pid: u32,
    /// The end of its last span, in ns.
    seen: u64,
    state: State,
    /// Whether it wrote a record. Other new threads may not belong to the recording.
    is_recorded: bool,
}

/// Knowledge about a thread since the end of its last span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It began before the recording: its next record shows whether it ran.
    Unseen,
    /// It runs, or is in a wait that has not ended.
    Known,
    /// Records were lost.
    Lost,
}

impl ThreadSpans {
    /// Creates it before the first record, with the times of losses; the default if they are
    /// unknown.
    pub fn new(gaps: Gaps) -> Self {
        Self { gaps: gaps.into_intervals(), ..Self::default() }
    }

    /// Begins the time of a thread that the recording observes from `time` on, and that existed
    /// before.
    pub fn begin(&mut self, pid: u32, tid: u32, time: u64) {
        self.exited.remove(&tid);
        self.add(pid, tid, time, State::Unseen, true);
    }

    /// Begins the time of a new thread. Pass its wait for the first run, too.
    pub fn fork(&mut self, pid: u32, tid: u32, time: u64) {
        // The id is reused, and the exit may be lost.
        self.threads.remove(&tid);
        self.exited.remove(&tid);
        self.add(pid, tid, time, State::Known, false);
    }

    /// Notes that a thread runs, by a record that it wrote: its time begins there if it has not.
    pub fn runs(&mut self, pid: u32, tid: u32, time: u64) {
        if self.exited.contains(&tid) {
            return;
        }
        let kind = match self.add(pid, tid, time, State::Known, true).state {
            // It has run all the time.
            State::Unseen | State::Known => SpanKind::Running,
            State::Lost => SpanKind::Lost,
        };
        self.end_span(tid, time, kind);
    }

    /// Notes that a thread got a CPU, and that no wait is known that this ends.
    pub fn switch_in(&mut self, pid: u32, tid: u32, time: u64) {
        self.exited.remove(&tid);
        let kind = match self.add(pid, tid, time, State::Known, true).state {
            State::Unseen => SpanKind::WaitsFromStart,
            State::Known | State::Lost => SpanKind::Lost,
        };
        self.end_span(tid, time, kind);
    }

    /// Notes a wait from the switch-out to the next run, or to the end of the recording. Returns
    /// the part of it that is a span; the start and the end differ if records disagree.
    pub fn wait(&mut self, pid: u32, tid: u32, start: u64, end: u64) -> (u64, u64) {
        self.exited.remove(&tid);
        let state = self.add(pid, tid, start, State::Known, true).state;
        let before = if state == State::Lost { SpanKind::Lost } else { SpanKind::Running };
        let from = self.end_span(tid, start, before);
        (from, self.end_span(tid, end, SpanKind::Wait))
    }

    /// Ends the time of a thread. Set `is_waiting` if a wait is open, whose end was lost.
    pub fn exit(&mut self, pid: u32, tid: u32, time: u64, is_waiting: bool) {
        if let Some(thread) = self.threads.get_mut(&tid).filter(|_| is_waiting) {
            thread.state = State::Lost;
        }
        self.runs(pid, tid, time);
        self.threads.remove(&tid);
        self.exited.insert(tid);
    }

    /// Notes that records were lost at an unknown time.
    pub fn lose(&mut self) {
        self.threads.values_mut().for_each(|thread| thread.state = State::Lost);
    }

    /// Ends the time of all threads with the recording, after the waits that have not ended. A
    /// thread from the start that wrote no record is in `WaitsFromStart`.
    pub fn finish(&mut self, end: u64) {
        let mut threads: Vec<_> = mem::take(&mut self.threads).into_iter().collect();
        threads.sort_unstable_by_key(|&(tid, _)| tid);
        for (tid, thread) in threads.into_iter().filter(|(_, thread)| thread.is_recorded) {
            self.threads.insert(tid, thread);
            let kind = match thread.state {
                State::Unseen => SpanKind::WaitsFromStart,
                State::Known => SpanKind::Running,
                State::Lost => SpanKind::Lost,
            };
            self.end_span(tid, end, kind);
        }
    }

    /// Takes the spans that were completed since the last call, the spans of a thread in the order
    /// of their times.
    pub fn take(&mut self) -> Vec<Span> {
        mem::take(&mut self.spans)
    }

    fn add(&mut self, pid: u32, tid: u32, time: u64, state: State, is_recorded: bool) -> Thread {
        let thread = self.threads.entry(tid).or_insert(Thread { pid, seen: time, state, is_recorded });
        thread.is_recorded |= is_recorded;
        *thread
    }

    /// Adds a span from the end of the last one. Returns the end, which is no earlier than the
    /// start.
    fn end_span(&mut self, tid: u32, time: u64, kind: SpanKind) -> u64 {
        let Some(thread) = self.threads.get_mut(&tid) else { return time };
        let (pid, start) = (thread.pid, thread.seen);
        let end = time.max(start);
        (thread.seen, thread.state) = (end, State::Known);
        let mut push = |start, end, kind| {
            if start < end {
                self.spans.push(Span { pid, tid, start, end, kind });
            }
        };
        if kind != SpanKind::Running {
            push(start, end, kind);
            return end;
        }
        // A wait may have been in a gap.
        let mut from = start;
        let first = self.gaps.partition_point(|&(_, gap_end)| gap_end <= start);
        for &(gap, gap_end) in self.gaps.iter().skip(first).take_while(|&&(gap, _)| gap < end) {
            let (gap, gap_end) = (gap.max(from), gap_end.min(end));
            push(from, gap, SpanKind::Running);
            push(gap, gap_end, SpanKind::Lost);
            from = gap_end;
        }
        push(from, end, SpanKind::Running);
        end
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(spans: &[Span]) -> Vec<(SpanKind, u64, u64)> {
        spans.iter().map(|span| (span.kind, span.start, span.end)).collect()
    }

    #[test]
    fn thread_without_a_record_waits_from_the_start() {
        let mut threads = ThreadSpans::new(Gaps::new());
        threads.begin(1, 2, 100);
        threads.finish(500);
        assert_eq!(kinds(&threads.take()), [(SpanKind::WaitsFromStart, 100, 500)]);
    }

    #[test]
    fn thread_whose_first_record_is_a_switch_out_has_run_before() {
        let mut threads = ThreadSpans::new(Gaps::new());
        threads.begin(1, 2, 100);
        threads.wait(1, 2, 300, 400);
        threads.finish(500);
        let expected =
            [(SpanKind::Running, 100, 300), (SpanKind::Wait, 300, 400), (SpanKind::Running, 400, 500)];
        assert_eq!(kinds(&threads.take()), expected);
    }

    #[test]
    fn time_in_a_gap_is_not_known_to_be_running() {
        let mut threads = ThreadSpans { gaps: vec![(150, 250), (450, 700)], ..ThreadSpans::default() };
        threads.runs(1, 2, 100);
        threads.runs(1, 2, 200);
        threads.finish(500);
        let expected = [
            (SpanKind::Running, 100, 150),
            (SpanKind::Lost, 150, 200),
            (SpanKind::Lost, 200, 250),
            (SpanKind::Running, 250, 450),
            (SpanKind::Lost, 450, 500),
        ];
        assert_eq!(kinds(&threads.take()), expected);
    }

    #[test]
    fn new_thread_that_writes_no_record_may_not_be_recorded() {
        let mut threads = ThreadSpans::new(Gaps::new());
        threads.fork(1, 2, 100);
        threads.finish(500);
        assert_eq!(threads.take(), []);
    }

    proptest! {
        /// Whatever records come, in whatever order, the spans of a thread follow each other from
        /// its start to its end.
        #[test]
        fn spans_of_a_thread_sum_up_to_its_time(
            steps in prop::collection::vec((0u8..7, 1u32..4, 0u64..50, 0u64..50), 0..60),
            gaps in prop::collection::vec((0u64..900, 1u64..40), 0..3),
        ) {
            let mut intervals: Vec<(u64, u64)> = Vec::new();
            for (start, len) in gaps {
                if intervals.iter().all(|&(a, b)| start + len < a || start > b) {
                    intervals.push((start, start + len));
                }
            }
            intervals.sort_unstable();
            let mut threads = ThreadSpans { gaps: intervals, ..ThreadSpans::default() };
            let mut time = 0;
            // Start of each thread that lives, and the sum of the times of those that ended.
            let (mut starts, mut expected) = (std::collections::BTreeMap::new(), 0);
            for (step, tid, delay, length) in steps {
                time += delay;
                let was = starts.get(&tid).copied();
                match step {
                    0 if threads.exited.contains(&tid) => {
                        threads.runs(1, tid, time);
                        continue;
                    }
                    0 => threads.runs(1, tid, time),
                    1 => threads.switch_in(1, tid, time),
                    2 => {
                        threads.wait(1, tid, time, time + length);
                        starts.entry(tid).or_insert(time);
                        time += length;
                    }
                    3 => {
                        threads.exit(1, tid, time, length % 2 == 0);
                        expected += time - was.unwrap_or(time);
                        starts.remove(&tid);
                        continue;
                    }
                    4 => threads.lose(),
                    5 if was.is_none() => threads.begin(1, tid, time),
                    _ => continue,
                }
                if step != 4 {
                    starts.entry(tid).or_insert(time);
                }
            }
            time += 10;
            threads.finish(time);
            expected += starts.values().map(|start| time - start).sum::<u64>();
            let spans = threads.take();
            prop_assert_eq!(spans.iter().map(|span| span.end - span.start).sum::<u64>(), expected);
            for tid in 1..4 {
                let own: Vec<_> = spans.iter().filter(|span| span.tid == tid).collect();
                prop_assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].start), "{own:?}");
            }
        }
    }
}
