use std::sync::Arc;

use perf_sys::{Event, MapError, Ring};

use super::{EventError, RingKey, Set, SetError, Unit};
use crate::Place;

impl Set {
    /// Adds opened events to the set, and maps their rings.
    pub(super) fn add_units(&mut self, units: Vec<Unit>) -> Result<(), SetError> {
        for unit in units {
            let group = self.plan.groups.get(unit.group);
            let indices: Vec<usize> =
                group.into_iter().flat_map(|group| &group.events).map(|event| event.index).collect();
            for (event, index) in unit.events.iter().zip(indices) {
                self.index.add(event, index);
                self.add_to_ring(unit.place, event)?;
            }
            self.units.push(unit);
        }
        Ok(())
    }

    /// Redirects the event into the ring of its place, or maps that ring for it.
    fn add_to_ring(&mut self, place: Place, event: &Arc<Event>) -> Result<(), SetError> {
        let (Some(rings), Some(pages)) = (&mut self.rings, self.options.ring_pages) else { return Ok(()) };
        let ring_place = place.of_ring();
        let key = rings.iter().map(|(key, _)| *key).find(|&key| self.ledger.is_current(key, ring_place));
        let of_event = |error: MapError| {
            SetError::Event(EventError {
                label: event.label().clone(),
                place,
                attr: Box::new(*event.attr()),
                is_member: false,
                error: error.error,
            })
        };
        if let Some(key) = key {
            return rings.redirect(&key, Arc::clone(event)).map_err(of_event);
        }
        let ring = Ring::map(Arc::clone(event), pages).map_err(of_event)?;
        let key = RingKey::new(ring_place, self.ledger.add_ring(ring_place));
        rings.add(key, ring).map_err(|error| SetError::Rings(error.error))
    }

    /// Ends the ring of a place that has no events any longer. Its unread records can be drained.
    pub(super) fn drop_ring_of(&mut self, place: Place) {
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
