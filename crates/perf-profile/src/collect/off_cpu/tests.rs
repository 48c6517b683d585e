//! Waits, compared with a model that looks at each thread separately.

use perf_abi::{Attr, AttrFlags, EventType, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_tracepoint::Format;
use proptest::prelude::*;

use super::{SwitchEvent, Wait, WaitReason, Waits, Waker};

const SCHED_SWITCH: &str = "name: sched_switch\nID: 1\nformat:\n\
    \tfield:long prev_state;\toffset:0;\tsize:8;\tsigned:1;\n\
    \tfield:pid_t next_pid;\toffset:8;\tsize:4;\tsigned:1;\n";
const SCHED_WAKEUP: &str =
    "name: sched_wakeup\nID: 3\nformat:\n\tfield:pid_t pid;\toffset:0;\tsize:4;\tsigned:1;\n";
const SCHED_WAKING: &str =
    "name: sched_waking\nID: 2\nformat:\n\tfield:pid_t pid;\toffset:0;\tsize:4;\tsigned:1;\n";

/// A record about one thread, or about all.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A sample of context-switches.
    Sample(u32),
    Out(u32, bool),
    In(u32),
    /// `sched_switch` from a thread with a state to another thread.
    Switch(u32, u64, u32),
    /// One thread wakes another.
    Waking(u32, u32),
    /// A thread becomes runnable, according to a sample of another thread.
    Wakeup(u32, u32),
    Exit(u32),
    Fork(u32),
    Lost(u32),
}

fn attr(kind: EventType, config: u64, fields: SampleType) -> Attr {
    let fields = fields | SampleType::TID | SampleType::TIME;
    let attr = Attr::default()
        .with(|attr| {
            attr.kind = kind;
            attr.config = config;
        })
        .with_sample_type(fields)
        .with_period(1);
    attr.with_flags(AttrFlags::SAMPLE_ID_ALL)
}

/// Passes the records to [`Waits`], 10 time units apart. The data of a sample is its number.
/// Returns the waits, and the number of broken ones.
fn run(steps: &[Step]) -> (Vec<Wait<Option<usize>>>, u64) {
    let switches = attr(EventType::SOFTWARE, Software::CONTEXT_SWITCHES.0, SampleType::empty());
    let [switch, wakeup] = [1, 3].map(|id| attr(EventType::TRACEPOINT, id, SampleType::RAW));
    let waking = attr(EventType::TRACEPOINT, 2, SampleType::RAW | SampleType::CALLCHAIN);
    let format = |text| Some(Format::parse(text).unwrap());
    let event = |attr: &Attr, format: Option<Format<'_>>| SwitchEvent::new(attr, format.as_ref()).unwrap();
    let events = [
        event(&switches, None),
        event(&switch, format(SCHED_SWITCH)),
        event(&waking, format(SCHED_WAKING)),
        event(&wakeup, format(SCHED_WAKEUP)),
    ];
    let mut waits = Waits::new();
    let mut ended = Vec::new();
    for (index, &step) in steps.iter().enumerate() {
        let time = 10 * (index as u64 + 1);
        let trailer = |tid| SampleIdValues { pid: 1, tid, time, ..SampleIdValues::default() };
        let other = |kind, misc, body: &[u32], tid| {
            let words = RecordBuilder::new(kind, misc).u32s(body);
            (switches, words.with_trailer(&switches, &trailer(tid)).finish(), None)
        };
        let sample = |attr, tid, event, raw: &[u8]| {
            let sample = SampleBuilder::new(&attr).tid(1, tid).time(time);
            let has_stack = attr.sample_type.contains(SampleType::CALLCHAIN);
            let sample = if has_stack { sample.callchain(&[1]) } else { sample };
            let sample = if raw.is_empty() { sample } else { sample.raw(raw) };
            (attr, sample.finish(), Some(event))
        };
        let preempted = Misc::SWITCH_OUT | Misc::SWITCH_OUT_PREEMPT;
        let (attr, words, event) = match step {
            Step::Sample(tid) => sample(switches, tid, events[0], &[]),
            Step::Switch(tid, state, next) => {
                let raw = [&state.to_ne_bytes()[..], &next.to_ne_bytes(), &[0; 8]].concat();
                sample(switch, tid, events[1], &raw)
            }
            Step::Waking(waker, tid) => sample(waking, waker, events[2], &tid.to_ne_bytes()),
            Step::Wakeup(other, tid) => sample(wakeup, other, events[3], &tid.to_ne_bytes()),
            Step::Out(tid, false) => other(RecordType::SWITCH, Misc::SWITCH_OUT, &[], tid),
            Step::Out(tid, true) => other(RecordType::SWITCH, preempted, &[], tid),
            Step::In(tid) => other(RecordType::SWITCH, Misc::empty(), &[], tid),
            Step::Exit(tid) => other(RecordType::EXIT, Misc::empty(), &[1, 0, tid, 0, 0, 0], tid),
            Step::Fork(tid) => other(RecordType::FORK, Misc::empty(), &[1, 1, tid, 1, 0, 0], 1),
            Step::Lost(count) => other(RecordType::LOST, Misc::empty(), &[0, 0, count, 0], 1),
        };
        let layout = SampleLayout::new(&attr);
        let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
        ended.extend(waits.update(&record));
        if let (Record::Sample(sample), Some(event)) = (&record, event) {
            ended.extend(waits.add(&event, sample, || Some(index)));
        }
    }
    let broken = waits.broken();
    ended.extend(waits.finish(0));
    (ended, broken)
}

