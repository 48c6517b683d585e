//! Computes the off-CPU time of threads for a profile.

use std::error::Error;
use std::{fmt, io};

use perf_abi::{Attr, AttrFlags};
use perf_decode::{Layout, Record, Sample};
use rustc_hash::FxHashSet;

use super::wall::{Wall, WallPlan};
use super::{Filter, RecordedThread, RecordedThreads, Recording};
use crate::collect::{
    Collector, CountedTimes, Gaps, OffCpuEvents, SwitchEvent, Wait, Waits, WallTime, correct_waits,
};
use crate::profile::{EventId, Profile, StackId};

/// The reason why the waits of threads are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OffCpuError {
    /// The recording has no switches.
    NoSwitches,
    /// The recording has no stacks of wakers.
    NoWakers,
    /// The recording shows where threads leave a CPU, but not where they run again.
    NoEnds,
    /// The recording has no records of the switches of all threads.
    NoSwitchRecords,
    /// A filter selects CPUs, but the wall time of a thread is of no CPU.
    OfCpu,
}

/// Note about waits without an end.
const FEW_ENDS: &str = "where threads run again is known only where another recorded thread leaves the CPU; record with -a or \
     --switch-events, or by `perfkit record --off-cpu`";

impl fmt::Display for OffCpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSwitches => {
                f.write_str("the recording has no switches of threads; make it by `perfkit record --off-cpu`")
            }
            Self::NoWakers => {
                f.write_str("the recording has no wakers; make it by `perfkit record --off-cpu --wakers`")
            }
            Self::NoEnds => write!(f, "no wait has a known end: {FEW_ENDS}"),
            Self::NoSwitchRecords => {
                f.write_str("the recording has no records of switches; make it by `perfkit record --wall`")
            }
            Self::OfCpu => {
                f.write_str("the time of a thread that waits is of no CPU, so CPUs cannot be chosen")
            }
        }
    }
}

impl Error for OffCpuError {}

impl From<OffCpuError> for io::Error {
    fn from(error: OffCpuError) -> Self {
        Self::other(error)
    }
}

/// The events of a recording from which waits are computed.
pub(super) struct OffCpuPlan {
    /// Kind of each event, by its index in the file.
    switches: Vec<Option<SwitchEvent>>,
    wakeups: Wakeups,
    has_wakers: bool,
    /// Whether all switch-ins are recorded. Otherwise a switch-in is known only where another
    /// recorded thread leaves the CPU.
    has_switch_ins: bool,
    /// Times of losses; `None` for a pipe, which cannot be read twice.
    gaps: Option<Gaps>,
    /// End of the recording in ns; 0 if unknown.
    end: u64,
    /// The threads that were there at the start.
    threads: Option<RecordedThreads>,
    /// Set for the whole time of threads, in place of waits.
    wall: Option<WallPlan>,
}

/// The part that completes a finished profile.
pub(super) enum Finished {
    /// For each event of the file, whether its samples became waits.
    Waits(Vec<bool>, Option<Correction>),
    WallTime(Box<Wall>),
}

/// Times of threads as the kernel counted them, for the correction of their waits.
pub(super) struct Correction {
    events: OffCpuEvents,
    counted: Vec<CountedTimes>,
    /// The whole time of each thread, in ns.
    whole: u64,
}

impl Correction {
    pub(super) fn apply(&self, profile: &mut Profile) {
        let events = [self.events.blocked, self.events.runnable];
        correct_waits(profile, events, &self.counted, self.whole);
    }
}

/// Completeness of the recorded wakeups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wakeups {
    None,
    /// At least the wakeups by recorded threads.
    Some,
    All,
}

