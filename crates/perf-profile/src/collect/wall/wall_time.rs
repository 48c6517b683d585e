//! Adds the whole time of threads to a profile.

use rustc_hash::{FxHashMap, FxHashSet};

use super::wait_kind;
use crate::collect::{Collector, Wait};
use crate::profile::{Event, EventId, LocationId, Profile, Sample, StackId, ThreadId};

/// The event of a profile with the whole time of threads, in ns: on a CPU, ready for one, and
/// waiting. A thread's values sum up to its time within the recording.
///
/// The state is the innermost frame: none for a thread on a CPU, whose functions are sampled,
/// [`READY`](Self::READY), or `[wait: futex]` with what a thread [waits for](crate::wait_kind).
///
/// Samples of an event that counts while threads run are scaled to the time on a CPU, thread by
/// thread. So the functions of a thread that ran for 3 ms and has 2 samples get 1.5 ms each.
#[derive(Debug)]
pub struct WallTime {
    wall: EventId,
    /// Waits whose kinds are known when the functions have names.
    blocked: EventId,
    /// Time without a CPU.
    ready: EventId,
    /// Samples that count as time on a CPU, and are removed.
    left_out: EventId,
    /// Process and thread id, the time on a CPU in ns, and the thread under its last name.
    running: FxHashMap<(u32, u32), (u64, ThreadId)>,
    /// Time on a CPU, and time without one, as the kernel counted them, and the whole time, in ns.
    counted: FxHashMap<(u32, u32), [u64; 3]>,
}

/// Parts of the time of a thread, in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    running: u64,
    ready: u64,
    blocked: u64,
    /// Parts that are not corrected.
    fixed: u64,
}

/// How much later than the kernel's count of a switch its record is at most, in ns. A sample of the
/// switch with the callchain comes between them.
const MAX_SWITCH: u64 = 50_000;

impl WallTime {
    /// Name of the event.
    pub const EVENT: &'static str = "wall-time";
    /// The frame of a thread that is ready to run and has no CPU.
    pub const READY: &'static str = "[ready]";
    /// The frame of a thread that ran and has no samples.
    pub const RUNNING: &'static str = "[running]";
    /// The frame of a wait for something unknown.
    pub const UNKNOWN_WAIT: &'static str = "[wait: unknown]";
    /// The frame of a thread of which no record shows whether it ran.
    pub const UNKNOWN: &'static str = "[unknown: no record]";
    /// The frame of the time in which records were lost, so that the state is unknown.
    pub const LOST: &'static str = "[unknown: records lost]";
    /// Name of the event of waits, which [`finish`](Self::finish) removes.
    const BLOCKED: &'static str = "wall-time of waits";
    /// Name of the event of samples that are left out, which [`finish`](Self::finish) removes.
    const LEFT_OUT: &'static str = "wall-time of others";

    /// Adds the event to a profile.
    pub fn new(collector: &mut Collector) -> Self {
        let event = |name| Event { is_span: false, ..Event::spans(name) };
        let events = [Self::EVENT, Self::BLOCKED, Self::READY, Self::LEFT_OUT];
        let [wall, blocked, ready, left_out] = events.map(|name| collector.event(event(name)));
        let (running, counted) = (FxHashMap::default(), FxHashMap::default());
        Self { wall, blocked, ready, left_out, running, counted }
    }

    /// Sets how long a thread was on a CPU, and ready without one, during its whole time in the
    /// profile, as the kernel counts in `/proc/PID/schedstat`, and the whole time, in ns.
    ///
    /// The records of a switch are written after the kernel has counted it, some µs later. So they
    /// have less time on a CPU and more without one, by up to a fifth for a thread that switches
    /// 7000 times a second. [`finish`](Self::finish) corrects this, by at most 50 µs a switch. If
    /// wakeups are unknown, it also moves the time after them from waits to [`READY`](Self::READY).
    pub fn set_counted(&mut self, ids: (u32, u32), running: u64, ready: u64, whole: u64) {
        self.counted.insert(ids, [running, ready, whole]);
    }

