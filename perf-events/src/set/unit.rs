use std::sync::Arc;

use perf_sys::decode::ReadValues;
use perf_sys::{Count, Event, ReadFormat, Result};

use super::Place;

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
    ///
    /// The error has the index of its event.
    pub(super) fn read(&self) -> Result<Vec<Count>, (usize, perf_sys::Error)> {
        let of = |index| move |error| (index, error);
        let Some(leader) = self.leader() else { return Ok(Vec::new()) };
        let format = leader.attr().read_format;
        if !format.contains(ReadFormat::GROUP) {
            return self
                .events
                .iter()
                .enumerate()
                .map(|(index, event)| event.read().map_err(of(index)))
                .collect();
        }
        let mut words = vec![0; ReadValues::words(format, self.events.len() as u64) as usize];
        let values = leader.read_values(&mut words).map_err(of(0))?;
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