/// The waits of a recording, while it is read.
pub(super) struct OffCpu {
    waits: Waits<Option<StackId>>,
    output: Output,
    switches: Vec<Option<SwitchEvent>>,
    wakeups: Wakeups,
    has_wakers: bool,
    has_switch_ins: bool,
    /// Number of waits that ended.
    ended: u64,
    /// Whether records were lost.
    has_lost: bool,
    /// Whether the times of all losses are known. In a pipe, which cannot be read twice, each loss
    /// is known too late.
    knows_gaps: bool,
    end: u64,
    /// The threads that were there at the start.
    threads: Option<RecordedThreads>,
    /// Threads that ran at any time in the recording.
    switched: FxHashSet<u32>,
}

/// The form of the waits in the profile.
enum Output {
    OffCpu(OffCpuEvents),
    Wall(Box<Wall>),
}

impl OffCpuPlan {
    /// Finds the events of waits in a recording. Returns `None` if the recorder has computed the
    /// waits, as the perf tool does by BPF.
    ///
    /// # Errors
    ///
    /// [`OffCpuError::NoSwitches`] or [`OffCpuError::NoWakers`] as the inner error if the recording
    /// lacks them, or [`io::Error`] if it cannot be read again.
    pub(super) fn new(recording: &Recording, has_wakers: bool) -> io::Result<Option<Self>> {
        let about = recording.metadata();
        if !has_wakers && about.events().any(|(name, _)| name == OffCpuEvents::BLOCKED) {
            return Ok(None);
        }
        let tracepoints = about.tracepoints();
        let mut switches: Vec<_> =
            about.events().map(|(_, attr)| SwitchEvent::new(attr, tracepoints.find(attr))).collect();
        let has_switch_records =
            about.events().any(|(_, attr)| attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
        if !has_switch_records && !switches.iter().flatten().any(SwitchEvent::has_switch_in) {
            return Err(OffCpuError::NoSwitches.into());
        }
        if has_wakers && !switches.iter().flatten().any(SwitchEvent::has_wakers) {
            return Err(OffCpuError::NoWakers.into());
        }
        // Keeps one event of each kind, because a switch is a sample of all of them.
        let mut known: Vec<SwitchEvent> = Vec::new();
        for switch in &mut switches {
            *switch = switch.filter(|event| !known.iter().any(|known| known.is_same_kind(event)));
            known.extend(*switch);
        }
        let look = Look::read(recording, &switches)?;
        // Only events of tasks can have the flag, but the perf tool sets it for CPUs, too.
        let is_of_cpus = |attr: &Attr| !attr.flags.contains(AttrFlags::INHERIT) || look.is_of_cpus;
        let wakeups = switches.iter().zip(about.events()).filter_map(|(switch, (_, attr))| {
            let is_wakeup = switch.as_ref().is_some_and(SwitchEvent::is_wakeup);
            is_wakeup.then(|| if is_of_cpus(attr) { Wakeups::All } else { Wakeups::Some })
        });
        let wakeups = wakeups.max().unwrap_or(Wakeups::None);
        let has_switch_ins = has_switch_records || look.is_of_cpus;
        let end = about.sample_time.map_or(0, |time| time.last);
        Ok(Some(OffCpuPlan {
            switches,
            wakeups,
            has_wakers,
            has_switch_ins,
            gaps: look.gaps,
            // Exact, unlike the end of the samples.
            end: about.threads.as_ref().map_or(end, |threads| threads.end),
            threads: about.threads.clone(),
            wall: None,
        }))
    }

    /// Finds the events of the whole time of threads in a recording.
    ///
    /// # Errors
    ///
    /// [`OffCpuError::NoSwitchRecords`] as the inner error if the recording lacks them, or
    /// [`io::Error`] if it cannot be read again.
    pub(super) fn of_wall_time(recording: &Recording) -> io::Result<Self> {
        let has_switches = |attr: &Attr| attr.flags.contains(AttrFlags::CONTEXT_SWITCH);
        if !recording.metadata().events().any(|(_, attr)| has_switches(attr)) {
            return Err(OffCpuError::NoSwitchRecords.into());
        }
        let plan = Self::new(recording, false)?.ok_or(OffCpuError::NoSwitchRecords)?;
        Ok(Self { wall: Some(WallPlan::new(recording.metadata())), ..plan })
    }
}

impl OffCpuPlan {
    /// Returns the names of the events of waits.
    pub(super) fn names(&self) -> Vec<&'static str> {
        match self.wall {
            Some(_) => vec![WallTime::EVENT],
            None => OffCpuEvents::names(self.wakeups == Wakeups::All).to_vec(),
        }
    }

