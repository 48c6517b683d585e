//! The events that record where threads wait.

use std::io;

use clap::Args;
use perf_record::WAKEUPS;
use perf_session::ring::{Attr, Event, SampleType, Software, Target};
use perf_session::{
    CpuList, EventGroup, EventSpec, NamedEvent, NewTaskIds, ObservedTasks, Privileges, System, Tracefs,
};

use crate::measure::events::NamedGroup;

/// The note of a recording that may have user space only: a switch is in the kernel.
pub(super) const NO_STACKS: &str = "the waits of threads have no stacks: these need CAP_PERFMON, or a sysctl \
    kernel.perf_event_paranoid of at most 1";

/// The tracepoint of wakers: its category and its name. Its samples have the waker and its stack,
/// and precede the wakeup by some µs.
const WAKERS: [&str; 2] = ["sched", "sched_waking"];

/// The options that record waits of threads.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct OffCpuOptions {
    /// Record also where threads wait and for how long: callchains of all switches, for --off-cpu of report, flamegraph,
    /// export and diff, and when threads are woken, which needs root; with `-e dummy` nothing else
    #[arg(long)]
    off_cpu: bool,
    /// Record also who wakes waiting threads, which needs tracepoints; without -a only wakers among the recorded threads
    #[arg(long, requires = "off_cpu")]
    wakers: bool,
}

/// The events that record waits.
#[derive(Debug, Default)]
pub(super) struct OffCpuEvents {
    pub(super) groups: Vec<NamedGroup>,
    /// The times of wakeups, among the groups.
    pub(super) wakeups: Option<Wakeups>,
    /// Messages about data that is not recorded.
    pub(super) notes: Vec<String>,
}

/// The event with the times of wakeups by any waker.
#[derive(Debug)]
pub(super) struct Wakeups {
    /// Index of its group.
    pub(super) group: usize,
    new: Option<NewTaskIds>,
    /// An event of the tracepoint. While it is open, the kernel closes others at once.
    _trial: Event,
}

impl Wakeups {
    /// Returns the filter for the wakeups of these tasks, if the ids of later ones are known.
    pub(super) fn filter(&self, tasks: &ObservedTasks) -> Option<std::ffi::CString> {
        let [.., pid] = WAKEUPS;
        self.new.map(|new| tasks.filter(pid, new))
    }
}

impl OffCpuOptions {
    pub(super) fn is_on(self) -> bool {
        self.off_cpu
    }

    /// Returns the events. `before` other events have lower indexes. The switch records show when a
    /// thread runs again, and whether it was preempted.
    ///
    /// The software event needs less privilege than the tracepoint `sched:sched_switch`, no
    /// tracefs, and has no payload.
    ///
    /// A wakeup happens while the waker runs. So the event with the times of all wakeups is on all
    /// CPUs, whatever is recorded, and has no stack. Wakers have a stack only if they are recorded
    /// threads.
    pub(super) fn events(
        self,
        system: &System,
        before: usize,
        is_on_all_cpus: bool,
    ) -> io::Result<OffCpuEvents> {
        let mut events = OffCpuEvents::default();
        if !self.off_cpu {
            return Ok(events);
        }
        let switches = EventSpec::new(Attr::software(Software::CONTEXT_SWITCHES).with_period(1));
        events.groups.push(EventGroup::from(NamedEvent::from(switches)).into());
        if self.wakers {
            let wakers = tracepoint(system, WAKERS)
                .map_err(|reason| io::Error::other(format!("--wakers needs tracepoints: {reason}")))?;
            // Sample each wakeup, even if the other events have a frequency.
            let wakers = wakers.map_attr(|attr| attr.with_period(1));
            events.groups.push(EventGroup::from(NamedEvent::from(wakers)).into());
        }
        if self.wakers && !is_on_all_cpus {
            let note = "the stacks of wakers are recorded among the threads of the target; -a records all, and interrupts";
            events.notes.push(note.to_owned());
        }
        let [category, name, _] = WAKEUPS;
        let tracepoint = tracepoint(system, [category, name]);
        match tracepoint.and_then(|spec| Ok((try_on_a_cpu(&spec, system)?, spec))) {
            Ok((trial, spec)) => {
                let new = NewTaskIds::read(system).ok();
                events.wakeups = Some(Wakeups { group: before + events.groups.len(), new, _trial: trial });
                let spec = spec.map_attr(|attr| attr.with_period(1)).system_wide();
                events.groups.push(EventGroup::from(NamedEvent::from(spec)).into());
            }
            Err(reason) => events.notes.push(format!(
                "offcpu-time includes waits for a CPU after a wakeup, because wakeups are not recorded: {reason}"
            )),
        }
        Ok(events)
    }
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
