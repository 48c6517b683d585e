//! The events to count, without those that this machine or user cannot have.

use std::io;

use perf_events::sys::{AttrFlags, Errno, EventType, Software};
use perf_events::{EventGroup, EventSpec, LogicalEvent, Set, SetError, SetOptions, SetTarget, System};

/// The events as the user named them.
#[derive(Debug)]
pub(super) struct Events {
    groups: Vec<Group>,
    /// Whether the events count user space only, because the kernel's was refused.
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

    /// Opens the events that this machine has. Events of the kernel are counted in user space only, if
    /// the kernel refuses more.
    pub(super) fn open(&mut self, target: &SetTarget) -> Result<Set, SetError> {
        match self.try_open(target) {
            Err(error) if is_refused(&error) && !self.is_user_only => {
                self.exclude_kernel();
                // The first error names the permission that is missing.
                self.try_open(target).map_err(|_| error)
            }
            opened => opened,
        }
    }

    fn try_open(&mut self, target: &SetTarget) -> Result<Set, SetError> {
        let open = |groups: &mut dyn Iterator<Item = &Group>| {
            let groups = groups.map(|group| group.events.clone());
            SetOptions::new().groups(groups).target(target.clone()).open()
        };
        let all = |groups: &[Group]| open(&mut groups.iter().filter(|group| group.is_supported));
        match all(&self.groups) {
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
        }
    }

    fn exclude_kernel(&mut self) {
        self.is_user_only = true;
        for group in &mut self.groups {
            group.events = group.events.clone().map_members(exclude_kernel);
        }
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

fn is_refused(error: &SetError) -> bool {
    let errno = error.call().and_then(perf_events::sys::Error::errno);
    matches!(errno, Some(Errno::EACCES | Errno::EPERM))
}

/// Restricts an event to user space, and says so in its name.
fn exclude_kernel(event: LogicalEvent) -> LogicalEvent {
    let is_user = |spec: &EventSpec| spec.attr().flags.contains(AttrFlags::EXCLUDE_KERNEL);
    if event.specs().iter().all(is_user) {
        return event;
    }
    let exclude = |spec: EventSpec| spec.map_attr(|attr| attr.with_flags(AttrFlags::EXCLUDE_KERNEL));
    LogicalEvent::new(format!("{}:u", event.name()), event.specs().iter().cloned().map(exclude).collect())
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