    /// Returns the event for samples that count as time on a CPU, and are not in the profile,
    /// because a filter leaves them out.
    pub fn left_out(&self) -> EventId {
        self.left_out
    }

    /// Returns the frame of a wait for something.
    pub fn wait_label(kind: Option<&str>) -> String {
        kind.map_or_else(|| Self::UNKNOWN_WAIT.to_owned(), |kind| format!("[wait: {kind}]"))
    }

    /// Adds time of a thread on a CPU, in ns.
    pub fn add_running(&mut self, collector: &mut Collector, (pid, tid): (u32, u32), ns: u64) {
        let thread = collector.thread(pid, tid);
        let (sum, last) = self.running.entry((pid, tid)).or_insert((0, thread));
        (*sum, *last) = (sum.saturating_add(ns), thread);
    }

    /// Adds time of a thread in a state that the innermost frame names, in ns.
    pub fn add_labelled(
        &mut self,
        collector: &mut Collector,
        (pid, tid): (u32, u32),
        start: u64,
        ns: u64,
        frames: &[&str],
    ) {
        let event = if frames.last() == Some(&Self::READY) { self.ready } else { self.wall };
        collector.add_labelled(event, (pid, tid), start, ns, frames);
    }

    /// Adds a wait, with the [stack](Collector::stack) of its thread: `blocked` ns until the thread
    /// was woken, and `ready` ns after that. Set `has_wakeups` if the wakeups of all threads were
    /// recorded.
    pub fn add_wait(
        &mut self,
        collector: &mut Collector,
        wait: &Wait<Option<StackId>>,
        blocked: u64,
        ready: u64,
        has_wakeups: bool,
    ) {
        let thread = collector.thread(wait.pid, wait.tid);
        let is_split = wait.is_runnable() || wait.wakeup.is_some() || !wait.is_finished;
        collector.losses.waits_without_wakeup += u64::from(has_wakeups && !is_split);
        collector.losses.waits_without_stack += u64::from(wait.waiter.is_none());
        add(collector, self.blocked, (thread, wait.waiter), wait.start, blocked);
        let stack = collector.stack_of_labels(wait.waiter, &[Self::READY]);
        add(collector, self.ready, (thread, stack), wait.start.saturating_add(wait.blocked()), ready);
    }

    /// Completes the event in the finished profile, and removes all others: names what threads wait
    /// for, and scales the samples of the event `on_cpu` to the time on a CPU. Set `has_wakeups` if
    /// the wakeups of all threads were recorded.
    pub fn finish(mut self, profile: &mut Profile, on_cpu: Option<EventId>, has_wakeups: bool) {
        let counted = self.take_counted(profile, has_wakeups);
        let part = |part: fn(&Parts) -> u64| -> FxHashMap<(u32, u32), u64> {
            counted.iter().map(|(ids, parts)| (*ids, part(parts))).collect()
        };
        let (ready, blocked) = (part(|parts| parts.ready), part(|parts| parts.blocked));
        for (ids, parts) in &counted {
            if let Some((sum, _)) = self.running.get_mut(ids) {
                *sum = parts.running;
            }
        }
        scale(profile, &ready, |event| event == self.ready);
        scale(profile, &blocked, |event| event == self.blocked);
        self.name_waits(profile);
        let is_on_cpu = |event: EventId| Some(event) == on_cpu || event == self.left_out;
        let running = self.running.iter().map(|(ids, &(ns, _))| (*ids, ns)).collect();
        let scaled = scale(profile, &running, is_on_cpu);
        for sample in profile.samples_mut() {
            if sample.event != self.left_out && (is_on_cpu(sample.event) || sample.event == self.ready) {
                sample.event = self.wall;
            }
        }
        let mut rest: Vec<_> = self.running.iter().filter(|(ids, _)| !scaled.contains(ids)).collect();
        rest.sort_unstable_by(|a, b| a.0.cmp(b.0));
        for (_, &(value, thread)) in rest {
            let label = profile.label(Self::RUNNING);
            let stack = Some(profile.stack_with(None, label));
            let sample = Sample { event: self.wall, thread, stack, value, count: 1, time: None, cpu: None };
            profile.samples_mut().push(sample);
        }
        let mut index = 0;
        profile.retain_events(|_| {
            index += 1;
            index - 1 == self.wall.index()
        });
    }

