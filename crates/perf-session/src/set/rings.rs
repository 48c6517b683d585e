//! The rings of a set, the events that write into them, and their losses.

use std::ops::RangeInclusive;
use std::sync::Arc;

use perf_ring::{Event, RingSet, SnapshotRing};

use super::loss::LossLedger;
use super::opened::Opened;
use super::opened::Unit;
use super::sample_repair::SharedSamples;
use super::sized_rings::{RingSize, map_largest, map_largest_snapshots};
use super::{EventError, EventSetError, EventSetEvent, RingKey};

#[derive(Debug)]
pub(super) struct Rings {
    /// `None` if the set only counts.
    pub(super) set: Option<RingSet<RingKey>>,
    /// The overwritten rings, which a set has instead of ordinary ones.
    pub(super) snapshots: Vec<(RingKey, SnapshotRing)>,
    pub(super) ledger: LossLedger,
    pub(super) index: EventIndex,
    pub(super) shared: SharedSamples,
    /// The size of all rings except those of system-wide events, known since the first were mapped.
    pub(super) size: Option<RingSize>,
    /// The size of the rings of system-wide events.
    system_wide_size: Option<RingSize>,
}

impl Rings {
    pub(super) fn new(set: Option<RingSet<RingKey>>) -> Self {
        Self {
            set,
            snapshots: Vec::new(),
            ledger: LossLedger::default(),
            index: EventIndex::default(),
            shared: SharedSamples::default(),
            size: None,
            system_wide_size: None,
        }
    }

