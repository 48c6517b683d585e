//! The sums of each thread and each CPU.

use std::collections::BTreeMap;

use perf_abi::Misc;
use perf_decode::{Layout, Record, Sample, SwitchDirection};
use rustc_hash::FxHashMap;

use super::Durations;
use super::SchedEvent;
use super::event::Kind;

/// How long each thread ran, slept and waited for a CPU, and each CPU was busy, from the samples of
/// [`SchedEvent`]s, as `perf sched latency` sums them up; or, with less detail, from the records of
/// the attr flag `context_switch`.
///
/// Pass all records in time order to [`update`](Self::update), and samples of these events to
/// [`add`](Self::add). Memory grows with the threads and CPUs, not with the records.
///
/// A thread that is seen for the first time where it begins to run counts as a wait of 0, as in the
/// perf tool, and is counted by [`unknown_waits`](SchedThread::unknown_waits), because it became
/// ready before. Lost records end what is known of all threads.
#[derive(Clone, Debug, Default)]
pub struct SchedSummary {
    threads: FxHashMap<u32, SchedThread>,
    cpus: BTreeMap<u32, SchedCpu>,
    /// Time of the first and the last event, in ns.
    span: Option<(u64, u64)>,
    counts_migrations: bool,
    losses: u64,
    lost_wakeups: u64,
    switches: u64,
    unpaired: u64,
}

/// The runs, waits and sleeps of a thread. Ids and names are from the events. Ids are of the
/// initial PID namespace, but for records of context switches of the recorder's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchedThread {
    /// Process id, if a record of the thread has it.
    pub pid: Option<u32>,
    /// Name; empty if unknown. It has the bytes that the thread chose.
    pub comm: Vec<u8>,
    /// How often it got a CPU.
    pub runs: u64,
    /// Time on CPUs in ns.
    pub runtime: u64,
    /// Waits for a CPU, from the wakeup or the preemption until it ran.
    pub waits: Durations,
    /// Waits of unknown length: before the thread was seen for the first time, which are 0 in
    /// [`waits`](Self::waits), or in which records were lost, which are not there.
    pub unknown_waits: u64,
    /// Sleeps, from where it left the CPU until it was woken. Without wakeups until it ran again.
    pub sleeps: Durations,
    /// How often it was moved to another CPU, or without such events, how often its next run was on
    /// another CPU.
    pub migrations: u64,
    /// Its last state, and since when.
    pub state: ThreadState,
    last_cpu: Option<u32>,
}

/// The state of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadState {
    /// No event showed it yet.
    #[default]
    Unseen,
    /// Records were lost, or it has exited.
    Unknown,
    /// It runs since this time, in ns.
    Running(u64),
    /// It is ready, and waits for a CPU since this time, in ns.
    Ready(u64),
    /// It sleeps since this time, in ns.
    Sleeping(u64),
}

/// The time of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchedCpu {
    /// Switches from one thread to another.
    pub switches: u64,
    /// Time in ns in which threads ran.
    pub busy: u64,
    /// Time in ns without a thread.
    pub idle: u64,
    /// Time in ns of which it is unknown, because records were lost.
    pub unknown: u64,
    /// When the last switch was, and whether a thread ran from then on; `None` for unknown.
    last: Option<(u64, Option<bool>)>,
}

impl SchedCpu {
    /// Adds the time until now, in which a thread ran or not.
    fn add(&mut self, since: u64, now: u64, is_busy: Option<bool>) {
        let sum = match is_busy {
            Some(true) => &mut self.busy,
            Some(false) => &mut self.idle,
            None => &mut self.unknown,
        };
        *sum = sum.saturating_add(now.saturating_sub(since));
    }
}

/// The state in which a thread leaves a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Ready,
    Asleep,
    Dead,
}

impl Left {
    /// Decodes the field `prev_state` of `sched:sched_switch`.
    fn of(prev_state: u64) -> Self {
        // The bits below 0x100 are states; the one above them marks a preempted, ready thread.
        match prev_state & 0xff {
            0 => Self::Ready,
            state if state & 0x30 != 0 => Self::Dead,
            _ => Self::Asleep,
        }
    }
}