/// The records of one switch-out.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    sample: Option<usize>,
    tracepoint: Option<(usize, u64)>,
    switch: Option<(usize, bool)>,
}

impl Start {
    /// The start of a wait of a thread in one record.
    fn of(step: Step, index: usize, thread: u32) -> Option<Self> {
        match step {
            Step::Sample(tid) if tid == thread => Some(Self { sample: Some(index), ..Self::default() }),
            Step::Out(tid, preempted) if tid == thread => {
                Some(Self { switch: Some((index, preempted)), ..Self::default() })
            }
            Step::Switch(tid, prev, _) if tid == thread && prev & 0x30 == 0 => {
                Some(Self { tracepoint: Some((index, prev)), ..Self::default() })
            }
            _ => None,
        }
    }

    /// Returns the time of the switch record, which is certain, or else the earliest sample's.
    fn time(&self) -> u64 {
        let samples = [self.sample, self.tracepoint.map(|t| t.0)].into_iter().flatten().min();
        10 * (self.switch.map(|s| s.0).or(samples).unwrap() as u64 + 1)
    }

    /// Returns true if no record of the same kind is in both.
    fn is_with(&self, other: Self) -> bool {
        !(self.sample.is_some() && other.sample.is_some()
            || self.tracepoint.is_some() && other.tracepoint.is_some()
            || self.switch.is_some() && other.switch.is_some())
    }

    fn and(self, other: Self) -> Self {
        Self {
            sample: self.sample.or(other.sample),
            tracepoint: self.tracepoint.or(other.tracepoint),
            switch: self.switch.or(other.switch),
        }
    }

    /// Returns the first reason other than waiting.
    fn reason(&self) -> WaitReason {
        let of_state = |state| match state {
            0 => WaitReason::Runnable,
            1 => WaitReason::Interruptible,
            2 => WaitReason::Uninterruptible,
            _ => WaitReason::Blocked,
        };
        let of_switch = |is_preempted| if is_preempted { WaitReason::Runnable } else { WaitReason::Blocked };
        let tracepoint = self.tracepoint.map(|(index, state)| (index, of_state(state)));
        let switch = self.switch.map(|(index, is_preempted)| (index, of_switch(is_preempted)));
        let known = [tracepoint, switch].into_iter().flatten().filter(|known| known.1 != WaitReason::Blocked);
        known.min_by_key(|known| known.0).map_or(WaitReason::Blocked, |known| known.1)
    }
}

/// A wakeup in the model: its time, the index of the waker's sample, and whether the thread is
/// runnable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Woken {
    time: u64,
    waker: Option<usize>,
    is_awake: bool,
}

/// A wait in the model: thread, start, end, reason, time and waker of the wakeup, and whether it
/// ended.
type Modelled = (u32, u64, u64, WaitReason, Option<(u64, Option<usize>)>, bool);

/// The state of one thread.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Started at this time, without a run so far.
    New(u64),
    Waits(Start),
}

