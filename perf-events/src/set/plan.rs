use std::sync::Arc;

use super::SetError;
use crate::{CpuList, EventGroup, EventSpec, LogicalEvent};

/// An event of one PMU, and the index of the logical event that it is a part of.
#[derive(Clone, Debug)]
pub(super) struct PlannedEvent {
    pub(super) spec: EventSpec,
    pub(super) index: usize,
}

/// Events that are opened as one group, the leader first. A single event is a group of one.
#[derive(Clone, Debug)]
pub(super) struct PlannedGroup {
    pub(super) events: Vec<PlannedEvent>,
    /// The CPUs on which all PMUs of the group count; `None` for all.
    pub(super) cpus: Option<CpuList>,
    pub(super) is_cpu_only: bool,
    pub(super) is_leader_sampling: bool,
    /// Whether the events are opened each by itself if they cannot be opened as a group.
    pub(super) is_weak: bool,
}

/// The events of a set.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) groups: Vec<PlannedGroup>,
    /// The names of the logical events.
    pub(super) names: Vec<Arc<str>>,
}

impl Plan {
    /// Plans a group for each PMU of each leader.
    pub(super) fn new(groups: &[EventGroup]) -> Result<Self, SetError> {
        let mut plan = Self { groups: Vec::new(), names: Vec::new() };
        for group in groups {
            let first = plan.names.len();
            let events = group.members();
            plan.names.extend(events.iter().map(|event| event.name().into()));
            let Some((leader, members)) = events.split_first() else { continue };
            if let Some(empty) = events.iter().find(|event| event.specs().is_empty()) {
                return Err(SetError::NoPmu { event: empty.name().into() });
            }
            for spec in leader.specs() {
                let mut events = vec![PlannedEvent { spec: spec.clone(), index: first }];
                for (member, index) in members.iter().zip(first + 1..) {
                    let spec = on_same_pmu(spec, leader, member)?.clone();
                    events.push(PlannedEvent { spec, index });
                }
                plan.groups.push(PlannedGroup::new(events, group));
            }
        }
        if plan.groups.is_empty() { Err(SetError::NoEvents) } else { Ok(plan) }
    }

    /// Splits a weak group into single events. Returns `false` if it is not weak or a single event.
    pub(super) fn split(&mut self, group: usize) -> bool {
        let Some(weak) = self.groups.get(group).filter(|group| group.is_weak && group.events.len() > 1)
        else {
            return false;
        };
        let single = |event: &PlannedEvent| PlannedGroup {
            events: vec![event.clone()],
            cpus: event.spec.cpus().cloned(),
            is_cpu_only: event.spec.is_cpu_only(),
            is_leader_sampling: false,
            is_weak: false,
        };
        let singles: Vec<PlannedGroup> = weak.events.iter().map(single).collect();
        self.groups.splice(group..=group, singles);
        true
    }
}

impl PlannedGroup {
    fn new(events: Vec<PlannedEvent>, group: &EventGroup) -> Self {
        let lists = events.iter().filter_map(|event| event.spec.cpus());
        let cpus = lists.cloned().reduce(|all, cpus| all.intersection(&cpus));
        let is_cpu_only = events.iter().any(|event| event.spec.is_cpu_only());
        let (is_leader_sampling, is_weak) = (group.is_leader_sampling(), group.is_weak());
        Self { events, cpus, is_cpu_only, is_leader_sampling, is_weak }
    }

    /// Returns whether the group is opened on this CPU.
    pub(super) fn is_on(&self, cpu: u32) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(cpu))
    }
}

/// Returns the spec of `member` for the group on the PMU of `spec`.
fn on_same_pmu<'m>(
    spec: &EventSpec,
    leader: &LogicalEvent,
    member: &'m LogicalEvent,
) -> Result<&'m EventSpec, SetError> {
    let found = match member.specs() {
        [one] => Some(one),
        several => several.iter().find(|other| other.pmu() == spec.pmu()),
    };
    found.ok_or_else(|| SetError::GroupPmu {
        leader: leader.name().into(),
        member: member.name().into(),
        pmu: spec.pmu().unwrap_or_default().into(),
    })
}

#[cfg(test)]
mod tests;