    /// Returns the parts of the threads for which the kernel counted, which have the sum of the
    /// parts by records. Adds the time after unknown wakeups as samples without a stack.
    fn take_counted(&mut self, profile: &mut Profile, has_wakeups: bool) -> FxHashMap<(u32, u32), Parts> {
        let counted = std::mem::take(&mut self.counted);
        let mut found: FxHashMap<(u32, u32), (Parts, u64, ThreadId)> = FxHashMap::default();
        for sample in profile.samples() {
            let events = [self.ready, self.blocked, self.wall];
            let is_part = events.contains(&sample.event);
            let Some(thread) = profile.thread(sample.thread).filter(|_| is_part) else { continue };
            let ids = (thread.pid, thread.tid);
            let (parts, switches, _) = found.entry(ids).or_insert((Parts::default(), 0, sample.thread));
            let part = match sample.event {
                event if event == self.ready => &mut parts.ready,
                event if event == self.blocked => &mut parts.blocked,
                _ => &mut parts.fixed,
            };
            *part = part.saturating_add(sample.value);
            *switches = switches.saturating_add(sample.count);
        }
        let mut result = FxHashMap::default();
        for (ids, [counted_running, counted_ready, expected]) in counted {
            let Some(&(parts, switches, thread)) = found.get(&ids) else { continue };
            let Parts { ready, blocked, fixed, .. } = parts;
            let running = self.running.get(&ids).map_or(0, |&(ns, _)| ns);
            let Some(whole) = running.checked_add(ready).and_then(|sum| sum.checked_add(blocked)) else {
                continue;
            };
            // Filters left out a part of the time.
            if whole.checked_add(fixed) != Some(expected) {
                continue;
            }
            let most = switches.saturating_mul(MAX_SWITCH);
            let later = ready.saturating_sub(counted_ready).min(most);
            let hidden = if has_wakeups { 0 } else { counted_ready.saturating_sub(ready).min(blocked) };
            let new_ready = ready - later;
            let more = counted_running.saturating_sub(running).min(most);
            let new_running = running.saturating_add(more).min(whole - new_ready - hidden);
            let new_blocked = whole - new_ready - hidden - new_running;
            // Without a wait or a run, nothing can be scaled.
            if blocked == 0 && new_blocked > 0 || running == 0 && new_running > 0 {
                continue;
            }
            result.insert(ids, Parts { running: new_running, ready: new_ready, blocked: new_blocked, fixed });
            if hidden > 0 {
                let label = profile.label(Self::READY);
                let stack = Some(profile.stack_with(None, label));
                let (event, value) = (self.wall, hidden);
                profile.samples_mut().push(Sample {
                    event,
                    thread,
                    stack,
                    value,
                    count: 1,
                    time: None,
                    cpu: None,
                });
            }
        }
        result
    }

    /// Adds to each wait the frame with what it waits for.
    fn name_waits(&self, profile: &mut Profile) {
        let mut known: FxHashMap<Option<StackId>, StackId> = FxHashMap::default();
        let mut labels: FxHashMap<String, LocationId> = FxHashMap::default();
        for index in 0..profile.samples().len() {
            let Some(sample) = profile.samples().get(index).filter(|sample| sample.event == self.blocked)
            else {
                continue;
            };
            let waiter = sample.stack;
            let stack = known.get(&waiter).copied().unwrap_or_else(|| {
                let label = Self::wait_label(kind_of(profile, waiter));
                let location = labels.get(&label).copied().unwrap_or_else(|| profile.label(&label));
                labels.insert(label, location);
                let stack = profile.stack_with(waiter, location);
                known.insert(waiter, stack);
                stack
            });
            if let Some(sample) = profile.samples_mut().get_mut(index) {
                (sample.event, sample.stack) = (self.wall, Some(stack));
            }
        }
    }
}