/// Processes each thread separately: groups its records into starts, each of which ends at the next
/// record of another kind.
fn model(steps: &[Step]) -> (Vec<Modelled>, u64) {
    let end = 10 * steps.len() as u64;
    let (mut found, mut broken) = (Vec::new(), 0);
    for thread in 1..4 {
        let mut state: Option<State> = None;
        // The wakeup of the wait, and the latest wakeup while the thread did not wait.
        let (mut wakeup, mut early) = (None::<Woken>, None::<Woken>);
        let mut exited = false;
        // True if a wakeup came since the start of the wait, even while it seemed runnable.
        let mut was_awake = false;
        let is_wait = |state: Option<State>| u64::from(matches!(state, Some(State::Waits(_))));
        let known = |woken: Option<Woken>| woken.map(|woken| (woken.time, woken.waker));
        for (index, &step) in steps.iter().enumerate() {
            let time = 10 * (index as u64 + 1);
            let out = Start::of(step, index, thread);
            if let Some(out) = out.filter(|_| !exited) {
                state = Some(State::Waits(match state {
                    Some(State::Waits(start)) if start.is_with(out) => start.and(out),
                    _ => {
                        broken += is_wait(state);
                        (wakeup, was_awake) = (None, false);
                        out
                    }
                }));
            }
            let is_exit = match step {
                Step::Exit(tid) => tid == thread,
                Step::Switch(tid, prev, _) => tid == thread && prev & 0x30 != 0,
                _ => false,
            };
            if is_exit {
                broken += is_wait(state.take());
                (exited, early) = (true, None);
            }
            match step {
                Step::Fork(tid) if tid == thread => {
                    broken += is_wait(state);
                    (state, wakeup, early, exited) = (Some(State::New(time)), None, None, false);
                    was_awake = false;
                }
                Step::Lost(_) => {
                    broken += is_wait(state.take());
                    early = None;
                }
                Step::Waking(_, tid) if tid == thread => {
                    let woken = Woken { time, waker: Some(index), is_awake: false };
                    match state {
                        None => early = Some(woken),
                        Some(State::Waits(start)) if start.reason() != WaitReason::Runnable => {
                            wakeup = wakeup.or(Some(woken));
                        }
                        Some(_) => {}
                    }
                }
                Step::Wakeup(_, tid) if tid == thread => {
                    let waker = early.take().and_then(|early| early.waker);
                    match state {
                        None => early = Some(Woken { time, waker, is_awake: true }),
                        Some(State::Waits(start)) if start.reason() != WaitReason::Runnable => {
                            let waker = wakeup.map_or(waker, |wakeup| wakeup.waker);
                            if !wakeup.is_some_and(|wakeup| wakeup.is_awake) && !was_awake {
                                wakeup = Some(Woken { time, waker, is_awake: true });
                            }
                        }
                        Some(_) => {}
                    }
                    was_awake = state.is_some();
                }
                _ => {}
            }
            let is_in = match step {
                Step::In(tid) | Step::Switch(_, _, tid) => tid == thread,
                _ => false,
            };
            if is_in {
                match state.take() {
                    Some(State::New(start)) => found.push((thread, start, time, WaitReason::New, None, true)),
                    Some(State::Waits(start)) => {
                        let early = early.filter(|_| start.reason() != WaitReason::Runnable);
                        let wakeup = known(wakeup.or(early));
                        found.push((thread, start.time(), time, start.reason(), wakeup, true));
                    }
                    None => {}
                }
                early = None;
            }
            if state.is_none() {
                (wakeup, was_awake) = (None, false);
            }
        }
        if let Some(State::Waits(start)) = state {
            found.push((thread, start.time(), end, start.reason(), known(wakeup), false));
        }
    }
    found.sort_unstable_by_key(|&(tid, start, ..)| (tid, start));
    (found, broken)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let tid = || 1u32..4;
    let state = prop_oneof![Just(0u64), Just(1), Just(2), Just(4), Just(0x20)];
    let step = prop_oneof![
        4 => tid().prop_map(Step::Sample),
        4 => (tid(), any::<bool>()).prop_map(|(tid, preempted)| Step::Out(tid, preempted)),
        4 => tid().prop_map(Step::In),
        3 => (tid(), state, 0u32..4).prop_map(|(tid, state, next)| Step::Switch(tid, state, next)),
        3 => (tid(), tid()).prop_map(|(waker, tid)| Step::Waking(waker, tid)),
        3 => (tid(), tid()).prop_map(|(other, tid)| Step::Wakeup(other, tid)),
        1 => tid().prop_map(Step::Exit),
        1 => tid().prop_map(Step::Fork),
        1 => (0u32..2).prop_map(Step::Lost),
    ];
    prop::collection::vec(step, 0..40)
}

proptest! {
    #[test]
    fn waits_are_those_of_each_thread_by_itself(steps in steps()) {
        let (waits, broken) = run(&steps);
        let mut found: Vec<_> = waits
            .iter()
            .map(|wait| {
                let stack = |waker: &Waker<_>| waker.data;
                let wakeup = wait.wakeup.as_ref();
                let wakeup = wakeup.map(|wakeup| (wakeup.time, wakeup.waker.as_ref().and_then(stack)));
                (wait.tid, wait.start, wait.end, wait.reason, wakeup, wait.is_finished)
            })
            .collect();
        found.sort_unstable_by_key(|&(tid, start, ..)| (tid, start));
        let (expected, expected_broken) = model(&steps);
        prop_assert_eq!(found, expected);
        prop_assert_eq!(broken, expected_broken);
        for wait in waits {
            prop_assert_eq!(wait.blocked() + wait.runnable(), wait.duration());
        }
    }
}