    /// Returns an error if the whole time of threads does not permit a filter.
    pub(super) fn check(&self, filter: &Filter) -> Result<(), OffCpuError> {
        let is_of_cpu = self.wall.is_some() && filter.cpus.is_some();
        if is_of_cpu { Err(OffCpuError::OfCpu) } else { Ok(()) }
    }

    /// Adds the events to a profile, which has the `events` of the file, of which some are chosen.
    pub(super) fn start(
        self,
        collector: &mut Collector,
        events: &[Option<EventId>],
        is_chosen: &[bool],
    ) -> OffCpu {
        let Self { switches, wakeups, has_wakers, has_switch_ins, gaps, end, threads, wall } = self;
        let output = match wall {
            Some(wall) => {
                let mut wall = wall.start(collector, events, is_chosen, gaps.clone());
                if let Some(threads) = &threads {
                    wall.begin(threads);
                }
                Output::Wall(Box::new(wall))
            }
            None => Output::OffCpu(collector.off_cpu_events(wakeups == Wakeups::All)),
        };
        let knows_gaps = gaps.is_some();
        let waits = Waits::with_gaps(gaps.unwrap_or_default());
        let (ended, has_lost) = (0, false);
        OffCpu {
            waits,
            output,
            switches,
            wakeups,
            has_wakers,
            has_switch_ins,
            ended,
            has_lost,
            knows_gaps,
            end,
            threads,
            switched: FxHashSet::default(),
        }
    }
}

/// Facts that are known only after the whole recording was read.
#[derive(Default)]
struct Look {
    gaps: Option<Gaps>,
    /// Whether switches are recorded by CPU, not by task.
    is_of_cpus: bool,
}

impl Look {
    /// Reads a recording once. Does nothing for a pipe, which cannot be read twice.
    fn read(recording: &Recording, switches: &[Option<SwitchEvent>]) -> io::Result<Self> {
        let Some(mut records) = recording.again()? else { return Ok(Self::default()) };
        let (mut gaps, mut is_of_cpus) = (Gaps::new(), false);
        while let Some(record) = records.next() {
            // The pass that reads the samples reports damage.
            if record.kernel().is_none() {
                continue;
            }
            let Ok(decoded) = record.decode() else { continue };
            let event = || record.event().ok().and_then(|(index, _)| switches.get(index).copied().flatten());
            match &decoded {
                Record::LostSamples(_) if event().is_some_and(|event| event.is_wakeup()) => continue,
                // The idle thread of a CPU is not a task, so this event observes CPUs.
                Record::Sample(sample) if !is_of_cpus && sample.tid() == Some(0) => {
                    is_of_cpus = event().is_some();
                }
                Record::SwitchCpuWide(_) => is_of_cpus = true,
                _ => {}
            }
            gaps.note(&decoded);
        }
        Ok(Self { gaps: Some(gaps), is_of_cpus })
    }
}

impl OffCpu {
    /// Applies a record of an event of the file, after the collector.
    pub(super) fn update<L: Layout>(
        &mut self,
        event: impl FnOnce() -> Option<usize>,
        record: &Record<'_, L>,
        collector: &mut Collector,
        filter: &Filter,
    ) {
        self.has_lost |= matches!(record, Record::Lost(_) | Record::LostSamples(_));
        // A wait whose wakeup is lost stays without it, but its end is known.
        if let Record::LostSamples(_) = record
            && event().is_some_and(|index| self.event(index).is_some_and(|event| event.is_wakeup()))
        {
            return;
        }
        if let Record::Switch(_) | Record::SwitchCpuWide(_) | Record::Sample(_) | Record::Exit(_) = record {
            let tid = match record {
                Record::Sample(sample) => sample.tid(),
                Record::Exit(exit) => Some(exit.tid()),
                _ => record.sample_id().and_then(|id| id.tid()),
            };
            self.switched.extend(tid);
        }
        let was_waiting = matches!(record, Record::Exit(exit) if self.waits.is_waiting(exit.tid()));
        let wait = self.waits.update(record);
        if let Output::Wall(wall) = &mut self.output {
            wall.update(record, wait.is_some(), was_waiting, collector, filter);
        }
        if let Some(wait) = wait {
            self.add(&wait, collector, filter);
        }
    }