impl SchedSummary {
    /// Creates it before the first record. Set `counts_migrations` if the samples have all
    /// migrations (`sched:sched_migrate_task`).
    pub fn new(counts_migrations: bool) -> Self {
        Self { counts_migrations, ..Self::default() }
    }

    /// Applies a record that is not a sample: processes of threads, losses, and if
    /// `has_switches` is not set, context switches with the starts and ends of threads, which
    /// otherwise repeat the samples.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>, has_switches: bool) {
        // Tools synthesize records of running tasks.
        let time = record.time().filter(|&time| !has_switches && time > 0);
        match record {
            Record::Fork(fork) => {
                let comm = self.threads.get(&fork.ptid()).map(|parent| parent.comm.clone());
                let thread = self.threads.entry(fork.tid()).or_default();
                thread.pid = Some(fork.pid());
                thread.comm = comm.unwrap_or_default();
                if let Some(time) = time.filter(|_| !fork.misc().contains(Misc::FORK_EXEC)) {
                    thread.state = ThreadState::Ready(time);
                    self.note_time(time);
                }
            }
            Record::Comm(comm) => {
                let thread = self.threads.entry(comm.tid()).or_default();
                thread.pid = Some(comm.pid());
                thread.comm = comm.comm().to_vec();
                // The events of a command start at its exec.
                let is_first = thread.state == ThreadState::Unseen && comm.misc().contains(Misc::COMM_EXEC);
                if let Some(time) = time.filter(|_| is_first) {
                    thread.state = ThreadState::Running(time);
                    thread.runs = 1;
                    self.note_time(time);
                }
            }
            Record::Exit(exit) => {
                // The kernel writes no switch after it.
                if let Some(time) = time {
                    self.note_time(time);
                    self.switch_out(exit.tid(), time, None, Left::Dead);
                }
            }
            Record::Lost(lost) => self.lose(lost.lost()),
            Record::LostSamples(lost) if lost.lost() > 0 => self.lose(lost.lost()),
            Record::Switch(switch) if !has_switches => {
                self.switch_of_task(&switch.sample_id(), switch.direction());
            }
            Record::SwitchCpuWide(switch) if !has_switches => {
                self.switch_of_task(&switch.sample_id(), switch.direction());
            }
            _ => {}
        }
    }

    fn switch_of_task<L: Layout>(&mut self, id: &perf_decode::SampleId<'_, L>, direction: SwitchDirection) {
        let (Some(tid), Some(time)) = (id.tid(), id.time()) else { return };
        if tid > i32::MAX as u32 {
            return;
        }
        self.note_time(time);
        match direction {
            SwitchDirection::In => self.switch_in(tid, time, id.cpu()),
            SwitchDirection::Out { preempted } => {
                let left = if preempted { Left::Ready } else { Left::Asleep };
                self.switch_out(tid, time, id.cpu(), left);
            }
        }
        if let (Some(pid), Some(thread)) = (id.pid(), self.threads.get_mut(&tid)) {
            thread.pid = Some(pid);
        }
    }

    /// Applies a sample of an event. Ignores payloads that are too short, and ids that no thread
    /// has.
    pub fn add<L: Layout>(&mut self, event: &SchedEvent, sample: &Sample<'_, L>) {
        let (Some(time), Some(raw)) = (sample.time(), sample.raw()) else { return };
        self.note_time(time);
        match event.0 {
            Kind::Switch { prev, prev_state, next } => {
                let (Some(prev), Some(state), Some(next)) =
                    (prev.read(raw), prev_state.read_u64(raw), next.read(raw))
                else {
                    return;
                };
                if let Some(cpu) = sample.cpu() {
                    self.switch_cpu(cpu, time, prev.0 != 0, next.0 != 0);
                }
                if prev.0 != 0 {
                    self.switch_out(prev.0, time, sample.cpu(), Left::of(state));
                    let thread = self.name(prev);
                    if sample.tid() == Some(prev.0) {
                        thread.pid = sample.pid().or(thread.pid);
                    }
                }
                if next.0 != 0 {
                    self.switch_in(next.0, time, sample.cpu());
                    self.name(next);
                }
            }
            Kind::Wakeup(woken) | Kind::WakeupNew(woken) | Kind::Waking(woken) => {
                if let Some(woken) = woken.read(raw).filter(|&(tid, _)| tid != 0) {
                    self.wake(woken.0, time);
                    self.name(woken);
                }
            }
            Kind::Migrate(thread) => {
                if let Some(thread) = thread.read(raw).filter(|&(tid, _)| tid != 0) {
                    let thread = self.name(thread);
                    thread.migrations = thread.migrations.saturating_add(1);
                }
            }
        }
    }

    fn name(&mut self, (tid, comm): (u32, &[u8])) -> &mut SchedThread {
        let thread = self.threads.entry(tid).or_default();
        if !comm.is_empty() && thread.comm != comm {
            thread.comm = comm.to_vec();
        }
        thread
    }

    fn note_time(&mut self, time: u64) {
        let (first, last) = self.span.get_or_insert((time, time));
        *first = (*first).min(time);
        *last = (*last).max(time);
    }

    fn begin(&self) -> u64 {
        self.span.map_or(0, |(first, _)| first)
    }

    fn switch_cpu(&mut self, cpu: u32, time: u64, was_busy: bool, is_busy: bool) {
        // The thread that leaves the CPU has run since the last switch, or the first event.
        let begin = self.begin();
        let cpu = self.cpus.entry(cpu).or_default();
        match cpu.last {
            Some((since, None)) => cpu.add(since, time, None),
            Some((since, Some(_))) => cpu.add(since, time, Some(was_busy)),
            None => cpu.add(begin, time, Some(was_busy)),
        }
        cpu.last = Some((time, Some(is_busy)));
        cpu.switches = cpu.switches.saturating_add(1);
    }

    fn switch_out(&mut self, tid: u32, time: u64, cpu: Option<u32>, left: Left) {
        let begin = self.begin();
        self.switches = self.switches.saturating_add(1);
        let thread = self.threads.entry(tid).or_default();
        let since = match thread.state {
            ThreadState::Running(since) => Some(since),
            // It runs since before the first event.
            ThreadState::Unseen if self.losses == 0 => Some(begin),
            ThreadState::Unseen | ThreadState::Unknown => None,
            ThreadState::Ready(_) | ThreadState::Sleeping(_) => {
                self.unpaired = self.unpaired.saturating_add(1);
                None
            }
        };
        if let Some(since) = since {
            thread.runtime = thread.runtime.saturating_add(time.saturating_sub(since));
        }
        thread.last_cpu = cpu.or(thread.last_cpu);
        thread.state = match left {
            Left::Ready => ThreadState::Ready(time),
            Left::Asleep => ThreadState::Sleeping(time),
            Left::Dead => ThreadState::Unknown,
        };
    }

    fn switch_in(&mut self, tid: u32, time: u64, cpu: Option<u32>) {
        let thread = self.threads.entry(tid).or_default();
        thread.runs = thread.runs.saturating_add(1);
        match thread.state {
            ThreadState::Unseen => {
                thread.waits.add(0, time);
                thread.unknown_waits = thread.unknown_waits.saturating_add(1);
            }
            // A record of a later time was written first.
            ThreadState::Ready(since) if since > time => {}
            ThreadState::Ready(since) => thread.waits.add(time - since, time),
            // Its wakeup was not recorded.
            ThreadState::Sleeping(since) => thread.sleeps.add(time.saturating_sub(since), time),
            ThreadState::Unknown | ThreadState::Running(_) => {
                thread.unknown_waits = thread.unknown_waits.saturating_add(1);
            }
        }
        if !self.counts_migrations && thread.last_cpu.is_some() && cpu.is_some() && thread.last_cpu != cpu {
            thread.migrations = thread.migrations.saturating_add(1);
        }
        thread.last_cpu = cpu.or(thread.last_cpu);
        thread.state = ThreadState::Running(time);
    }

    fn wake(&mut self, tid: u32, time: u64) {
        let thread = self.threads.entry(tid).or_default();
        match thread.state {
            // A record of a later time was written first.
            ThreadState::Sleeping(since) if since > time => return,
            ThreadState::Sleeping(since) => thread.sleeps.add(time - since, time),
            ThreadState::Unseen | ThreadState::Unknown => {}
            // It did not leave the CPU yet, or it is ready already.
            ThreadState::Running(_) | ThreadState::Ready(_) => return,
        }
        thread.state = ThreadState::Ready(time);
    }

    /// Forgets the states of all threads and CPUs, because records were lost.
    fn lose(&mut self, count: u64) {
        self.losses = self.losses.saturating_add(count.max(1));
        for thread in self.threads.values_mut().filter(|thread| thread.state != ThreadState::Unseen) {
            thread.state = ThreadState::Unknown;
        }
        for cpu in self.cpus.values_mut() {
            if let Some((_, is_busy)) = &mut cpu.last {
                *is_busy = None;
            }
        }
    }

    /// Counts lost samples of wakeups and migrations, in place of [`update`](Self::update) with
    /// their record. The states of threads stay known: a sleep whose wakeup is lost lasts until the
    /// thread runs again.
    pub fn note_lost_wakeups(&mut self, count: u64) {
        self.lost_wakeups = self.lost_wakeups.saturating_add(count);
    }

    /// Ends the summary at the time of the last event, or at a later `end` in ns of the events'
    /// clock: adds the time of threads that run and of CPUs.
    pub fn finish(&mut self, end: u64) {
        let Some((_, last)) = &mut self.span else { return };
        *last = (*last).max(end);
        let end = *last;
        for thread in self.threads.values_mut() {
            if let ThreadState::Running(since) = thread.state {
                thread.runtime = thread.runtime.saturating_add(end.saturating_sub(since));
                thread.state = ThreadState::Running(end);
            }
        }
        for cpu in self.cpus.values_mut() {
            if let Some((since, is_busy)) = cpu.last.replace((end, None)) {
                cpu.add(since, end, is_busy);
            }
        }
    }

    /// Returns the threads that an event showed, by their ids, in no order.
    pub fn threads(&self) -> impl Iterator<Item = (u32, &SchedThread)> {
        let is_seen = |thread: &SchedThread| thread.state != ThreadState::Unseen || thread.runs > 0;
        self.threads.iter().filter(move |(_, thread)| is_seen(thread)).map(|(&tid, thread)| (tid, thread))
    }

    /// Returns the CPUs by their number. Empty without samples of `sched:sched_switch` that have
    /// the CPU.
    pub fn cpus(&self) -> impl Iterator<Item = (u32, &SchedCpu)> {
        self.cpus.iter().map(|(&number, cpu)| (number, cpu))
    }

    /// Returns the time from the first to the last event, in ns.
    pub fn duration(&self) -> u64 {
        self.span.map_or(0, |(first, last)| last.saturating_sub(first))
    }

    /// Returns the time of the first event in ns of the events' clock.
    pub fn start(&self) -> Option<u64> {
        self.span.map(|(first, _)| first)
    }

    /// Returns the time of the last event, or the later end, in ns of the events' clock.
    pub fn end(&self) -> Option<u64> {
        self.span.map(|(_, last)| last)
    }

    /// Returns the number of lost samples of wakeups and migrations.
    pub fn lost_wakeups(&self) -> u64 {
        self.lost_wakeups
    }

    /// Returns the number of other lost records, at least one for each loss of unknown size.
    pub fn lost(&self) -> u64 {
        self.losses
    }

    /// Returns how often a thread left a CPU.
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// Returns how often a thread left a CPU although no record has the start of its
    /// run. Without
    /// losses, the recording then has the events of some tasks or CPUs alone.
    pub fn unpaired(&self) -> u64 {
        self.unpaired
    }
}
