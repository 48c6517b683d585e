//! The events to count, without those that this machine or user cannot have.

use std::io;

use perf_events::sys::{Errno, EventType, Software};
use perf_events::{EventGroup, EventSpec, LogicalEvent, Set, SetError, SetOptions, SetTarget, System};

/// The events as the user named them.
#[derive(Debug)]
pub(super) struct Events {
    groups: Vec<Group>,
    /// Whether events count user space only, because the kernel refused more.
    pub(super) is_user_only: bool,
}

/// One event, or several that are counted together.
#[derive(Debug)]
struct Group {
    events: EventGroup,
    is_supported: bool,
}

impl Group {
    fn members(&self) -> impl Iterator<Item = (&str, bool)> {
        self.events.members().iter().map(|member| (member.name(), self.is_supported))
    }
}

impl Events {
    /// Parses the event strings.
    pub(super) fn parse(texts: &[String]) -> io::Result<Self> {
        let system = System::new();
        let mut groups = Vec::new();
        for text in texts {
            let parsed = perf_events::parse(text, &system).map_err(io::Error::other)?;
            groups.extend(
                parsed
                    .into_iter()
                    .map(|events| Group { events: events.map_members(in_milliseconds), is_supported: true }),
            );
        }
        Ok(Self { groups, is_user_only: false })
    }

    /// Opens the events that this machine has. Those without a privilege level are counted in user space
    /// only, if the kernel refuses more.
    pub(super) fn open(&mut self, target: &SetTarget) -> Result<Set, SetError> {
        let open = |groups: &mut dyn Iterator<Item = &Group>| {
            let groups = groups.map(|group| group.events.clone());
            SetOptions::new().groups(groups).target(target.clone()).user_only_if_refused().open()
        };
        let all = |groups: &[Group]| open(&mut groups.iter().filter(|group| group.is_supported));
        let opened = match all(&self.groups) {
            Err(error) if is_missing(&error) => {
                for group in &mut self.groups {
                    let opened = open(&mut [&*group].into_iter());
                    group.is_supported = !opened.is_err_and(|error| is_missing(&error));
                }
                if self.groups.iter().any(|group| group.is_supported) {
                    all(&self.groups)
                } else {
                    Err(error)
                }
            }
            opened => opened,
        };
        self.is_user_only = opened.as_ref().is_ok_and(Set::is_user_only);
        opened
    }

    /// Iterates over the names, with whether the event is open, in the order of the user.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        self.groups.iter().flat_map(Group::members)
    }
}

/// Returns whether the kernel or this machine does not have an event.
fn is_missing(error: &SetError) -> bool {
    let errno = error.call().and_then(perf_events::sys::Error::errno);
    matches!(errno, Some(Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV | Errno::ENXIO))
}

/// Gives the two clocks, which count ns, a unit that is easier to read.
fn in_milliseconds(event: LogicalEvent) -> LogicalEvent {
    let is_clock = |spec: &EventSpec| {
        let attr = spec.attr();
        let clocks = [Software::CPU_CLOCK, Software::TASK_CLOCK];
        attr.kind == EventType::SOFTWARE && clocks.map(|clock| clock.0).contains(&attr.config)
    };
    if !event.specs().iter().all(is_clock) {
        return event;
    }
    let specs = event.specs().iter().cloned().map(|spec| spec.with_scale(1e-6, "msec"));
    LogicalEvent::new(event.name(), specs.collect())
}
