//! The waits of all threads in time order.

use perf_abi::Misc;
use perf_decode::{Layout, Record, Sample, SampleId, SwitchDirection};
use rustc_hash::{FxHashMap, FxHashSet};

use super::switch_event::{Kind, reason};
use super::{Gaps, SwitchEvent, Wait, WaitReason, Waker, Wakeup};

/// Finds the waits of threads in records of context switches.
///
/// A wait starts where a thread leaves the CPU, according to a sample of a [`SwitchEvent`] or a
/// switch record, and ends where it runs again, according to a switch record (attr flag
/// `context_switch`, which needs no privilege for own threads) or `sched:sched_switch` on all CPUs.
/// Record the event `context-switches` with period 1 for the stacks, and with the flag. The first
/// wait of a thread starts with its `FORK` record.
///
/// Lost records break all open waits, which are [counted](Self::broken) and not returned, because
/// their threads may have run in between. A loss is reported late, at its end.
/// [`with_gaps`](Self::with_gaps) also breaks the waits that end in the interval before the report,
/// which otherwise may be too long. [`finish`](Self::finish) returns the waits that are open when
/// the recording ends, except for a thread that waited since before the recording began.
///
/// Memory grows with the threads, not with the records.
///
/// ```
/// use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
/// use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
/// use perf_decode::{RawRecord, SampleLayout};
/// use perf_profile::{WaitReason, Waits};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let fields = SampleType::TID | SampleType::TIME;
/// let flags = AttrFlags::SAMPLE_ID_ALL | AttrFlags::CONTEXT_SWITCH;
/// let attr = Attr::software(Software::DUMMY).with_sample_type(fields).with_flags(flags);
/// let layout = SampleLayout::new(&attr);
/// let switch = |misc, time| {
///     let values = SampleIdValues { pid: 7, tid: 8, time, ..SampleIdValues::default() };
///     RecordBuilder::new(RecordType::SWITCH, misc).with_trailer(&attr, &values).finish()
/// };
///
/// let mut waits = Waits::<()>::new();
/// for words in [switch(Misc::SWITCH_OUT, 1000), switch(Misc::empty(), 5000)] {
///     let record = RawRecord::from_words(&words)?.decode(&layout)?;
///     if let Some(wait) = waits.update(&record) {
///         assert_eq!((wait.tid, wait.duration(), wait.reason), (8, 4000, WaitReason::Blocked));
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Waits<T> {
    /// Open waits by thread id.
    open: FxHashMap<u32, Open<T>>,
    /// The last wakeup of threads that did not wait: a thread can be woken after it has decided to
    /// wait, while it is still leaving the CPU.
    early: FxHashMap<u32, Wakeup<T>>,
    /// Threads whose next switch-out is the last.
    exited: FxHashSet<u32>,
    /// Start and end of the intervals in which records were lost, in ns, sorted and disjoint.
    gaps: Vec<(u64, u64)>,
    /// Time of the last record, in ns.
    last: u64,
    broken: u64,
}

/// A wait that has not ended.
#[derive(Clone, Debug)]
struct Open<T> {
    wait: Wait<T>,
    /// The kinds of records that reported its start. A second report of a kind starts another wait.
    reported: u8,
    /// True if the time of the wakeup is the one that the kernel counts from.
    is_awake: bool,
}

impl<T> Open<T> {
    /// Returns true if an end of the wait is expected. A new task may not belong to the recording.
    fn is_expected(&self) -> bool {
        self.wait.reason != WaitReason::New
    }
}

/// Reports of a switch-out.
const BY_SAMPLE: u8 = 1;
const BY_TRACEPOINT: u8 = 2;
const BY_SWITCH: u8 = 4;

/// The thread of a record, with the time and the CPU.
#[derive(Clone, Copy, Debug)]
struct At {
    pid: u32,
    tid: u32,
    time: u64,
    cpu: Option<u32>,
}

impl At {
    fn of_sample<L: Layout>(sample: &Sample<'_, L>) -> Option<Self> {
        let (pid, tid, time) = (sample.pid()?, sample.tid()?, sample.time()?);
        Some(Self { pid, tid, time, cpu: sample.cpu() })
    }

    fn of_trailer<L: Layout>(id: &SampleId<'_, L>) -> Option<Self> {
        Some(Self { pid: id.pid()?, tid: id.tid()?, time: id.time()?, cpu: id.cpu() })
    }
}

/// Returns true if an id identifies a thread. The idle threads of all CPUs have 0, and threads that
/// are invisible in the recorder's pid namespace have -1.
fn is_thread(tid: u32) -> bool {
    tid != 0 && tid != u32::MAX
}

impl<T: Default> Waits<T> {
    /// Creates it before the first record.
    pub fn new() -> Self {
        Self::with_gaps(Gaps::new())
    }

