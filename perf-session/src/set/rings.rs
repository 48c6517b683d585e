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

    /// Maps a ring for each scope of the units from index `first` on that has none, of one size, and redirects
    /// the other events into it.
    pub(super) fn map_rings(&mut self, first: usize) -> Result<(), EventSetError> {
        let (Some(rings), Some(asked)) = (&mut self.rings, self.options.ring_pages.clone()) else {
            return Ok(());
        };
        let units = self.units.get(first..).unwrap_or_default();
        let new = || units.iter().flat_map(|unit| unit.events.iter().map(|event| (unit.scope, event)));
        let mut keys: Vec<RingKey> = rings
            .iter()
            .map(|(key, _)| *key)
            .filter(|key| self.ledger.is_current(*key, key.scope()))
            .collect();
        let (mut owners, mut others): (Vec<(Scope, &Arc<Event>)>, Vec<_>) = (Vec::new(), Vec::new());
        for (scope, event) in new() {
            let ring = scope.of_ring();
            let is_known = keys.iter().any(|key| key.scope() == ring);
            if is_known || owners.iter().any(|(scope, _)| scope.of_ring() == ring) {
                others.push((scope, event));
            } else {
                owners.push((scope, event));
            }
        }
        // Rings that are added have the size of the first ones.
        let pages = self.ring_size.map_or(asked, |size| size.data_pages..=size.data_pages);
        let mapped = map_largest(owners.iter().map(|(_, event)| Arc::clone(event)), pages);
        let mapped = mapped.map_err(|failed| match owners.get(failed.index) {
            Some((scope, event)) => {
                let error = EventError::of(event, *scope, false, failed.error);
                EventSetError::Event(EventError { data_pages: failed.data_pages, ..error })
            }
            None => EventSetError::Rings(failed.error),
        })?;
        if self.ring_size.is_none() {
            let (asked, reason) = (mapped.asked, mapped.reason);
            self.ring_size = Some(RingSize { data_pages: mapped.data_pages, asked, reason });
        }
        for ((scope, _), ring) in owners.iter().zip(mapped.rings) {
            let scope = scope.of_ring();
            let key = self.ledger.add_ring(scope);
            rings.add(key, ring).map_err(|refused| EventSetError::Rings(refused.error))?;
            keys.push(key);
        }
        for (scope, event) in others {
            let Some(key) = keys.iter().find(|key| key.scope() == scope.of_ring()) else { continue };
            let of_event = |error| EventError::of(event, scope, false, error);
            rings.redirect(key, Arc::clone(event)).map_err(|refused| of_event(refused.error))?;
        }
        Ok(())
    }

    /// Ends the ring of a scope that has no events any longer. Its unread records can be drained.
    pub(super) fn drop_ring_of(&mut self, scope: Scope) {
        let scope = scope.of_ring();
        if self.units.iter().all(|unit| unit.scope.of_ring() != scope) {
            self.ledger.end_ring(scope);
            self.remove_drained();
        }
    }

    /// Removes the rings whose events were closed and whose records are consumed.
    pub(super) fn remove_drained(&mut self) {
        let Some(rings) = &mut self.rings else { return };
        let ledger = &self.ledger;
        let is_over = |key: RingKey| !ledger.is_current(key, key.scope());
        let old = rings.iter().filter(|(key, ring)| is_over(**key) && !ring.has_records());
        let old: Vec<RingKey> = old.map(|(key, _)| *key).collect();
        for key in old {
            if let Some(ring) = rings.remove(&key) {
                ring.events().for_each(|event| self.index.remove(event));
            }
        }
    }
}