/// Process and thread id of a thread, with its time on a CPU and its time without one, in ns, as
/// the kernel counted them.
#[cfg(feature = "perf-data")]
pub(crate) type CountedTimes = ((u32, u32), (u64, u64));

/// Corrects the waits of threads as [`WallTime::set_counted`] does: samples of the events `blocked`
/// and `ready`, which have all waits of each thread. `counted` has the time on a CPU, and the time
/// without one, of threads whose whole time is `whole`, in ns.
#[cfg(feature = "perf-data")]
pub(crate) fn correct_waits(
    profile: &mut Profile,
    [blocked, ready]: [EventId; 2],
    counted: &[CountedTimes],
    whole: u64,
) {
    let mut found: FxHashMap<(u32, u32), (Parts, u64)> = FxHashMap::default();
    for sample in profile.samples() {
        let Some(thread) = profile.thread(sample.thread) else { continue };
        let (parts, switches) = found.entry((thread.pid, thread.tid)).or_default();
        let part = match sample.event {
            event if event == ready => &mut parts.ready,
            event if event == blocked => &mut parts.blocked,
            _ => continue,
        };
        *part = part.saturating_add(sample.value);
        *switches = switches.saturating_add(sample.count);
    }
    let (mut new_ready, mut new_blocked) = (FxHashMap::default(), FxHashMap::default());
    for &(ids, (running, counted)) in counted {
        let Some((parts, switches)) = found.get(&ids) else { continue };
        let most = switches.saturating_mul(MAX_SWITCH);
        let asleep = whole.saturating_sub(running).saturating_sub(counted);
        new_ready.insert(ids, parts.ready - parts.ready.saturating_sub(counted).min(most));
        let more = asleep.saturating_sub(parts.blocked).min(most);
        new_blocked.insert(ids, parts.blocked.saturating_add(more));
    }
    scale(profile, &new_ready, |event| event == ready);
    scale(profile, &new_blocked, |event| event == blocked);
}

/// Scales samples so that the samples of each thread sum up to its value. Returns the threads that
/// have samples.
fn scale(
    profile: &mut Profile,
    values: &FxHashMap<(u32, u32), u64>,
    is_wanted: impl Fn(EventId) -> bool,
) -> FxHashSet<(u32, u32)> {
    let threads: Vec<_> = profile.threads().iter().map(|thread| (thread.pid, thread.tid)).collect();
    let ids = |sample: &Sample| threads.get(sample.thread.index()).copied();
    let mut sums: FxHashMap<(u32, u32), u128> = FxHashMap::default();
    for sample in profile.samples().iter().filter(|sample| is_wanted(sample.event)) {
        if let Some(ids) = ids(sample) {
            *sums.entry(ids).or_default() += u128::from(sample.value);
        }
    }
    sums.retain(|_, sum| *sum > 0);
    // What was distributed so far, so that the parts sum up to the whole without rounding errors.
    let mut done: FxHashMap<(u32, u32), u128> = FxHashMap::default();
    for sample in profile.samples_mut().iter_mut().filter(|sample| is_wanted(sample.event)) {
        let Some((ids, whole)) = ids(sample).and_then(|ids| Some((ids, *values.get(&ids)?))) else {
            continue;
        };
        let Some(&sum) = sums.get(&ids) else { continue };
        let before = done.entry(ids).or_default();
        let share = |part: u128| u64::try_from(u128::from(whole) * part / sum).unwrap_or(u64::MAX);
        let after = *before + u128::from(sample.value);
        sample.value = share(after).saturating_sub(share(*before));
        *before = after;
    }
    sums.into_keys().collect()
}

/// Adds a sample of a time span.
fn add(
    collector: &mut Collector,
    event: EventId,
    (thread, stack): (ThreadId, Option<StackId>),
    start: u64,
    value: u64,
) {
    if value > 0 {
        let time = Some(start);
        collector.builder.add(Sample { event, thread, stack, value, count: 1, time, cpu: None });
    }
}

