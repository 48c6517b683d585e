//! A group that is open on a CPU or for a thread.

use std::sync::Arc;

use perf_ring::decode::ReadValues;
use perf_ring::{Count, Error, Event, ReadFormat, read_values};

use super::running::Running;
use super::{EventError, Scope};
use crate::why::DroppedFeature;

/// A group of the plan, opened on one CPU or for one thread.
#[derive(Debug)]
pub(super) struct Unit {
    /// Index of the group in the plan.
    pub(super) group: usize,
    pub(super) scope: Scope,
    /// The events, group leader first.
    pub(super) events: Vec<Arc<Event>>,
    /// The features of the attr of each event that were dropped.
    pub(super) dropped: Vec<Vec<DroppedFeature>>,
    pub(super) running: Running,
}

impl Unit {
    /// Returns a unit without events.
    pub(super) fn new(group: usize, scope: Scope) -> Self {
        let (events, dropped) = (Vec::new(), Vec::new());
        Self { group, scope, events, dropped, running: Running::default() }
    }

    /// Returns the CPU of a unit that observes all tasks of a CPU.
    pub(super) fn only_cpu(&self) -> Option<u32> {
        self.scope.cpu_id().filter(|_| self.scope.thread_id().is_none())
    }

    pub(super) fn leader(&self) -> Option<&Arc<Event>> {
        self.events.first()
    }

    /// Reads the counts of the events, in their order; `None` for a pinned event that could not be
    /// scheduled. A group that is read as a whole is read in one system call.
    pub(super) fn read(&self) -> Result<Vec<Option<Count>>, EventError> {
        let Some(leader) = self.leader() else { return Ok(Vec::new()) };
        if leader.attr().read_format.contains(ReadFormat::GROUP) {
            return self.read_group(leader);
        }
        let read = |(index, event): (usize, &Arc<Event>)| match Count::read(event) {
            Ok(count) => Ok(Some(count)),
            Err(Error::PinnedFailed) => Ok(None),
            Err(error) => Err(EventError::of(event, self.scope, index != 0, error)),
        };
        self.events.iter().enumerate().map(read).collect()
    }

    fn read_group(&self, leader: &Event) -> Result<Vec<Option<Count>>, EventError> {
        let format = leader.attr().read_format;
        let mut words = vec![0; ReadValues::words(format, self.events.len() as u64) as usize];
        let values = match read_values(leader, &mut words) {
            Ok(values) => values,
            Err(Error::PinnedFailed) => return Ok(vec![None; self.events.len()]),
            Err(error) => return Err(EventError::of(leader, self.scope, false, error)),
        };
        let counts = values.iter().map(|entry| Count::from_entry(&values, entry));
        Ok(counts.map(Some).collect())
    }
}
