//! The rings of a set, the events whose records they have, and what was lost in them.

use std::sync::Arc;

use perf_sys::{Event, RingSet};

use super::event_index::EventIndex;
use super::opened::Opened;
use super::plan::PlannedGroup;
use super::unit::Unit;
use super::{EventError, EventSetError, RingKey, Scope};
use crate::set::loss::LossLedger;
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

#[derive(Debug)]
pub(super) struct Rings {
    /// `None` if the set only counts.
    pub(super) set: Option<RingSet<RingKey>>,
    pub(super) ledger: LossLedger,
    pub(super) index: EventIndex,
    /// The size of all rings, known since the first were mapped.
    pub(super) size: Option<RingSize>,
}

impl Rings {
    pub(super) fn new(set: Option<RingSet<RingKey>>) -> Self {
        Self { set, ledger: LossLedger::default(), index: EventIndex::default(), size: None }
    }

    /// Maps a ring for each scope of the units from index `first` on that has none, and redirects the other events
    /// into the ring of their scope.
    pub(super) fn add(&mut self, opened: &Opened, first: usize) -> Result<(), EventSetError> {
        let units = opened.units.get(first..).unwrap_or_default();
        for unit in units {
            let planned = opened.plan.groups.get(unit.group).into_iter().flat_map(PlannedGroup::events);
            for (event, (index, _)) in unit.events.iter().zip(planned) {
                self.index.add(event, index);
            }
        }
        let (Some(rings), Some(asked)) = (&mut self.set, opened.options.ring_pages.clone()) else {
            return Ok(());
        };
        // Rings that wait to be drained, after their events were closed, take no new event.
        let is_current = |key: &RingKey| self.ledger.is_current(*key, key.scope());
        let mut keys: Vec<RingKey> = rings.iter().map(|(key, _)| *key).filter(is_current).collect();
        // The first event of a scope owns its ring; the kernel redirects the others into it.
        let (mut owners, mut others): (Vec<(Scope, &Arc<Event>)>, Vec<_>) = (Vec::new(), Vec::new());
        for (scope, event) in
            units.iter().flat_map(|unit| unit.events.iter().map(|event| (unit.scope, event)))
        {
            let ring = scope.of_ring();
            let has_ring = keys.iter().any(|key| key.scope() == ring);
            if has_ring || owners.iter().any(|(owner, _)| owner.of_ring() == ring) {
                others.push((scope, event));
            } else {
                owners.push((scope, event));
            }
        }
        // Rings that are added have the size of the first ones.
        let pages = self.size.map_or(asked, |size| size.data_pages..=size.data_pages);
        let mapped = map_largest(owners.iter().map(|(_, event)| Arc::clone(event)), pages);
        let mapped = mapped.map_err(|failed| match owners.get(failed.index) {
            Some((scope, event)) => {
                let error = EventError::of(event, *scope, false, failed.error);
                EventSetError::Event(EventError { data_pages: failed.data_pages, ..error })
            }
            None => EventSetError::Rings(failed.error),
        })?;
        let size = RingSize { data_pages: mapped.data_pages, asked: mapped.asked, reason: mapped.reason };
        self.size.get_or_insert(size);
        for ((scope, _), ring) in owners.iter().zip(mapped.rings) {
            let key = self.ledger.add_ring(scope.of_ring());
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

    /// Ends the ring of a closed unit, unless other units share it. Its unread records can be drained.
    pub(super) fn end(&mut self, closed: &Unit, units: &[Unit]) {
        let scope = closed.scope.of_ring();
        if units.iter().all(|unit| unit.scope.of_ring() != scope) {
            self.ledger.end_ring(scope);
            self.remove_drained();
        }
    }

    /// Removes the rings whose events were closed and whose records are consumed.
    pub(super) fn remove_drained(&mut self) {
        let Some(rings) = &mut self.set else { return };
        let is_over = |key: RingKey| !self.ledger.is_current(key, key.scope());
        let old = rings.iter().filter(|(key, ring)| is_over(**key) && !ring.has_records());
        let old: Vec<RingKey> = old.map(|(key, _)| *key).collect();
        for key in old {
            if let Some(ring) = rings.remove(&key) {
                ring.events().for_each(|event| self.index.remove(event));
            }
        }
    }

    /// Notes bytes that were skipped because they are no records, and removes the rings that are over.
    pub(super) fn note_damage(&mut self) {
        if let Some(rings) = &self.set {
            rings.iter().for_each(|(key, ring)| self.ledger.note_damage(*key, ring.damage()));
        }
        self.remove_drained();
    }
}