    /// Consumes a sample if its event is a switch or a wakeup. Returns whether it is.
    pub(super) fn take<L: Layout>(
        &mut self,
        index: usize,
        sample: &Sample<'_, L>,
        collector: &mut Collector,
        filter: &Filter,
    ) -> bool {
        let Some(event) = self.event(index) else {
            if let Output::Wall(wall) = &mut self.output {
                wall.add_sample(index, sample, collector, filter);
                return true;
            }
            return false;
        };
        // Filters select waiters, not wakers.
        let is_wanted = if event.is_switch() {
            filter.by_object(collector.spaces(), sample)
        } else {
            self.has_wakers && event.has_wakers()
        };
        let stack = || if is_wanted { collector.stack(sample) } else { None };
        if let Some(wait) = self.waits.add(&event, sample, stack) {
            self.add(&wait, collector, filter);
        }
        true
    }

    fn event(&self, index: usize) -> Option<SwitchEvent> {
        self.switches.get(index).copied().flatten()
    }

    /// Adds the waits that have not ended, and notes about unknown parts. Returns what
    /// completes the profile.
    ///
    /// # Errors
    ///
    /// [`OffCpuError::NoEnds`] if the recording shows where threads leave a CPU, but not where they
    /// run again.
    pub(super) fn finish(
        mut self,
        collector: &mut Collector,
        filter: &Filter,
        notes: &mut Vec<String>,
    ) -> io::Result<Finished> {
        let waits = std::mem::take(&mut self.waits);
        let end = self.end.max(waits.last_time());
        if !self.has_switch_ins && waits.broken() > 0 && !self.has_lost {
            if self.ended == 0 {
                return Err(OffCpuError::NoEnds.into());
            }
            notes.push(FEW_ENDS.to_owned());
        }
        let reason = match self.wakeups {
            Wakeups::None => Some("the recording has no wakeups"),
            Wakeups::Some => Some("the recording may not have all wakeups"),
            Wakeups::All => None,
        };
        if let Some(reason) = reason {
            notes.push(match &self.output {
                Output::Wall(wall) if wall.has_counts() => format!(
                    "which waits were for a CPU after a wakeup is not known, because {reason}; {} has their time, as the \
                     kernel counts it, of the threads that lived all the time",
                    WallTime::READY
                ),
                Output::Wall(_) => format!(
                    "waits include waits for a CPU after a wakeup, because {reason}; {} has the others",
                    WallTime::READY
                ),
                Output::OffCpu(_) => format!(
                    "offcpu-time includes waits for a CPU after a wakeup, because {reason}; preempted-time has the others"
                ),
            });
        }
        collector.add_broken_waits(waits.broken());
        if self.has_lost && !self.knows_gaps {
            let lost = "waits may be too long, because records were lost: a file, not a pipe, has the times of losses";
            notes.push(lost.to_owned());
        }
        // All waits of a thread are known, and in the profile.
        let is_all = self.wakeups == Wakeups::All
            && !self.has_lost
            && !(filter.needs_time() || filter.needs_comm() || filter.needs_dso() || filter.cpus.is_some());
        let threads = self.threads.as_ref().filter(|_| is_all);
        let whole = threads.map_or(0, |threads| end.saturating_sub(threads.start));
        let counted = threads.map(|threads| {
            let times = threads.threads.iter().map(|thread| ((thread.pid, thread.tid), thread.times));
            times.filter_map(|(ids, times)| Some((ids, times?))).collect()
        });
        let all_the_time = self.add_unswitched(end, collector, filter);
        notes.extend(waiting_lines(&all_the_time));
        let mut unfinished = 0;
        for wait in waits.finish(self.end) {
            unfinished += u64::from(self.add(&wait, collector, filter));
        }
        if let Output::Wall(wall) = &mut self.output {
            wall.finish(end, self.wakeups == Wakeups::All, collector, filter, notes);
        } else if unfinished > 0 {
            let waits = if unfinished == 1 { "wait" } else { "waits" };
            notes.push(format!(
                "{unfinished} {waits} had not ended with the recording: counted up to its end"
            ));
        }
        Ok(match self.output {
            Output::OffCpu(events) => {
                let replaced = self.switches.iter().map(Option::is_some).collect();
                Finished::Waits(replaced, counted.map(|counted| Correction { events, counted, whole }))
            }
            Output::Wall(wall) => Finished::WallTime(wall),
        })
    }

