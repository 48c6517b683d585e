use std::sync::Arc;

use crate::names::logical::NamedEvent;

/// Events that are opened together: those between braces in an event string, or a single event.
///
/// On a machine with several core PMUs a generic event has one [`EventSpec`](crate::EventSpec) for each of
/// them. The kernel schedules the events of one PMU together, so such a group is one group for each PMU.
#[derive(Clone, Debug)]
pub struct EventGroup {
    pub(super) name: Option<Arc<str>>,
    pub(super) members: Vec<NamedEvent>,
    pub(super) is_braced: bool,
    pub(super) is_leader_sampling: bool,
    pub(super) is_weak: bool,
}

impl EventGroup {
    /// Returns a group that the kernel schedules together: all of its events count, or none.
    #[must_use]
    pub fn new(members: Vec<NamedEvent>) -> Self {
        Self { name: None, members, is_braced: true, is_leader_sampling: false, is_weak: false }
    }

    /// Returns the name before the opening brace.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the events, the leader first. There is at least one if an event string made the group.
    pub fn members(&self) -> &[NamedEvent] {
        &self.members
    }

    /// Returns the events.
    pub fn into_members(self) -> Vec<NamedEvent> {
        self.members
    }

    /// Returns the group with each event changed, for example its attrs.
    #[must_use]
    pub fn map_members(mut self, change: impl FnMut(NamedEvent) -> NamedEvent) -> Self {
        self.members = self.members.into_iter().map(change).collect();
        self
    }

    /// Returns `true` for events between braces, which the kernel schedules together, `false` for a
    /// single event.
    pub fn is_braced(&self) -> bool {
        self.is_braced
    }

    /// Returns `true` if only the leader samples and each sample has the counts of all members: `:S`.
    pub fn is_leader_sampling(&self) -> bool {
        self.is_leader_sampling
    }

    /// Returns `true` if the members are to be opened as single events when they do not fit the PMU
    /// together: `:W`.
    pub fn is_weak(&self) -> bool {
        self.is_weak
    }
}

impl From<NamedEvent> for EventGroup {
    fn from(event: NamedEvent) -> Self {
        Self { is_braced: false, ..Self::new(vec![event]) }
    }
}
