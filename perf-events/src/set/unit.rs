use std::sync::Arc;

use perf_sys::decode::ReadValues;
use perf_sys::{Count, Event, ReadFormat};

use super::{EventError, Place};

/// A group of the plan, opened at one place.
#[derive(Debug)]
pub(super) struct Unit {
    /// Index of the group in the plan.
    pub(super) group: usize,
    pub(super) place: Place,
    /// The leader first.
    pub(super) events: Vec<Arc<Event>>,
    /// The time enabled of the leader at the last look, and when that was.
    pub(super) alive: Option<super::hotplug::Sign>,
}

impl Unit {
    pub(super) fn leader(&self) -> Option<&Arc<Event>> {
        self.events.first()
    }

    /// Reads the counts of the events, in their order. A group that is read as a whole is read in one
    /// system call.
    pub(super) fn read(&self) -> Result<Vec<Count>, EventError> {
        let Some(leader) = self.leader() else { return Ok(Vec::new()) };
        let format = leader.attr().read_format;
        if !format.contains(ReadFormat::GROUP) {
            let read = |(index, event): (usize, &Arc<Event>)| {
                event.read().map_err(|error| EventError::of(event, self.place, index != 0, error))
            };
            return self.events.iter().enumerate().map(read).collect();
        }
        let mut words = vec![0; ReadValues::words(format, self.events.len() as u64) as usize];
        let values = leader
            .read_values(&mut words)
            .map_err(|error| EventError::of(leader, self.place, false, error))?;
        let (time_enabled, time_running) = (values.time_enabled(), values.time_running());
        let counts = self.events.iter().zip(values.iter()).map(|(event, entry)| Count {
            label: event.label().clone(),
            value: entry.value,
            time_enabled,
            time_running,
            id: entry.id,
            lost: entry.lost,
        });
        Ok(counts.collect())
    }
}
