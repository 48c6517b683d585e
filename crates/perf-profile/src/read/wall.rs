//! Computes the whole time of threads for a profile.

use std::ops::RangeInclusive;

use perf_abi::{Attr, AttrFlags, EventType, Software};
use perf_decode::{Layout, Record, Sample, SwitchDirection};
use rustc_hash::FxHashMap;

use super::off_cpu::frames_of;
use super::{Filter, Metadata, RecordedThreads};
use crate::collect::{Collector, CountedTimes, Gaps, SpanKind, ThreadSpans, Wait, WaitReason, WallTime};
use crate::profile::{EventId, Profile, StackId};

/// The frame of a thread that waits for its first run.
const NEW: &str = "[new thread]";

/// The events of a recording that show where threads run.
pub(super) struct WallPlan {
    /// For each event of the file that counts while a thread runs, whether it excludes the kernel.
    events: Vec<Option<bool>>,
}

/// The whole time of threads, while a recording is read.
pub(super) struct Wall {
    spans: ThreadSpans,
    time: WallTime,
    /// The event that shows where threads run: its index in the file, and in the profile.
    on_cpu: Option<(usize, EventId)>,
    /// Whether it excludes the kernel.
    is_user_only: bool,
    /// The time of the first record, in ns.
    first: Option<u64>,
    /// For each thread that was there at the start, the frames of its wait, outermost first, none
    /// if it did not wait; and whether it ran later.
    at_start: FxHashMap<u32, (Vec<String>, bool)>,
    /// Times of threads on a CPU and without one, as the kernel counted them. Threads that exited
    /// or are new are missing.
    counted: Vec<CountedTimes>,
    /// When the states at the start were read, in ns; 0 without them.
    start: u64,
    /// Whether the wakeups of all threads are known.
    has_wakeups: bool,
    /// Whether all records were read.
    is_finished: bool,
    /// Whether the times of losses are known. Otherwise a loss is noted when it is reported.
    knows_gaps: bool,
}

impl WallPlan {
    pub(super) fn new(about: &Metadata) -> Self {
        let events = about
            .events()
            .map(|(_, attr)| is_of_running(attr).then_some(attr.flags.contains(AttrFlags::EXCLUDE_KERNEL)));
        Self { events: events.collect() }
    }

    /// Adds the event to a profile, which has the `events` of the file, of which some are chosen.
    pub(super) fn start(
        self,
        collector: &mut Collector,
        events: &[Option<EventId>],
        is_chosen: &[bool],
        gaps: Option<Gaps>,
    ) -> Wall {
        let candidates = || {
            let events = self.events.iter().zip(events).enumerate();
            events.filter_map(|(index, (is_user_only, event))| Some((index, (*is_user_only)?, (*event)?)))
        };
        let is_chosen = |index: usize| is_chosen.get(index) == Some(&true);
        let chosen = candidates().find(|&(index, ..)| is_chosen(index)).or_else(|| candidates().next());
        let knows_gaps = gaps.is_some();
        Wall {
            spans: ThreadSpans::new(gaps.unwrap_or_default()),
            time: WallTime::new(collector),
            on_cpu: chosen.map(|(index, _, event)| (index, event)),
            is_user_only: chosen.is_some_and(|(_, is_user_only, _)| is_user_only),
            first: None,
            at_start: FxHashMap::default(),
            counted: Vec::new(),
            start: 0,
            has_wakeups: false,
            is_finished: false,
            knows_gaps,
        }
    }
}

/// Returns whether an event counts while a thread runs, in proportion to the time.
fn is_of_running(attr: &Attr) -> bool {
    let clocks = [Software::CPU_CLOCK.0, Software::TASK_CLOCK.0];
    match attr.kind {
        EventType::SOFTWARE => clocks.contains(&attr.config),
        EventType::TRACEPOINT | EventType::BREAKPOINT => false,
        _ => true,
    }
}

/// Returns whether an id identifies a thread: 0 is the idle thread of a CPU, and -1 is a thread
/// outside of the recorder's pid namespace.
fn is_thread(tid: u32) -> bool {
    tid != 0 && tid != u32::MAX
}