/// Returns what a thread waits for, by the kernel's functions of its stack.
fn kind_of(profile: &Profile, stack: Option<StackId>) -> Option<&str> {
    let locations = profile.locations();
    let in_kernel = profile.stack(stack).take_while(|&location| locations.get(location).is_kernel);
    let frames = in_kernel.flat_map(|location| locations.frames(location));
    wait_kind(frames.map(|frame| locations.function_name(frame.function)))
}

impl Collector {
    /// Adds a time span of a thread whose frames are labels, outermost first.
    pub(crate) fn add_labelled(
        &mut self,
        event: EventId,
        (pid, tid): (u32, u32),
        start: u64,
        ns: u64,
        frames: &[&str],
    ) {
        let thread = self.thread(pid, tid);
        let stack = self.stack_of_labels(None, frames);
        add(self, event, (thread, stack), start, ns);
    }

    /// Returns a stack with frames that are labels, outermost first, called from another one.
    pub(super) fn stack_of_labels(&mut self, caller: Option<StackId>, names: &[&str]) -> Option<StackId> {
        let mut locations: Vec<LocationId> = Vec::new();
        for name in names.iter().rev() {
            let name = self.resolver.locations_mut().intern(name);
            locations.push(self.label(name));
        }
        locations.extend(self.builder.stack_locations(caller));
        self.builder.stack(&locations)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, Software};
    use perf_symbols::FileFinder;

    use super::*;
    use crate::collect::{Resolver, WaitReason, Wakeup};
    use crate::format::Folded;
    use crate::profile::{Frame, Function, Locations, Object, ProfileBuilder};

