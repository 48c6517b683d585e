//! The events to count, without events that this machine or user cannot open.

use std::ffi::CString;
use std::io;

use perf_session::ring::{Attr, Errno, Software};
use perf_session::{
    EventSet, EventSetError, EventSetOptions, EventSetTarget, EventSpec, Inherit, NamedEvent, System,
};

use super::Options;
use super::cgroups;
use super::options::{DETAILS, EVENTS};
use crate::measure::events::{NamedGroup, set_filters};
use crate::measure::failure::Failure;

/// The events as the user named them.
#[derive(Debug)]
pub(super) struct Events {
    groups: Vec<Group>,
    has_cgroups: bool,
    /// The new tasks that events of tasks follow. As in the perf tool, a thread's events follow
    /// them too.
    inherit: Inherit,
    /// Whether events count user space only, because the kernel refused more.
    pub(super) is_user_only: bool,
}

/// One event, or several that are counted together.
#[derive(Debug)]
struct Group {
    named: NamedGroup,
    /// The name of the cgroup, empty without one.
    cgroup: String,
    is_supported: bool,
}

/// One event as the user named it.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventName<'e> {
    pub(super) name: &'e str,
    /// The cgroup of the event, empty without one; `None` if no event has a cgroup.
    pub(super) cgroup: Option<&'e str>,
    pub(super) is_open: bool,
}

impl Events {
    /// Parses the event strings.
    pub(super) fn parse(options: &Options) -> io::Result<Self> {
        let system = System::new();
        let clock = if options.is_on_cpus() { "cpu-clock" } else { "task-clock" };
        let mut groups = options.events.parse(&format!("{clock},{EVENTS}"), &system)?;
        for events in DETAILS.iter().take(options.detailed.into()) {
            let events = perf_session::parse(events, &system).map_err(io::Error::other)?;
            groups.extend(events.into_iter().map(NamedGroup::from));
        }
        let groups = cgroups::assign(options, groups)?.into_iter().map(|(mut named, cgroup)| {
            let levels = |event: NamedEvent| event.map_specs(|spec| options.levels.apply(spec));
            named.events = named.events.map_members(levels).map_members(in_milliseconds);
            Group { named, cgroup, is_supported: true }
        });
        let has_cgroups = !options.cgroups().is_empty();
        let inherit = if options.no_inherit { Inherit::Nothing } else { Inherit::Tasks };
        Ok(Self { groups: groups.collect(), has_cgroups, inherit, is_user_only: false })
    }

    /// Opens the events that this machine has, with their filters. Events without a privilege level
    /// are counted in user space only, if the kernel refuses more.
    pub(super) fn open(&mut self, target: &EventSetTarget) -> Result<EventSet, Failure> {
        let opened = match self.open_supported(target) {
            Err(error) if is_missing(&error) => {
                for group in &mut self.groups {
                    let opened = open(&mut [&*group].into_iter(), target, self.inherit);
                    group.is_supported = !opened.is_err_and(|error| is_missing(&error));
                }
                self.open_supported(target)
            }
            opened => opened,
        };
        let set = opened?;
        self.is_user_only = set.is_user_only() && self.groups.iter().any(|group| group.is_supported);
        set_filters(&set, &self.filters())?;
        Ok(set)
    }

    fn open_supported(&self, target: &EventSetTarget) -> Result<EventSet, EventSetError> {
        if self.groups.iter().any(|group| group.is_supported) {
            let mut supported = self.groups.iter().filter(|group| group.is_supported);
            return open(&mut supported, target, self.inherit);
        }
        // Nothing is counted, but the command must run.
        let nothing = NamedEvent::from(EventSpec::new(Attr::software(Software::DUMMY)));
        EventSetOptions::new().event(nothing).target(target.clone()).user_only_if_refused().open()
    }

    /// Returns the filter of each logical event of the set.
    pub(super) fn filters(&self) -> Vec<Option<CString>> {
        let groups = self.groups.iter().filter(|group| group.is_supported).map(|group| &group.named);
        groups.flat_map(NamedGroup::filters).collect()
    }

    /// Iterates over the names in the order of the user.
    pub(super) fn names(&self) -> impl Iterator<Item = EventName<'_>> {
        self.groups.iter().flat_map(|group| {
            let cgroup = self.has_cgroups.then_some(group.cgroup.as_str());
            let members = group.named.events.members().iter();
            members.map(move |member| EventName { name: member.name(), cgroup, is_open: group.is_supported })
        })
    }
}

fn open(
    groups: &mut dyn Iterator<Item = &Group>,
    target: &EventSetTarget,
    inherit: Inherit,
) -> Result<EventSet, EventSetError> {
    let groups = groups.map(|group| group.named.events.clone());
    let options = EventSetOptions::new().groups(groups).target(target.clone()).inherit(inherit);
    options.user_only_if_refused().open()
}

/// Returns whether the kernel or this machine does not have an event.
fn is_missing(error: &EventSetError) -> bool {
    let errno = error.call().and_then(perf_session::ring::Error::errno);
    matches!(errno, Some(Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV | Errno::ENXIO))
}

/// Converts the two clocks from ns to ms, which are easier to read.
fn in_milliseconds(event: NamedEvent) -> NamedEvent {
    let is_clock = |spec: &EventSpec| {
        [Software::CPU_CLOCK, Software::TASK_CLOCK].iter().any(|clock| spec.attr().is_software(*clock))
    };
    if !event.specs().iter().all(is_clock) {
        return event;
    }
    event.map_specs(|spec| spec.with_scale(1e-6, "msec"))
}
