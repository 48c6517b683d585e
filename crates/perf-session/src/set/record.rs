//! A record of a set, with its event and scope.

use std::fmt;
use std::sync::Arc;

use perf_ring::decode::{Error, Result};
use perf_ring::{Event, RawRecord, Record, RecordType, SampleLayout, SortedRecord};

use super::rings::EventIndex;
use super::sample_repair::{Owner, SharedSamples};
use super::{RingKey, Scope};

/// A record of [`EventSet::drain_sorted`](crate::EventSet::drain_sorted), with its origin.
#[derive(Clone, Copy)]
pub struct EventSetRecord<'r> {
    pub(super) record: SortedRecord<'r, RingKey>,
    pub(super) index: &'r EventIndex,
    pub(super) shared: &'r SharedSamples,
}

impl<'r> EventSetRecord<'r> {
    /// Returns the key of the ring.
    pub const fn key(&self) -> RingKey {
        *self.record.key()
    }

    /// Returns the scope of the ring: a CPU, or a thread if the events of the set are on any CPU.
    pub const fn scope(&self) -> Scope {
        self.record.key().scope()
    }

    /// Returns the record, not decoded.
    pub const fn raw(&self) -> RawRecord<'r> {
        self.record.raw()
    }

    /// Decodes the record by the layout of its event.
    ///
    /// # Errors
    ///
    /// The record is malformed, or no layout is known for its id, as [`SortedRecord::decode`] says,
    /// and several events may have written it.
    #[inline]
    pub fn decode(&self) -> Result<Record<'r, &'r SampleLayout>> {
        match (self.record.decode(), self.owner()) {
            (Err(Error::UnknownId { .. }), Some(owner)) => self.raw().decode(&owner.layout),
            (decoded, _) => decoded,
        }
    }

    /// Returns the time by which the record was sorted, in ns of the events' clock.
    pub const fn time(&self) -> u64 {
        self.record.time()
    }

    /// Returns whether a record with a later time was delivered before.
    pub const fn is_late(&self) -> bool {
        self.record.is_late()
    }

    /// Returns the event that wrote the record, whose label is its name; `None` if the record has
    /// no known id and several events write into the ring.
    pub const fn event(&self) -> Option<&'r Arc<Event>> {
        self.record.event()
    }

    /// Returns the index of the record's logical event in the order of the options.
    ///
    /// A sample with an unknown id is of the one event of the ring whose samples may have it:
    /// kernel errata, "Id and time of another software event". `None` if there are several.
    pub fn index(&self) -> Option<usize> {
        match self.event() {
            Some(event) => self.index.find(event),
            None => self.owner().map(|owner| owner.index),
        }
    }

    /// Returns the event that wrote a sample whose id is unknown.
    fn owner(&self) -> Option<&'r Owner> {
        let is_foreign = self.event().is_none() && self.raw().kind() == RecordType::SAMPLE;
        if is_foreign { self.shared.find(self.scope()) } else { None }
    }

    /// Returns the record as the [`RingSet`](perf_ring::RingSet) delivers it.
    pub const fn sorted(&self) -> SortedRecord<'r, RingKey> {
        self.record
    }
}

/// The scope, the time and the decoded record.
impl fmt::Debug for EventSetRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ns: ", self.scope(), self.time())?;
        match self.decode() {
            Ok(record) => record.fmt(f),
            Err(error) => write!(f, "{:?}: {error}", self.raw().kind()),
        }
    }
}
