//! Events without the kernel.

use perf_ring::{AttrFlags, Call, Errno, EventType, Software};

use super::{EventSet, EventSetError, EventSetOptions};
use crate::names::expression::Modifiers;
use crate::names::{EventGroup, EventSpec, NamedEvent};

/// The flags of the modifiers `u`, `k` and `h`.
const PRIVILEGES: AttrFlags =
    AttrFlags::EXCLUDE_USER.union(AttrFlags::EXCLUDE_KERNEL).union(AttrFlags::EXCLUDE_HV);

/// The flags of the modifier `u`.
const USER: AttrFlags = AttrFlags::EXCLUDE_KERNEL.union(AttrFlags::EXCLUDE_HV);

/// # User space only
impl EventSetOptions {
    /// Counts user space only if the kernel refuses the events with `EACCES` or `EPERM`. Without
    /// `CAP_PERFMON`, `perf_event_paranoid` of 2 (the default of most distributions) permits
    /// nothing else.
    ///
    /// All events get the modifier `u`, also in their names, except those that ask for a privilege
    /// level themselves (`:u`, `:k`, `:h`), tracepoints and kprobes, which would count nothing. If
    /// such an event is refused, [`open`](Self::open) fails with its error.
    /// [`EventSet::is_user_only`] returns the outcome.
    ///
    /// Events that only the kernel causes, such as context switches, then count 0.
    ///
    /// ```
    /// use perf_session::{EventSetOptions, EventSetTarget, System, parse};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let events = parse("task-clock,page-faults", &System::new())?;
    /// let options = EventSetOptions::new().groups(events).user_only_if_refused();
    /// if let Ok(set) = options.target(EventSetTarget::calling_thread()).open() {
    ///     println!("{:?}", set.names()); // ["task-clock:u", "page-faults:u"] for most users
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn user_only_if_refused(self) -> Self {
        Self { falls_back_to_user: true, ..self }
    }

    /// Restricts the events that were added until now to user space, also where the kernel is
    /// permitted. They get the modifier `u` as by
    /// [`user_only_if_refused`](Self::user_only_if_refused).
    ///
    /// Events that only the kernel causes, such as context switches, are kept too, because they
    /// would count 0.
    ///
    /// ```
    /// use perf_session::{EventSetOptions, EventSetTarget, System, parse};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let options = EventSetOptions::new().groups(parse("page-faults,context-switches", &System::new())?);
    /// if let Ok(set) = options.user_only().target(EventSetTarget::calling_thread()).open() {
    ///     println!("{:?}", set.names()); // ["page-faults:u", "context-switches"]
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn user_only(mut self) -> Self {
        let restrict = |event| if is_caused_by_kernel(&event) { event } else { event_of_user(event) };
        self.groups = self.groups.into_iter().map(|group| group.map_members(restrict)).collect();
        self
    }

    /// Returns the options for user space only, if they are permitted and differ.
    pub(super) fn if_refused(&self) -> Option<Self> {
        let has_any = |group: &EventGroup| group.members().iter().any(is_for_all_levels);
        if !self.falls_back_to_user || !self.groups.iter().any(has_any) {
            return None;
        }
        let groups = self.groups.iter().cloned().map(user_only).collect();
        Some(Self { groups, is_user_only: true, ..self.clone() })
    }
}

impl EventSet {
    /// Returns whether events count user space only because the kernel refused more, as
    /// [`EventSetOptions::user_only_if_refused`] permits.
    pub const fn is_user_only(&self) -> bool {
        self.opened.options().is_user_only
    }
}

/// Returns the group without the kernel and the hypervisor.
pub(super) fn user_only(group: EventGroup) -> EventGroup {
    group.map_members(event_of_user)
}

fn event_of_user(event: NamedEvent) -> NamedEvent {
    // Excluding the level that an event asks for would leave nothing to count.
    if !is_for_all_levels(&event) {
        return event;
    }
    let specs = event.specs().iter().cloned().map(|spec| {
        let label = with_user(spec.label());
        spec.map_attr(|attr| attr.with_flags(USER)).with_label(label)
    });
    NamedEvent::new(with_user(event.name()), specs.collect())
}