impl Wall {
    /// Begins the time of the threads that are there at the start.
    pub(super) fn begin(&mut self, threads: &RecordedThreads) {
        self.start = threads.start;
        for thread in &threads.threads {
            self.spans.begin(thread.pid, thread.tid, threads.start);
            let frames = if thread.is_waiting() { frames_of(thread) } else { Vec::new() };
            self.at_start.insert(thread.tid, (frames, thread.has_run()));
            self.counted.extend(thread.times.map(|times| ((thread.pid, thread.tid), times)));
        }
    }

    /// Applies a record, after the waits. `has_wait` is set if it ends a wait, and `was_waiting` if
    /// its thread exits in a wait.
    pub(super) fn update<L: Layout>(
        &mut self,
        record: &Record<'_, L>,
        has_wait: bool,
        was_waiting: bool,
        collector: &mut Collector,
        filter: &Filter,
    ) {
        // Synthesized records have no time.
        let Some(time) = record.time().filter(|time| *time > 0) else { return };
        let first = *self.first.get_or_insert(time);
        match record {
            Record::Comm(comm) if comm.exec() => self.spans.runs(comm.pid(), comm.tid(), time),
            Record::Fork(fork) => self.spans.fork(fork.pid(), fork.tid(), time),
            Record::Exit(exit) => self.spans.exit(exit.pid(), exit.tid(), time, was_waiting),
            Record::Lost(_) | Record::LostSamples(_) if !self.knows_gaps => self.spans.lose(),
            Record::Switch(switch) if !has_wait && switch.direction() == SwitchDirection::In => {
                let id = switch.sample_id();
                self.switch_in(id.pid(), id.tid(), first, time);
            }
            Record::SwitchCpuWide(switch) if !has_wait && switch.direction() == SwitchDirection::In => {
                let id = switch.sample_id();
                self.switch_in(id.pid(), id.tid(), first, time);
            }
            _ => return,
        }
        self.add_spans(None, collector, filter);
    }

    fn switch_in(&mut self, pid: Option<u32>, tid: Option<u32>, first: u64, time: u64) {
        if let (Some(pid), Some(tid)) = (pid, tid.filter(|&tid| is_thread(tid))) {
            // A thread without a start was there before.
            self.spans.begin(pid, tid, first);
            self.spans.switch_in(pid, tid, time);
        }
    }

    /// Adds a sample of an event that is no switch.
    pub(super) fn add_sample<L: Layout>(
        &mut self,
        index: usize,
        sample: &Sample<'_, L>,
        collector: &mut Collector,
        filter: &Filter,
    ) {
        let Some((_, event)) = self.on_cpu.filter(|(on_cpu, _)| *on_cpu == index) else { return };
        let (Some(pid), Some(tid), Some(time)) = (sample.pid(), sample.tid(), sample.time()) else { return };
        if !is_thread(tid) {
            return;
        }
        self.spans.runs(pid, tid, time);
        self.add_spans(None, collector, filter);
        let is_wanted = filter.by_time(time)
            && filter.by_ids(Some(pid), Some(tid), None)
            && filter.by_thread(collector.spaces(), tid);
        if is_wanted {
            let is_shown = filter.by_object(collector.spaces(), sample);
            collector.add(if is_shown { event } else { self.time.left_out() }, sample);
        }
    }

    /// Adds a wait.
    pub(super) fn add_wait(
        &mut self,
        wait: &Wait<Option<StackId>>,
        has_wakeups: bool,
        collector: &mut Collector,
        filter: &Filter,
    ) {
        let (start, end) = self.spans.wait(wait.pid, wait.tid, wait.start, wait.end);
        // If only some wakeups are known, the time cannot be split.
        let blocked = if has_wakeups || wait.is_runnable() { wait.blocked() } else { wait.duration() };
        let woken = wait.start.saturating_add(blocked).clamp(start, end);
        self.has_wakeups = has_wakeups;
        self.add_spans(Some((wait, woken)), collector, filter);
    }