    /// Creates it with the times of losses, from an earlier pass over the same records.
    pub fn with_gaps(gaps: Gaps) -> Self {
        let (open, early, exited) = (FxHashMap::default(), FxHashMap::default(), FxHashSet::default());
        Self { open, early, exited, gaps: gaps.into_intervals(), last: 0, broken: 0 }
    }

    /// Applies a record, and returns the wait that it ended. Pass all records in time order, and
    /// pass the samples of switches and wakeups to [`add`](Self::add) next.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) -> Option<Wait<T>> {
        self.last = self.last.max(record.time().unwrap_or(0));
        match record {
            Record::Switch(switch) => self.switch(&switch.sample_id(), switch.direction()),
            Record::SwitchCpuWide(switch) => self.switch(&switch.sample_id(), switch.direction()),
            Record::Exit(exit) => {
                self.exit(exit.tid());
                None
            }
            Record::Fork(fork) => {
                // The id is reused, and the exit record may be lost.
                self.exited.remove(&fork.tid());
                self.early.remove(&fork.tid());
                self.break_wait(fork.tid());
                // Tools synthesize records of running tasks.
                if let Some(time) = record.time().filter(|_| !fork.misc().contains(Misc::FORK_EXEC)) {
                    let at = At { pid: fork.pid(), tid: fork.tid(), time, cpu: None };
                    self.start(at, 0, WaitReason::New, T::default());
                }
                None
            }
            // Even with count 0, it marks a loss that is counted elsewhere.
            Record::Lost(_) => {
                self.lose();
                None
            }
            Record::LostSamples(lost) if lost.lost() > 0 => {
                self.lose();
                None
            }
            _ => None,
        }
    }

    /// Applies a sample of a switch or a wakeup, after [`update`](Self::update) was called with it.
    /// Returns the wait that it ended.
    ///
    /// `data` is called if the waits need it: for the waiter at a switch-out, or for the waker at a
    /// wakeup.
    pub fn add<L: Layout>(
        &mut self,
        event: &SwitchEvent,
        sample: &Sample<'_, L>,
        data: impl FnOnce() -> T,
    ) -> Option<Wait<T>> {
        let at = At::of_sample(sample)?;
        let read = |field: perf_tracepoint::IntegerField| field.read_u64(sample.raw()?);
        match event.0 {
            Kind::ContextSwitches => {
                self.switch_out(at, BY_SAMPLE, None, Some(data));
                None
            }
            Kind::SchedSwitch { prev_state, next_pid } => {
                match reason(read(prev_state)?) {
                    Some(reason) => self.switch_out(at, BY_TRACEPOINT, Some(reason), Some(data)),
                    None => self.exit(at.tid),
                }
                self.switch_in(read(next_pid)? as u32, at.time)
            }
            Kind::SchedWaking { pid, has_waker } => {
                let waker = || has_waker.then(|| Waker { pid: at.pid, tid: at.tid, data: data() });
                self.wake(read(pid)? as u32, at.time, waker);
                None
            }
            Kind::SchedWakeup { pid } => {
                self.awake(read(pid)? as u32, at.time);
                None
            }
        }
    }

    /// Returns whether a thread is in a wait.
    pub fn is_waiting(&self, tid: u32) -> bool {
        self.open.contains_key(&tid)
    }

    /// Returns the time of the last record, in ns of the events' clock.
    pub fn last_time(&self) -> u64 {
        self.last
    }

    /// Returns the number of waits with an unknown end, because records were lost, the kernel
    /// omitted the hit of a tracepoint, or the recording has no switch-ins. Linux 6.18 omits hits
    /// of `sched:sched_switch` in the idle thread of a CPU that was offline; records of the attr
    /// flag `context_switch` are not affected.
    pub fn broken(&self) -> u64 {
        self.broken
    }

    /// Returns the waits that have not ended, in the order of their starts. They last until `end`,
    /// the end of the recording in ns of the events' clock, or until the last record if that is
    /// later; pass 0 if the end is unknown. New tasks that never ran are excluded, because the
    /// recording may not follow them.
    pub fn finish(self, end: u64) -> impl Iterator<Item = Wait<T>> {
        let end = self.last.max(end);
        let mut waits: Vec<_> =
            self.open.into_values().filter(Open::is_expected).map(|open| open.wait).collect();
        waits.sort_unstable_by_key(|wait| (wait.start, wait.tid));
        waits.into_iter().map(move |wait| Wait { end, ..wait })
    }

    fn switch<L: Layout>(
        &mut self,
        trailer: &SampleId<'_, L>,
        direction: SwitchDirection,
    ) -> Option<Wait<T>> {
        let at = At::of_trailer(trailer)?;
        let SwitchDirection::Out { preempted } = direction else { return self.switch_in(at.tid, at.time) };
        let reason = if preempted { WaitReason::Runnable } else { WaitReason::Blocked };
        self.switch_out(at, BY_SWITCH, Some(reason), None::<fn() -> T>);
        None
    }

    /// Starts a wait, or completes one that another kind of record of the same switch started.
    fn switch_out(
        &mut self,
        at: At,
        reported: u8,
        reason: Option<WaitReason>,
        data: Option<impl FnOnce() -> T>,
    ) {
        let At { tid, time, .. } = at;
        if !is_thread(tid) || self.exited.contains(&tid) {
            return;
        }
        let waiter = data.map(|data| data());
        if let Some(open) = self.open.get_mut(&tid) {
            // A new thread was not on a CPU before.
            if open.reported & reported == 0 && open.is_expected() {
                open.reported |= reported;
                // The time of a sample may be of another clock: kernel errata, "Id and time of
                // another software event".
                if reported == BY_SWITCH {
                    open.wait.start = time;
                }
                // The tracepoint has more reasons than the switch record that follows it.
                if let Some(reason) = reason.filter(|_| open.wait.reason == WaitReason::Blocked) {
                    open.wait.reason = reason;
                }
                open.wait.waiter = waiter.unwrap_or_else(|| std::mem::take(&mut open.wait.waiter));
                return;
            }
            // It ran in between, for an unknown time.
            self.broken += u64::from(open.is_expected());
        }
        self.start(at, reported, reason.unwrap_or(WaitReason::Blocked), waiter.unwrap_or_default());
    }

    fn start(&mut self, at: At, reported: u8, reason: WaitReason, waiter: T) {
        let At { pid, tid, time, cpu } = at;
        let wait =
            Wait { pid, tid, cpu, start: time, end: time, reason, waiter, wakeup: None, is_finished: false };
        self.open.insert(tid, Open { wait, reported, is_awake: false });
    }

    /// Ends the wait of a thread. A new thread, or one that waits since before the recording, has
    /// no recorded switch-out and so no wait.
    fn switch_in(&mut self, tid: u32, time: u64) -> Option<Wait<T>> {
        let early = self.early.remove(&tid);
        let open = self.open.remove(&tid)?;
        let is_expected = open.is_expected();
        let mut wait = open.wait;
        if !wait.is_runnable() {
            wait.wakeup = wait.wakeup.or(early);
        }
        // The thread may have run in the gap. Waits that end after the gap are broken by the record
        // at its end.
        let started = self.gaps.partition_point(|&(begin, _)| begin < time);
        let gap = started.checked_sub(1).and_then(|index| self.gaps.get(index));
        if gap.is_some_and(|&(_, end)| time <= end) {
            self.broken += u64::from(is_expected);
            return None;
        }
        Some(Wait { end: time.max(wait.start), is_finished: true, ..wait })
    }

    /// Adds the waker to the wait of a thread. Only the first waker counts, because the thread is
    /// runnable afterwards.
    fn wake(&mut self, tid: u32, time: u64, waker: impl FnOnce() -> Option<Waker<T>>) {
        let Some(Open { wait, .. }) = self.open.get_mut(&tid) else {
            if is_thread(tid) {
                self.early.insert(tid, Wakeup { time, waker: waker() });
            }
            return;
        };
        if wait.wakeup.is_none() && !wait.is_runnable() {
            wait.wakeup = Some(Wakeup { time, waker: waker() });
        }
    }

    /// Notes that a thread is runnable. Its waker was added before, possibly while the thread was
    /// leaving the CPU.
    fn awake(&mut self, tid: u32, time: u64) {
        let early = self.early.remove(&tid).and_then(|wakeup| wakeup.waker);
        let Some(Open { wait, is_awake, .. }) = self.open.get_mut(&tid) else {
            if is_thread(tid) {
                self.early.insert(tid, Wakeup { time, waker: early });
            }
            return;
        };
        if !std::mem::replace(is_awake, true) && !wait.is_runnable() {
            let waker = wait.wakeup.take().map_or(early, |wakeup| wakeup.waker);
            wait.wakeup = Some(Wakeup { time, waker });
        }
    }

    fn exit(&mut self, tid: u32) {
        // It runs when it exits, so that the end of its last wait is missing.
        self.break_wait(tid);
        self.early.remove(&tid);
        self.exited.insert(tid);
    }

    fn break_wait(&mut self, tid: u32) {
        self.broken += u64::from(self.open.remove(&tid).is_some_and(|open| open.is_expected()));
    }

    fn lose(&mut self) {
        self.broken += self.open.values().filter(|open| open.is_expected()).count() as u64;
        self.open.clear();
        self.early.clear();
    }
}

impl<T: Default> Default for Waits<T> {
    fn default() -> Self {
        Self::new()
    }
}
