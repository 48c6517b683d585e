use std::sync::Arc;

use perf_sys::Event;

use super::{EventError, EventSet, EventSetError, RingKey, Unit};
use crate::set::Scope;
use crate::set::sized_rings::map_largest;

/// The size of the rings of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSize {
    /// The data pages of each ring.
    pub data_pages: usize,
    /// The data pages that were requested.
    pub asked: usize,
    /// The error of the next larger size, if smaller rings than the requested ones were mapped.
    pub reason: Option<perf_sys::Error>,
}

impl EventSet {
    /// Adds opened events to the set, and maps their rings.
    pub(super) fn add_units(&mut self, units: Vec<Unit>) -> Result<(), EventSetError> {
        let first = self.units.len();
        for unit in &units {
            let group = self.plan.groups.get(unit.group).map_or(&[][..], |group| &group.events);
            for (event, planned) in unit.events.iter().zip(group) {
                self.index.add(event, planned.index);
            }
        }
        self.units.extend(units);
        if self.is_open { self.map_rings(first) } else { Ok(()) }
    }

    /// Maps a ring for each place of the units from index `first` on that has none, of one size, and redirects
    /// the other events into it.
    pub(super) fn map_rings(&mut self, first: usize) -> Result<(), EventSetError> {
        let (Some(rings), Some((most, least))) = (&mut self.rings, self.options.ring_pages) else {
            return Ok(());
        };
        let units = self.units.get(first..).unwrap_or_default();
        let new = || units.iter().flat_map(|unit| unit.events.iter().map(|event| (unit.place, event)));
        let mut keys: Vec<RingKey> = rings
            .iter()
            .map(|(key, _)| *key)
            .filter(|key| self.ledger.is_current(*key, key.place()))
            .collect();
        let (mut owners, mut others): (Vec<(Scope, &Arc<Event>)>, Vec<_>) = (Vec::new(), Vec::new());
        for (place, event) in new() {
            let ring = place.of_ring();
            let is_known = keys.iter().any(|key| key.place() == ring);
            if is_known || owners.iter().any(|(place, _)| place.of_ring() == ring) {
                others.push((place, event));
            } else {
                owners.push((place, event));
            }
        }
        let (most, least) = self.ring_size.map_or((most, least), |size| (size.data_pages, size.data_pages));
        let mapped = map_largest(owners.iter().map(|(_, event)| Arc::clone(event)), most, least);
        let mapped = mapped.map_err(|failed| match owners.get(failed.index) {
            Some((place, event)) => {
                let error = EventError::of(event, *place, false, failed.error);
                EventSetError::Event(EventError { data_pages: failed.data_pages, ..error })
            }
            None => EventSetError::Rings(failed.error),
        })?;
        if self.ring_size.is_none() {
            let (asked, reason) = (mapped.asked, mapped.reason);
            self.ring_size = Some(RingSize { data_pages: mapped.data_pages, asked, reason });
        }
        for ((place, _), ring) in owners.iter().zip(mapped.rings) {
            let place = place.of_ring();
            let key = self.ledger.add_ring(place);
            rings.add(key, ring).map_err(|refused| EventSetError::Rings(refused.error))?;
            keys.push(key);
        }
        for (place, event) in others {
            let Some(key) = keys.iter().find(|key| key.place() == place.of_ring()) else { continue };
            let of_event = |error| EventError::of(event, place, false, error);
            rings.redirect(key, Arc::clone(event)).map_err(|refused| of_event(refused.error))?;
        }
        Ok(())
    }

    /// Ends the ring of a place that has no events any longer. Its unread records can be drained.
    pub(super) fn drop_ring_of(&mut self, place: Scope) {
        let place = place.of_ring();
        if self.units.iter().all(|unit| unit.place.of_ring() != place) {
            self.ledger.end_ring(place);
            self.remove_drained();
        }
    }

    /// Removes the rings whose events were closed and whose records are consumed.
    pub(super) fn remove_drained(&mut self) {
        let Some(rings) = &mut self.rings else { return };
        let ledger = &self.ledger;
        let is_over = |key: RingKey| !ledger.is_current(key, key.place());
        let old = rings.iter().filter(|(key, ring)| is_over(**key) && !ring.has_records());
        let old: Vec<RingKey> = old.map(|(key, _)| *key).collect();
        for key in old {
            if let Some(ring) = rings.remove(&key) {
                ring.events().for_each(|event| self.index.remove(event));
            }
        }
    }
}