    /// Adds the spans since the last call, of which the last may be a wait until a thread was
    /// woken.
    fn add_spans(
        &mut self,
        wait: Option<(&Wait<Option<StackId>>, u64)>,
        collector: &mut Collector,
        filter: &Filter,
    ) {
        for span in self.spans.take() {
            let is_wanted = filter.by_ids(Some(span.pid), Some(span.tid), None)
                && filter.by_thread(collector.spaces(), span.tid);
            let ns = overlap(filter.times.as_deref(), span.start, span.end);
            if !is_wanted || ns == 0 {
                continue;
            }
            let ids = (span.pid, span.tid);
            match (span.kind, wait) {
                (SpanKind::Running, _) => self.time.add_running(collector, ids, ns),
                (SpanKind::Wait, Some((wait, _))) if wait.reason == WaitReason::New => {
                    let frames = [NEW, WallTime::READY];
                    self.time.add_labelled(collector, ids, span.start, ns, &frames);
                }
                (SpanKind::Wait, Some((wait, woken))) if wait.waiter.is_some() || !filter.needs_dso() => {
                    let blocked = overlap(filter.times.as_deref(), span.start, woken);
                    let has_wakeups = self.has_wakeups;
                    self.time.add_wait(collector, wait, blocked, ns.saturating_sub(blocked), has_wakeups);
                }
                (SpanKind::Wait, _) => {}
                (SpanKind::Lost, _) => {
                    self.time.add_labelled(collector, ids, span.start, ns, &[WallTime::LOST]);
                }
                (SpanKind::WaitsFromStart, _) => {
                    let frames = self.at_start.get(&span.tid);
                    let frames: Vec<&str> = match frames {
                        // It ran or was ready, and no record shows when.
                        Some((frames, has_run)) if self.is_finished && (*has_run || frames.is_empty()) => {
                            vec![WallTime::UNKNOWN]
                        }
                        // It did not run until the switch that ends the span.
                        Some((frames, _)) if frames.is_empty() => vec![WallTime::READY],
                        Some((frames, _)) => frames.iter().map(String::as_str).collect(),
                        None => vec![WallTime::UNKNOWN_WAIT],
                    };
                    self.time.add_labelled(collector, ids, span.start, ns, &frames);
                }
            }
        }
    }

    /// Ends the time of all threads with the recording, after the waits that have not ended.
    pub(super) fn finish(
        &mut self,
        end: u64,
        has_wakeups: bool,
        collector: &mut Collector,
        filter: &Filter,
        notes: &mut Vec<String>,
    ) {
        self.is_finished = true;
        self.spans.finish(end);
        self.add_spans(None, collector, filter);
        self.has_wakeups = has_wakeups;
        for (ids, (running, ready)) in std::mem::take(&mut self.counted) {
            self.time.set_counted(ids, running, ready, end.saturating_sub(self.start));
        }
        if self.on_cpu.is_none() {
            notes.push(format!(
                "where threads ran is not known, because the recording has no samples of cycles or a clock: {}",
                WallTime::RUNNING
            ));
        } else if self.is_user_only {
            notes.push(
                "functions of the kernel were not recorded: the time in them is in the functions that were"
                    .to_owned(),
            );
        }
    }

    /// Returns whether the kernel's counts are known for any thread.
    pub(super) fn has_counts(&self) -> bool {
        !self.counted.is_empty()
    }

    /// Completes the finished profile.
    pub(super) fn complete(self, profile: &mut Profile) {
        self.time.finish(profile, self.on_cpu.map(|(_, event)| event), self.has_wakeups);
    }
}

/// Returns how many ns of a span are in any of the ranges.
pub(super) fn overlap(ranges: Option<&[RangeInclusive<u64>]>, start: u64, end: u64) -> u64 {
    let Some(ranges) = ranges else { return end.saturating_sub(start) };
    let mut parts: Vec<_> = ranges
        .iter()
        .map(|range| (start.max(*range.start()), end.min(range.end().saturating_add(1))))
        .filter(|(start, end)| start < end)
        .collect();
    parts.sort_unstable();
    let (mut sum, mut seen) = (0, start);
    for (start, end) in parts {
        sum += end.saturating_sub(start.max(seen));
        seen = seen.max(end);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_in_overlapping_ranges_counts_once() {
        assert_eq!(overlap(None, 10, 30), 20);
        assert_eq!(overlap(Some(&[]), 10, 30), 0);
        assert_eq!(overlap(Some(&[0..=14, 12..=19, 25..=99]), 10, 30), 15);
        assert_eq!(overlap(Some(&[40..=50, 0..=9]), 10, 30), 0);
    }
}
