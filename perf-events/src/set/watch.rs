use std::sync::Arc;

use perf_sys::{Attr, Event, ReadFormat, Software, Target};

use super::{EventError, Place, Set, Unit};

impl Set {
    /// Opens an event of all tasks on the CPU, if the set is that of a cgroup.
    ///
    /// Events of a cgroup do not show that their CPU was offline, because their time enabled advances only
    /// while a task of the cgroup runs.
    pub(super) fn open_watch(&self, cpu: u32) -> Result<Option<Unit>, EventError> {
        if !self.options.target.is_cgroup() || self.watches.contains_key(&cpu) {
            return Ok(None);
        }
        let attr = Attr::software(Software::DUMMY).with_read_format(ReadFormat::TOTAL_TIME_ENABLED);
        let (place, attr) = (Place::cpu(cpu), Box::new(attr));
        match Event::open(&attr, Target::cpu(cpu)) {
            Ok(event) => Ok(Some(Unit { group: 0, place, events: vec![Arc::new(event)], alive: None })),
            Err(error) => {
                let label = Software::DUMMY.name().unwrap_or_default().into();
                Err(EventError { label, place, attr, is_member: false, error, data_pages: 0, cgroup: None })
            }
        }
    }

    /// Returns the events by which a unit on this CPU is seen to be alive.
    pub(super) fn watched<'s>(&'s self, unit: &'s Unit, cpu: u32) -> &'s Unit {
        self.watches.get(&cpu).unwrap_or(unit)
    }
}
