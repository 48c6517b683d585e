//! Which events are opened as groups, and where.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::EventSetError;
use crate::names::{EventGroup, EventSpec, NamedEvent};
use crate::system::CpuList;

/// Events that are opened as one group, the leader first. A single event is a group of one.
#[derive(Clone, Debug)]
pub(super) struct PlannedGroup {
    pub(super) specs: Vec<EventSpec>,
    /// Index of the leader's logical event. The members have the following indexes.
    pub(super) first: usize,
    /// The CPUs on which all PMUs of the group count; `None` for all.
    pub(super) cpus: Option<CpuList>,
    pub(super) is_cpu_only: bool,
    /// Whether the group is opened on all CPUs, whatever the target is.
    pub(super) is_system_wide: bool,
    pub(super) is_leader_sampling: bool,
    /// Whether the events are opened separately if they cannot be opened as a group.
    pub(super) is_weak: bool,
    /// The name of the group, if it has one.
    pub(super) name: Option<Arc<str>>,
    /// The directory of these events' cgroup, which overrides the set's.
    pub(super) cgroup: Option<Arc<OwnedFd>>,
}

/// The events of a set, before they are opened on CPUs or for threads.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) groups: Vec<PlannedGroup>,
    /// The names of the logical events.
    pub(super) names: Vec<Arc<str>>,
}

impl Plan {
    /// Plans a group for each PMU of each leader.
    pub(super) fn new(groups: &[EventGroup]) -> Result<Self, EventSetError> {
        let mut plan = Self { groups: Vec::new(), names: Vec::new() };
        for group in groups {
            let first = plan.names.len();
            let events = group.members();
            plan.names.extend(events.iter().map(|event| event.name().into()));
            let Some((leader, members)) = events.split_first() else { continue };
            if let Some(empty) = events.iter().find(|event| event.specs().is_empty()) {
                return Err(EventSetError::NoPmu { event: empty.name().into() });
            }
            for spec in leader.specs() {
                let mut specs = vec![spec.clone()];
                for member in members {
                    specs.push(on_same_pmu(spec, leader, member)?.clone());
                }
                plan.groups.push(PlannedGroup::new(first, specs, group));
            }
        }
        if plan.groups.is_empty() { Err(EventSetError::NoEvents) } else { Ok(plan) }
    }

    /// Splits a weak group into single events. Returns `false` if it is not weak or a single event.
    pub(super) fn split(&mut self, group: usize) -> bool {
        let Some(weak) = self.groups.get(group).filter(|group| group.is_weak && group.specs.len() > 1) else {
            return false;
        };
        let single = |(first, spec): (usize, &EventSpec)| PlannedGroup {
            specs: vec![spec.clone()],
            first,
            cpus: spec.cpus().cloned(),
            is_cpu_only: spec.is_cpu_only(),
            is_system_wide: spec.is_system_wide(),
            is_leader_sampling: false,
            is_weak: false,
            name: None,
            cgroup: weak.cgroup.clone(),
        };
        let singles: Vec<PlannedGroup> = weak.events().map(single).collect();
        self.groups.splice(group..=group, singles);
        true
    }
}

impl PlannedGroup {
    fn new(first: usize, specs: Vec<EventSpec>, group: &EventGroup) -> Self {
        // A group is on a CPU as a whole, so it is opened where all of its PMUs count.
        let lists = specs.iter().filter_map(EventSpec::cpus);
        let cpus = lists.cloned().reduce(|all, cpus| all.intersection(&cpus));
        let is_cpu_only = specs.iter().any(EventSpec::is_cpu_only);
        let is_system_wide = specs.iter().any(EventSpec::is_system_wide);
        let (is_leader_sampling, is_weak) = (group.is_leader_sampling(), group.is_weak());
        let (name, cgroup) = (group.name().map(Into::into), group.cgroup().cloned());
        Self { specs, first, cpus, is_cpu_only, is_system_wide, is_leader_sampling, is_weak, name, cgroup }
    }

    /// Iterates over the index of the logical event and the spec of each event.
    pub(super) fn events(&self) -> impl Iterator<Item = (usize, &EventSpec)> {
        (self.first..).zip(&self.specs)
    }

    /// Returns whether the group is opened on this CPU.
    pub(super) fn is_on(&self, cpu: u32) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu))
    }
}