#[test]
fn wait_does_not_end_before_it_starts() {
    let attr = attr(EventType::SOFTWARE, Software::DUMMY.0, SampleType::empty());
    let mut waits = Waits::<()>::new();
    let mut ended = Vec::new();
    // The clocks of two CPUs differ slightly.
    for (misc, time) in [(Misc::SWITCH_OUT, 50), (Misc::empty(), 40)] {
        let values = SampleIdValues { pid: 1, tid: 7, time, ..SampleIdValues::default() };
        let words = RecordBuilder::new(RecordType::SWITCH, misc).with_trailer(&attr, &values).finish();
        let layout = SampleLayout::new(&attr);
        ended.extend(waits.update(&RawRecord::from_words(&words).unwrap().decode(&layout).unwrap()));
    }
    let times: Vec<_> = ended.iter().map(|wait| (wait.start, wait.end, wait.duration())).collect();
    assert_eq!(times, [(50, 50, 0)]);
}

#[test]
fn wait_has_its_stack_its_waker_and_both_parts_of_its_time() {
    use Step::{In, Out, Sample, Waking};
    let (waits, broken) = run(&[
        Sample(2),
        Out(2, false),
        Waking(3, 2),
        Waking(1, 2),
        In(2),
        Sample(2),
        Out(2, true),
        // It is runnable.
        Waking(3, 2),
        In(2),
    ]);
    let [first, second] = &waits[..] else { panic!("{waits:?}") };
    // The switch record's time counts, because the kernel may write another clock's time into the
    // sample.
    assert_eq!((first.start, first.end, first.waiter), (20, 50, Some(0)));
    assert_eq!((first.blocked(), first.runnable()), (10, 20));
    let wakeup = first.wakeup.as_ref().unwrap();
    let waker = wakeup.waker.as_ref().unwrap();
    assert_eq!((waker.tid, wakeup.time, waker.data), (3, 30, Some(2)));
    // It was preempted.
    assert_eq!((second.blocked(), second.runnable(), second.waiter), (0, 20, Some(5)));
    assert!(broken == 0 && first.is_finished && second.is_finished);
}

#[test]
fn wakeup_has_the_waker_of_one_event_and_the_time_of_the_other() {
    use Step::{In, Out, Wakeup, Waking};
    // The second wakeup comes while the thread leaves the CPU.
    for steps in [
        [Out(2, false), Waking(3, 2), Wakeup(1, 2), In(2)],
        [Waking(3, 2), Out(2, false), Wakeup(1, 2), In(2)],
    ] {
        let (waits, _) = run(&steps);
        let wakeup = waits[0].wakeup.as_ref().unwrap();
        let waker = wakeup.waker.as_ref().unwrap();
        assert_eq!((wakeup.time, waker.tid, waits[0].runnable()), (30, 3, 10), "{steps:?}");
    }
    // It is awake already.
    let (waits, _) = run(&[Out(2, false), Wakeup(1, 2), Wakeup(1, 2), Waking(3, 2), In(2)]);
    assert_eq!((waits[0].runnable(), waits[0].wakeup.as_ref().unwrap().waker), (30, None));
}

#[test]
fn thread_that_is_woken_on_its_way_off_the_cpu_waits_for_a_cpu_from_the_start() {
    use Step::{In, Out, Waking};
    let (waits, _) = run(&[Waking(3, 2), Out(2, false), In(2), Out(2, false), In(2)]);
    assert_eq!((waits[0].blocked(), waits[0].runnable()), (0, 10));
    assert_eq!((waits[1].blocked(), waits[1].wakeup.as_ref()), (10, None), "of a later wait");
}

#[test]
fn new_thread_waits_for_its_first_run_and_one_that_is_not_recorded_does_not() {
    use Step::{Fork, In, Lost, Out};
    let (waits, broken) = run(&[Fork(2), Fork(3), In(2), Out(2, true), In(2), Lost(1)]);
    let found: Vec<_> = waits.iter().map(|wait| (wait.tid, wait.reason, wait.runnable())).collect();
    assert_eq!(found, [(2, WaitReason::New, 20), (2, WaitReason::Runnable, 10)]);
    assert_eq!(broken, 0);
}

#[test]
fn threads_that_exit_and_idle_threads_do_not_wait() {
    use Step::{Exit, In, Out, Sample, Switch};
    let exit = [Sample(2), Out(2, false), In(2), Exit(2), Out(2, true), In(2), Out(2, false)];
    let (waits, broken) = run(&exit);
    assert!(waits.len() == 1 && waits[0].is_finished && broken == 0);
    let (waits, _) = run(&[Switch(0, 0, 3), Switch(3, 0x20, 0), Out(3, false)]);
    assert_eq!(waits, []);
}