    /// Returns the folded stacks of the wall time with their values.
    fn folded(fill: impl FnOnce(&mut Collector, &mut WallTime, EventId)) -> BTreeMap<String, u64> {
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let on_cpu = collector.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
        let mut time = WallTime::new(&mut collector);
        fill(&mut collector, &mut time, on_cpu);
        let mut profile = collector.finish();
        time.finish(&mut profile, Some(on_cpu), true);
        assert_eq!(profile.events().len(), 1);
        let mut text = Vec::new();
        Folded::new(profile.event_ids().next().unwrap().0).write(&profile, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines = text.lines().map(|line| line.rsplit_once(' ').unwrap());
        lines.map(|(stack, value)| (stack.to_owned(), value.parse().unwrap())).collect()
    }

    fn add_sample(collector: &mut Collector, event: EventId, tid: u32, names: &[&str], value: u64) {
        let thread = collector.thread(7, tid);
        let stack = collector.stack_of_labels(None, names);
        collector.builder.add(Sample { event, thread, stack, value, count: 1, time: Some(1), cpu: None });
    }

    #[test]
    fn samples_are_scaled_to_the_time_on_a_cpu_of_their_thread() {
        let found = folded(|collector, time, on_cpu| {
            for (tid, ns) in [(8, 1000), (9, 500), (10, 30)] {
                time.add_running(collector, (7, tid), ns);
            }
            add_sample(collector, on_cpu, 8, &["main", "a"], 250);
            add_sample(collector, on_cpu, 8, &["main", "b"], 250);
            add_sample(collector, on_cpu, 8, &["main", "c"], 250);
            add_sample(collector, time.left_out(), 9, &["main", "a"], 300);
            add_sample(collector, on_cpu, 9, &["main", "b"], 200);
        });
        let expected = [
            (":10;[running]", 30),
            // 1000 / 3, so that the sum is 1000.
            (":8;main;a", 333),
            (":8;main;b", 333),
            (":8;main;c", 334),
            (":9;main;b", 200),
        ];
        assert_eq!(found, expected.map(|(stack, value)| (stack.to_owned(), value)).into());
    }

    #[test]
    fn wait_has_its_kind_and_then_the_time_without_a_cpu() {
        let found = folded(|collector, time, _| {
            let waiter = collector.stack_of_labels(None, &["main", "futex_wait"]);
            let wakeup = Some(Wakeup { time: 130, waker: None });
            let wait = Wait {
                pid: 7,
                tid: 8,
                cpu: None,
                start: 100,
                end: 150,
                reason: WaitReason::Blocked,
                waiter,
                wakeup,
                is_finished: true,
            };
            // A label is no function of the kernel.
            time.add_wait(collector, &wait, 30, 20, true);
            let kernel = collector.resolver.locations_mut();
            let kernel = kernel.add_kernel_function("futex_wait");
            let waiter = collector.builder.stack(&[kernel]);
            time.add_wait(collector, &Wait { waiter, ..wait }, 30, 0, true);
        });
        let expected = [
            (":8;futex_wait;[wait: futex]", 30),
            (":8;main;futex_wait;[ready]", 20),
            (":8;main;futex_wait;[wait: unknown]", 30),
        ];
        assert_eq!(found, expected.map(|(stack, value)| (stack.to_owned(), value)).into());
    }

    #[test]
    #[cfg(feature = "perf-data")]
    fn counts_of_the_kernel_correct_waits_by_some_microseconds_a_switch() {
        let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let events = collector.off_cpu_events(true);
        for tid in [8, 9] {
            add_sample(&mut collector, events.runnable, tid, &["main"], 250_000);
            add_sample(&mut collector, events.blocked, tid, &["main"], 50_000);
        }
        let mut profile = collector.finish();
        // Of the first by 35 and 15 µs, and of the second by 50 µs for each of its two switches.
        let counted = [((7, 8), (720_000, 215_000)), ((7, 9), (1000, 1000))];
        correct_waits(&mut profile, [events.blocked, events.runnable], &counted, 1_000_000);
        let values: Vec<u64> = profile.samples().iter().map(|sample| sample.value).collect();
        assert_eq!(values, [215_000, 65_000, 150_000, 150_000]);
    }

    #[test]
    fn counts_of_the_kernel_correct_the_time_of_switches() {
        // By records 700, 250 and 50 µs; the kernel counted 720 and 215.
        let parts = |counted: [u64; 2], switches: u64, has_wakeups: bool| {
            let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
            let mut collector = Collector::new(resolver, ProfileBuilder::new());
            let mut time = WallTime::new(&mut collector);
            time.add_running(&mut collector, (7, 8), 700_000);
            let thread = collector.thread(7, 8);
            let stack = collector.stack_of_labels(None, &["main"]);
            for (event, value) in [(time.ready, 250_000), (time.blocked, 50_000)] {
                let sample = Sample { event, thread, stack, value, count: switches, time: None, cpu: None };
                collector.builder.add(sample);
            }
            time.set_counted((7, 8), counted[0] * 1000, counted[1] * 1000, 1_000_000);
            let mut profile = collector.finish();
            time.finish(&mut profile, None, has_wakeups);
            let event = profile.event_ids().next().unwrap().0;
            assert_eq!(profile.total(event), 1_000_000);
            let mut text = Vec::new();
            Folded::new(event).without_thread().write(&profile, &mut text).unwrap();
            String::from_utf8(text).unwrap().replace("000\n", "\n")
        };
        let expected = "[running] 720\nmain 215\nmain;[wait: unknown] 65\n";
        assert_eq!(parts([720, 215], 1, true), expected);
        // A switch does not take so long, and the time after unknown wakeups does.
        assert_eq!(parts([900, 0], 1, true), "[running] 800\nmain 150\nmain;[wait: unknown] 50\n");
        assert_eq!(
            parts([700, 290], 1, false),
            "[ready] 40\n[running] 700\nmain 250\nmain;[wait: unknown] 10\n"
        );
    }

    impl Locations {
        fn add_kernel_function(&mut self, name: &str) -> LocationId {
            let path = self.intern("[kernel.kallsyms]");
            let object = Object { is_kernel: true, ..Object::new(path) };
            let object = self.add_object(object);
            let location = self.add(Some(object), 1);
            let name = self.intern(name);
            let function = self.add_function(Function { name, file: None });
            self.set_frames(location, [Frame { function, line: 0, column: 0 }]);
            location
        }
    }
}
