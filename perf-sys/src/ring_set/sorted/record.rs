use std::sync::Arc;

use perf_decode::{RawRecord, Record, Result, SampleLayout};

use super::events::Events;
use crate::Event;

/// A record of [`RingSet::drain_sorted`](crate::RingSet::drain_sorted), with its origin.
#[derive(Clone, Copy, Debug)]
pub struct SortedRecord<'r, K> {
    pub(super) key: &'r K,
    pub(super) raw: RawRecord<'r>,
    pub(super) time: u64,
    pub(super) is_late: bool,
    pub(super) event: Option<&'r Arc<Event>>,
    pub(super) events: &'r Events,
}

impl<'r, K> SortedRecord<'r, K> {
    /// Returns the key of the ring.
    pub const fn key(&self) -> &'r K {
        self.key
    }

    /// Returns the record, not decoded.
    pub const fn raw(&self) -> RawRecord<'r> {
        self.raw
    }

    /// Decodes the record by the layout of its event.
    ///
    /// # Errors
    ///
    /// Those of [`layout`](Self::layout) and of [`RawRecord::decode`].
    #[inline]
    pub fn decode(&self) -> Result<Record<'r, &'r SampleLayout>> {
        self.raw.decode(self.layout()?)
    }

    /// Returns the layout of the record's event.
    ///
    /// # Errors
    ///
    /// Those of [`Layouts::find`](perf_decode::Layouts::find), if several events write into the ring.
    #[inline]
    pub fn layout(&self) -> Result<&'r SampleLayout> {
        self.events.layout(self.raw)
    }

    /// Returns the time by which the record was sorted, in ns of the events' clock: its own, or that of
    /// the record before it in the ring if it has none.
    pub const fn time(&self) -> u64 {
        self.time
    }

    /// Returns whether a record with a later time was delivered before.
    pub const fn is_late(&self) -> bool {
        self.is_late
    }

    /// Returns the event that wrote the record; `None` if the record has no known id and several events
    /// write into the ring.
    pub const fn event(&self) -> Option<&'r Arc<Event>> {
        self.event
    }
}