/// Returns whether the kernel counts the event at the privilege level of the kernel alone.
fn is_caused_by_kernel(event: &NamedEvent) -> bool {
    let events = [Software::CONTEXT_SWITCHES, Software::CPU_MIGRATIONS, Software::CGROUP_SWITCHES];
    event.specs().iter().map(EventSpec::attr).any(|attr| events.iter().any(|event| attr.is_software(*event)))
}

/// Returns whether the event counts at all privilege levels, and can count in user space.
fn is_for_all_levels(event: &NamedEvent) -> bool {
    event.specs().iter().all(|spec: &EventSpec| {
        let attr = spec.attr();
        let is_of_kernel = attr.kind == EventType::TRACEPOINT || spec.pmu() == Some("kprobe");
        !attr.flags.intersects(PRIVILEGES) && !is_of_kernel
    })
}

/// Returns whether the kernel does not permit this user to open the event.
pub(super) fn is_refused(error: &EventSetError) -> bool {
    let open = error.event().filter(|event| event.error.call() == Some(Call::PerfEventOpen));
    open.is_some_and(|event| matches!(event.error.errno(), Some(Errno::EACCES | Errno::EPERM)))
}

/// Returns the name of an event with the modifier `u`.
fn with_user(name: &str) -> String {
    // `cpu/event=1/` ends with an empty list of modifiers, `1:3` with a number: only letters are
    // modifiers.
    let has_modifiers = name.rsplit_once([':', '/']).is_some_and(|(_, last)| Modifiers::new(last).is_some());
    let separator = if has_modifiers { "" } else { ":" };
    format!("{name}{separator}u")
}

#[cfg(test)]
mod tests {
    use perf_ring::{Attr, Software};

    use super::*;
    use crate::names::parse;
    use crate::system::System;

    fn names_of(events: &str) -> Option<Vec<String>> {
        let groups = parse(events, &System::new()).unwrap();
        let options = EventSetOptions::new().groups(groups).user_only_if_refused().if_refused()?;
        let members = options.groups.iter().flat_map(EventGroup::members);
        Some(members.map(|event| event.name().to_owned()).collect())
    }

    #[test]
    fn modifier_is_added_to_any_form_of_a_name() {
        for (name, expected) in [
            ("cycles", "cycles:u"),
            ("cycles:pp", "cycles:ppu"),
            ("cpu/event=0xc0/", "cpu/event=0xc0/u"),
            ("cpu/event=0xc0/pp", "cpu/event=0xc0/ppu"),
            ("1:3", "1:3:u"),
        ] {
            assert_eq!(with_user(name), expected);
        }
    }

    #[test]
    fn events_that_ask_for_a_privilege_level_are_kept() {
        assert_eq!(names_of("page-faults:k,page-faults:u,page-faults:kh"), None);
        let names = names_of("{task-clock,page-faults:k}").unwrap();
        assert_eq!(names, ["task-clock:u", "page-faults:k"]);
    }

    #[test]
    fn tracepoints_are_kept() {
        let tracepoint = EventSpec::new(Attr::default().with(|attr| attr.kind = EventType::TRACEPOINT));
        let options = EventSetOptions::new().event(tracepoint.clone()).user_only_if_refused();
        assert!(options.if_refused().is_none());
        let clock = EventSpec::new(Attr::software(Software::TASK_CLOCK));
        let options = options.event(clock).if_refused().unwrap();
        let flags = options.groups.iter().map(|group| group.members()[0].specs()[0].attr().flags);
        assert_eq!(flags.collect::<Vec<AttrFlags>>(), [AttrFlags::empty(), USER]);
    }

    #[test]
    fn nothing_is_excluded_without_permission() {
        let clock = EventSpec::new(Attr::software(Software::TASK_CLOCK));
        assert!(EventSetOptions::new().event(clock).if_refused().is_none());
    }

    #[test]
    fn restricted_events_are_those_that_can_count_in_user_space() {
        let groups = parse("page-faults,page-faults:k,{task-clock,cs},migrations", &System::new()).unwrap();
        let options = EventSetOptions::new().groups(groups).user_only();
        let members = options.groups.iter().flat_map(EventGroup::members);
        let names: Vec<&str> = members.map(NamedEvent::name).collect();
        assert_eq!(names, ["page-faults:u", "page-faults:k", "task-clock:u", "cs", "migrations"]);
        assert!(!options.is_user_only, "nothing was refused");
    }
}