    /// Adds the waits of threads that were there at the start and wrote no record, and returns
    /// them.
    fn add_unswitched(
        &mut self,
        end: u64,
        collector: &mut Collector,
        filter: &Filter,
    ) -> Vec<RecordedThread> {
        let Some(RecordedThreads { start, threads, .. }) = self.threads.take() else { return Vec::new() };
        let mut found: Vec<RecordedThread> = threads;
        // A record of any of them may be lost.
        let is_known = self.has_switch_ins && !self.has_lost;
        found.retain(|thread| {
            is_known
                && thread.is_waiting()
                && !thread.has_run()
                && !self.switched.contains(&thread.tid)
                && filter.by_ids(Some(thread.pid), Some(thread.tid), None)
                && filter.by_thread(collector.spaces(), thread.tid)
                && !filter.needs_dso()
        });
        if let Output::OffCpu(events) = self.output {
            for thread in &found {
                let frames = frames_of(thread);
                let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
                let ns = super::wall::overlap(filter.times.as_deref(), start, end);
                collector.add_labelled(events.blocked, (thread.pid, thread.tid), start, ns, &frames);
            }
        }
        found
    }

    /// Adds a wait if the filter selects it. Returns whether it does.
    fn add(&mut self, wait: &Wait<Option<StackId>>, collector: &mut Collector, filter: &Filter) -> bool {
        self.ended += u64::from(wait.is_finished);
        let events = match &mut self.output {
            Output::OffCpu(events) => *events,
            Output::Wall(wall) => {
                wall.add_wait(wait, self.wakeups == Wakeups::All, collector, filter);
                return true;
            }
        };
        let is_wanted = filter.by_time(wait.start)
            && filter.by_ids(Some(wait.pid), Some(wait.tid), wait.cpu)
            && filter.by_thread(collector.spaces(), wait.tid)
            && (wait.waiter.is_some() || !filter.needs_dso());
        if is_wanted {
            collector.add_wait(events, wait, self.has_wakers);
        }
        is_wanted
    }
}

/// Threads that are named, at most.
const MAX_NAMED: usize = 8;

/// Returns a line for each thread that waited all the time, and one about the others if they are
/// many.
fn waiting_lines(threads: &[RecordedThread]) -> Vec<String> {
    let named = threads.iter().take(MAX_NAMED);
    let mut lines: Vec<String> = named.map(|thread| format!("waited all the time: {thread}")).collect();
    let others = threads.len().saturating_sub(MAX_NAMED);
    if others > 0 {
        lines.push(format!("waited all the time: {others} more threads"));
    }
    lines
}

/// Returns the frames of a wait that began before the recording, outermost first.
pub(super) fn frames_of(thread: &RecordedThread) -> Vec<String> {
    let mut frames: Vec<String> = thread.functions.iter().rev().cloned().collect();
    if !thread.place.is_empty() && !thread.syscall.is_empty() {
        frames.insert(0, thread.place.clone());
    }
    frames.push(WallTime::wait_label(thread.wait_kind()));
    frames
}
