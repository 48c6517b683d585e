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
    members: Vec<LogicalEvent>,
    is_braced: bool,
    is_supported: bool,
}

impl Events {
    /// Parses the event strings.
    pub(super) fn parse(texts: &[String]) -> io::Result<Self> {
        let system = System::new();
        let mut groups = Vec::new();
        for text in texts {
            let parsed = perf_events::parse(text, &system).map_err(io::Error::other)?;
            groups.extend(parsed.into_iter().map(Group::new));
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
        let all = |groups: &[Group]| {
            let supported = groups.iter().filter(|group| group.is_supported);
            supported.fold(options(target), |options, group| group.add_to(options)).open()
        };
        match all(&self.groups) {
            Err(error) if is_missing(&error) => {
                for group in &mut self.groups {
                    let opened = group.add_to(options(target)).open();
                    group.is_supported &= !opened.is_err_and(|error| is_missing(&error));
                }
                all(&self.groups)
            }
            opened => opened,
        }
    }

    fn exclude_kernel(&mut self) {
        self.is_user_only = true;
        for member in self.groups.iter_mut().flat_map(|group| &mut group.members) {
            let specs = member.specs().iter().cloned().map(exclude_kernel).collect();
            *member = LogicalEvent::new(format!("{}:u", member.name()), specs);
        }
    }

    /// Iterates over the names, with whether the event is open, in the order of the user.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        let events = |group: &'_ Group| group.is_supported;
        self.groups
            .iter()
            .flat_map(move |group| group.members.iter().map(move |member| (member.name(), events(group))))
    }
}

impl Group {
    fn new(group: EventGroup) -> Self {
        let is_braced = group.is_braced();
        let members = group.into_members().into_iter().map(in_milliseconds).collect();
        Self { members, is_braced, is_supported: true }
    }

    fn add_to(&self, options: SetOptions) -> SetOptions {
        if self.is_braced {
            options.group(self.members.iter().cloned())
        } else {
            options.events(self.members.iter().cloned())
        }
    }
}

fn options(target: &SetTarget) -> SetOptions {
    SetOptions::new().target(target.clone())
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

fn exclude_kernel(spec: EventSpec) -> EventSpec {
    spec.map_attr(|attr| attr.with_flags(AttrFlags::EXCLUDE_KERNEL))
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