    /// Maps a ring for each scope without one, for the units from index `first` on, and redirects
    /// the other events into the ring of their scope.
    pub(super) fn add(&mut self, opened: &Opened, first: usize) -> Result<(), EventSetError> {
        let units = opened.units().get(first..).unwrap_or_default();
        let events = || units.iter().flat_map(|unit| opened.events_of(unit));
        events().for_each(|open| self.index.add(open.event, open.index));
        self.shared = SharedSamples::new(opened);
        let Some(asked) = opened.options().ring_pages.clone().filter(|_| self.set.is_some()) else {
            return Ok(());
        };
        let keys = self.current_keys();
        // The first event of a scope owns its ring; the kernel redirects the others into it.
        let (mut owners, mut others): (Vec<EventSetEvent<'_>>, Vec<_>) = (Vec::new(), Vec::new());
        for open in events() {
            let ring = open.scope.of_ring();
            let has_ring = keys.iter().any(|key| key.scope() == ring);
            if has_ring || owners.iter().any(|owner| owner.scope.of_ring() == ring) {
                others.push(open);
            } else {
                owners.push(open);
            }
        }
        let is_system_wide = |owner: &EventSetEvent<'_>| owner.scope.is_system_wide();
        let (system_wide, of_target): (Vec<_>, Vec<_>) = owners.into_iter().partition(is_system_wide);
        let is_overwritten = opened.options().is_overwritten;
        // Later rings have the size of the first ones.
        let pages = self.size.map_or(asked, |size| size.data_pages..=size.data_pages);
        let size = self.map(&of_target, pages.clone(), is_overwritten)?;
        self.size = self.size.or(size);
        let most = self.size.map_or(*pages.end(), |size| size.data_pages);
        let quarter = |pages: usize| (pages / 4).max(1);
        let pages = match self.system_wide_size {
            Some(size) => size.data_pages..=size.data_pages,
            None => quarter(*pages.start()).min(quarter(most))..=quarter(most),
        };
        let size = self.map(&system_wide, pages, is_overwritten)?;
        self.system_wide_size = self.system_wide_size.or(size);
        let keys = self.current_keys();
        others.iter().try_for_each(|open| self.redirect(open, &keys))
    }

    /// Returns the keys of the rings into which events write. Rings that wait to be drained, after
    /// their events were closed, take no new event.
    fn current_keys(&self) -> Vec<RingKey> {
        let keys = self.set.iter().flat_map(RingSet::iter).map(|(key, _)| *key);
        let keys = keys.chain(self.snapshots.iter().map(|(key, _)| *key));
        keys.filter(|key| self.ledger.is_current(*key, key.scope())).collect()
    }

    /// Maps a ring for each of these events, all of one size, and returns the size.
    fn map(
        &mut self,
        owners: &[EventSetEvent<'_>],
        pages: RangeInclusive<usize>,
        is_overwritten: bool,
    ) -> Result<Option<RingSize>, EventSetError> {
        let Some(rings) = self.set.as_mut().filter(|_| !owners.is_empty()) else { return Ok(None) };
        let owned: Vec<Arc<Event>> = owners.iter().map(|owner| Arc::clone(owner.event)).collect();
        let failed = |error, data_pages, index: usize| match owners.get(index) {
            Some(owner) => EventError { data_pages, ..owner.failed(error) }.into(),
            None => EventSetError::Rings(error),
        };
        if is_overwritten {
            let (mapped, size) = map_largest_snapshots(&owned, pages)
                .map_err(|(error, data_pages, index)| failed(error, data_pages, index))?;
            for (owner, ring) in owners.iter().zip(mapped) {
                let key = self.ledger.add_ring(owner.scope.of_ring());
                self.snapshots.push((key, ring));
            }
            return Ok(Some(size));
        }
        let mapped = map_largest(owned, pages)
            .map_err(|refused| failed(refused.error, refused.data_pages, refused.index))?;
        for (owner, ring) in owners.iter().zip(mapped.rings) {
            let key = self.ledger.add_ring(owner.scope.of_ring());
            rings.add(key, ring).map_err(|refused| EventSetError::Rings(refused.error))?;
        }
        Ok(Some(mapped.size))
    }

    /// Redirects an event into the ring of its scope.
    fn redirect(&mut self, open: &EventSetEvent<'_>, keys: &[RingKey]) -> Result<(), EventSetError> {
        let ring = open.scope.of_ring();
        if let Some((_, into)) = self.snapshots.iter().rfind(|(key, _)| key.scope() == ring) {
            let redirected = open.event.set_output(Some(into.event()));
            return redirected.map_err(|error| open.failed(error).into());
        }
        let key = keys.iter().find(|key| key.scope() == ring);
        let (Some(rings), Some(key)) = (&mut self.set, key) else { return Ok(()) };
        let redirected = rings.redirect(key, Arc::clone(open.event));
        redirected.map_err(|refused| open.failed(refused.error).into())
    }

    /// Ends the ring of a closed unit, unless other units share it. Its unread records can be
    /// drained.
    pub(super) fn end(&mut self, closed: &Unit, units: &[Unit]) {
        let scope = closed.scope.of_ring();
        if units.iter().all(|unit| unit.scope.of_ring() != scope) {
            self.ledger.end_ring(scope);
            self.snapshots.retain(|(key, _)| key.scope() != scope);
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

    /// Notes bytes that were skipped because they are not records, and removes the rings that are
    /// over.
    pub(super) fn note_damage(&mut self) {
        if let Some(rings) = &self.set {
            rings.iter().for_each(|(key, ring)| self.ledger.note_damage(*key, ring.damage()));
        }
        self.remove_drained();
    }
}

/// The logical event of each open event, by the address of the event.
#[derive(Debug, Default)]
pub(super) struct EventIndex(Vec<(usize, usize)>);

impl EventIndex {
    pub(super) fn add(&mut self, event: &Arc<Event>, index: usize) {
        let address = Arc::as_ptr(event).addr();
        let at = self.0.partition_point(|&(other, _)| other < address);
        self.0.insert(at, (address, index));
    }

    pub(super) fn remove(&mut self, event: &Arc<Event>) {
        let address = Arc::as_ptr(event).addr();
        self.0.retain(|&(other, _)| other != address);
    }

    pub(super) fn find(&self, event: &Arc<Event>) -> Option<usize> {
        let address = Arc::as_ptr(event).addr();
        let at = self.0.binary_search_by_key(&address, |&(other, _)| other).ok()?;
        self.0.get(at).map(|&(_, index)| index)
    }
}