/// Returns the spec of `member` for the group on the PMU of `spec`.
fn on_same_pmu<'m>(
    spec: &EventSpec,
    leader: &NamedEvent,
    member: &'m NamedEvent,
) -> Result<&'m EventSpec, EventSetError> {
    let found = match member.specs() {
        [one] => Some(one), // a software event joins the group of any PMU
        several => several.iter().find(|other| other.pmu() == spec.pmu()),
    };
    found.ok_or_else(|| EventSetError::GroupPmu {
        leader: leader.name().into(),
        member: member.name().into(),
        pmu: spec.pmu().unwrap_or_default().into(),
    })
}

#[cfg(test)]
mod tests {
    use perf_ring::{Attr, Hardware, Software};

    use super::*;
    use crate::set::EventSetOptions;

    /// Cycles on a machine with two kinds of cores.
    fn hybrid(name: &str, event: Hardware) -> NamedEvent {
        let spec = |pmu: &str, kind, cpus: [u32; 2]| {
            let attr = Attr::hardware(event).with_hybrid_pmu(kind);
            EventSpec::new(attr).with_pmu(pmu).with_cpus(cpus.into_iter().collect(), false)
        };
        NamedEvent::new(name, vec![spec("cpu_core", 4, [0, 1]), spec("cpu_atom", 10, [2, 3])])
    }

    fn faults() -> NamedEvent {
        EventSpec::new(Attr::software(Software::PAGE_FAULTS)).into()
    }

    fn plan(options: &EventSetOptions) -> Plan {
        Plan::new(&options.groups).unwrap()
    }

    #[test]
    fn hybrid_event_is_planned_once_for_each_pmu() {
        let plan =
            plan(&EventSetOptions::new().event(hybrid("cycles", Hardware::CPU_CYCLES)).event(faults()));
        let groups: Vec<(usize, bool, bool)> =
            plan.groups.iter().map(|group| (group.first, group.is_on(1), group.is_on(2))).collect();
        assert_eq!(groups, [(0, true, false), (0, false, true), (1, true, true)]);
        assert_eq!(plan.names.len(), 2);
    }

    #[test]
    fn hybrid_group_is_one_group_for_each_pmu() {
        let cycles = hybrid("cycles", Hardware::CPU_CYCLES);
        let instructions = hybrid("instructions", Hardware::INSTRUCTIONS);
        let plan = plan(&EventSetOptions::new().group([cycles, instructions, faults()]));
        assert_eq!(plan.groups.len(), 2);
        for (group, pmu) in plan.groups.iter().zip(["cpu_core", "cpu_atom"]) {
            let pmus: Vec<Option<&str>> = group.specs.iter().map(EventSpec::pmu).collect();
            assert_eq!(pmus, [Some(pmu), Some(pmu), None]);
            assert_eq!(group.events().map(|(index, _)| index).collect::<Vec<_>>(), [0, 1, 2]);
        }
    }

    #[test]
    fn member_without_the_pmu_of_its_leader_is_an_error() {
        let mut specs = hybrid("x", Hardware::CPU_CYCLES).specs().to_vec();
        specs.push(EventSpec::new(Attr::raw(1)).with_pmu("cpu_low"));
        let leader = NamedEvent::new("cycles", specs);
        let options = EventSetOptions::new().group([leader, hybrid("instructions", Hardware::INSTRUCTIONS)]);
        let error = Plan::new(&options.groups).unwrap_err().to_string();
        assert_eq!(error, "group of cycles: instructions is not an event of its PMU cpu_low");
    }

    #[test]
    fn event_without_a_pmu_is_an_error() {
        let options = EventSetOptions::new().event(NamedEvent::new("ghost", Vec::new()));
        assert!(matches!(Plan::new(&options.groups), Err(EventSetError::NoPmu { .. })));
        let empty = EventSetOptions::new().group(Vec::<NamedEvent>::new());
        assert!(matches!(Plan::new(&empty.groups), Err(EventSetError::NoEvents)));
    }

    #[test]
    fn weak_group_is_split_into_its_events() {
        let system = crate::System::new();
        let weak = crate::parse("page-faults,{task-clock,cpu-clock}:W", &system).unwrap();
        let mut plan = plan(&EventSetOptions::new().groups(weak));
        assert!(!plan.split(0), "a single event");
        assert!(plan.split(1));
        assert!(!plan.split(1), "split already");
        let indices: Vec<usize> = plan.groups.iter().map(|group| group.first).collect();
        assert_eq!((indices, plan.groups.iter().all(|group| group.specs.len() == 1)), (vec![0, 1, 2], true));
    }
}
