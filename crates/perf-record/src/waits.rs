//! The events that record where threads wait.

use std::ffi::CString;

use perf_session::ring::{Attr, Event, SampleType, Software, Target};
use perf_session::{
    CpuList, EventGroup, EventSpec, NamedEvent, NewTaskIds, ObservedTasks, Privileges, System, Tracefs,
};

use crate::WAKEUPS;

/// The tracepoint of wakers: its category and its name. Its samples have the waker and its stack,
/// and precede the wakeup by some µs.
const WAKERS: [&str; 2] = ["sched", "sched_waking"];

/// The events that record where threads wait and for how long, for the time off the CPU that
/// profiles show: a sample of each context switch, which has the stack if the attr has callchains,
/// and the times of wakeups.
///
/// The software event for switches needs less privilege than the tracepoint `sched:sched_switch`,
/// no tracefs, and has no payload. Its set also needs the flag
/// [`CONTEXT_SWITCH`](perf_session::ring::AttrFlags::CONTEXT_SWITCH) on an event: these records
/// show when a thread runs again, and whether it was preempted.
///
/// A wakeup happens while the waker runs. So the event with the times of all wakeups is on all
/// CPUs, whatever is recorded, and should have no stack.
#[derive(Debug)]
#[non_exhaustive]
pub struct WaitEvents {
    /// The events: switches, then [wakers](Self::with_wakers), then wakeups.
    pub groups: Vec<EventGroup>,
    /// The event with the times of wakeups, or why they cannot be recorded. Without it, a wait
    /// includes the time for which a thread is ready without a CPU.
    pub wakeups: Result<WakeupEvent, String>,
}

/// The event with the times of wakeups by any waker.
#[derive(Debug)]
pub struct WakeupEvent {
    /// Index in [`WaitEvents::groups`].
    index: usize,
    new: Option<NewTaskIds>,
    /// An event of the tracepoint. While it is open, the kernel closes others at once.
    _trial: Event,
}

impl WakeupEvent {
    /// Returns the index of its group in [`WaitEvents::groups`].
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the filter for the wakeups of these tasks, if the ids of later ones are known.
    pub fn filter(&self, tasks: &ObservedTasks) -> Option<CString> {
        let [.., pid] = WAKEUPS;
        self.new.map(|new| tasks.filter(pid, new))
    }
}

impl WaitEvents {
    /// Returns the events of switches and, if they are permitted, of wakeups.
    pub fn new(system: &System) -> Self {
        Self::after(vec![switches()], system)
    }

    /// Returns the events of switches, of wakers with their stacks and, if they are permitted, of
    /// wakeups. Wakers have a stack only if they are recorded threads.
    ///
    /// # Errors
    ///
    /// Returns the reason why the tracepoint of wakers cannot be used.
    pub fn with_wakers(system: &System) -> Result<Self, String> {
        // Sample each wakeup, even if the other events have a frequency.
        let wakers = tracepoint(system, WAKERS)?.map_attr(|attr| attr.with_period(1));
        Ok(Self::after(vec![switches(), group(wakers)], system))
    }

    fn after(mut groups: Vec<EventGroup>, system: &System) -> Self {
        let [category, name, _] = WAKEUPS;
        let tracepoint = tracepoint(system, [category, name]);
        let wakeups =
            tracepoint.and_then(|spec| Ok((try_on_a_cpu(&spec, system)?, spec))).map(|(trial, spec)| {
                let event =
                    WakeupEvent { index: groups.len(), new: NewTaskIds::read(system).ok(), _trial: trial };
                groups.push(group(spec.map_attr(|attr| attr.with_period(1)).system_wide()));
                event
            });
        Self { groups, wakeups }
    }
}

fn switches() -> EventGroup {
    group(EventSpec::new(Attr::software(Software::CONTEXT_SWITCHES).with_period(1)))
}

fn group(spec: EventSpec) -> EventGroup {
    EventGroup::from(NamedEvent::from(spec))
}

/// Returns a tracepoint about the tasks of others, or why it cannot be used.
fn tracepoint(system: &System, [category, name]: [&str; 2]) -> Result<EventSpec, String> {
    if Privileges::read(system).in_initial_pid_namespace().is_ok_and(|is_initial| !is_initial) {
        return Err("tracepoints have the ids of tasks outside of this container".to_owned());
    }
    let tracepoint = Tracefs::find(system).and_then(|tracefs| tracefs.tracepoint(category, name));
    Ok(tracepoint.map_err(|error| error.to_string())?.event_spec())
}

/// Opens the event on a CPU, to find out whether that is permitted.
fn try_on_a_cpu(spec: &EventSpec, system: &System) -> Result<Event, String> {
    let online = CpuList::online(system).map_err(|error| error.to_string())?;
    let cpu = online.iter().next().unwrap_or_default();
    let attr = spec.attr().with_period(1).with_sample_type(SampleType::RAW);
    Event::open(&attr, Target::cpu(cpu)).map_err(|error| match error.errno() {
        Some(errno) => format!("{}: {errno:?} on all CPUs", spec.label()),
        None => format!("{}: {error}", spec.label()),
    })
}
