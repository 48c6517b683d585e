//! The uses of perf events, each tried on this machine.

use perf_session::ring::{Attr, AttrFlags, Errno, SampleType};
use perf_session::{EventSet, EventSetError, EventSetOptions, EventSetTarget, NamedEvent, System};
use serde_json::{Value, json};

use crate::out::message::{first_line, plain};

/// A use of perf events, and whether it is possible.
#[derive(Debug)]
pub(super) struct Ability {
    pub(super) title: &'static str,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    Works,
    /// The kernel or the machine does not have it.
    Missing(String),
    /// A permission, a limit or a setting forbids it.
    Refused(String),
}

/// A use, by an event string.
struct Trial {
    title: &'static str,
    event: &'static str,
    /// Whether the event takes samples into a ring.
    is_sampling: bool,
    target: EventSetTarget,
}

/// Tries each use.
pub(super) fn try_all(system: &System) -> Vec<Ability> {
    let own = EventSetTarget::calling_thread;
    let trial = |title, event, is_sampling, target| Trial { title, event, is_sampling, target };
    let trials = [
        trial("count own tasks in user space", "page-faults:u", false, own()),
        trial("count own tasks in the kernel", "page-faults:k", false, own()),
        trial("sample own tasks in user space", "cpu-clock:u", true, own()),
        trial("sample own tasks in the kernel", "cpu-clock:k", true, own()),
        trial("sample all CPUs", "cpu-clock", true, EventSetTarget::all_cpus()),
        trial("count hardware events", "cycles:u", false, own()),
        trial("sample hardware events", "cycles:u", true, own()),
        trial("watch memory (breakpoints)", "mem:0x1000/4:w:u", false, own()),
        trial("count tracepoints", "sched:sched_switch", false, own()),
        trial("sample tracepoints of all CPUs", "sched:sched_switch", true, EventSetTarget::all_cpus()),
    ];
    trials.iter().map(|trial| Ability { title: trial.title, state: trial.run(system) }).collect()
}

impl Trial {
    fn run(&self, system: &System) -> State {
        let event = match perf_session::parse_event(self.event, system) {
            Ok(event) => event,
            // Without the lines that point into the event string, which the user did not write.
            Err(error) => return State::Refused(first_line(error)),
        };
        let mut options = EventSetOptions::new().target(self.target.clone());
        if self.is_sampling {
            options = options.ring_pages(1).event(sampling(event));
        } else {
            options = options.event(event);
        }
        match options.open().and_then(EventSet::close) {
            Ok(_) => State::Works,
            Err(error) => failed(&error, system),
        }
    }
}

/// Returns the event with a sample now and then.
fn sampling(event: NamedEvent) -> NamedEvent {
    let sample = |attr: Attr| {
        let attr = attr.with_sample_type(SampleType::IP | SampleType::TID);
        attr.with_period(1_000_000).with_flags(AttrFlags::SAMPLE_ID_ALL)
    };
    event.map_specs(|spec| spec.map_attr(sample))
}

fn failed(error: &EventSetError, system: &System) -> State {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    let explanation = error.explain(system).map(|explanation| explanation.to_string());
    let reason = plain(&explanation.unwrap_or_else(|| error.to_string()));
    match errno {
        Some(Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV) => State::Missing(reason),
        _ => State::Refused(reason),
    }
}

impl State {
    /// Returns the state as one word.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::Works => "ok",
            Self::Missing(_) => "missing",
            Self::Refused(_) => "refused",
        }
    }

    /// Returns why it does not work.
    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Self::Works => None,
            Self::Missing(reason) | Self::Refused(reason) => Some(reason),
        }
    }
}

impl Ability {
    pub(super) fn json(&self) -> Value {
        json!({"ability": self.title, "state": self.state.word(), "reason": self.state.reason()})
    }
}
