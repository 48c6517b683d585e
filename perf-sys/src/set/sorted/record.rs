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
    /// Index of the event in the ring, if it is known.
    pub(super) index: usize,
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

    /// Returns the index of the event that wrote the record in [`Ring::events`](crate::Ring::events): 0 for
    /// the ring's own event, 1 for the first that was [redirected](crate::RingSet::redirect), and so on.
    /// With the key it finds a program's own value for the event without a system call.
    ///
    /// `None` if the record has no known id and several events write into the ring.
    ///
    /// ```no_run
    /// # use perf_sys::RingSet;
    /// # fn read(set: &mut RingSet<usize>, names: &[[&str; 2]]) -> perf_sys::Result<()> {
    /// // The names of the two events of each ring, whose key is the index of its row.
    /// set.drain_sorted(|record| {
    ///     let row = names.get(*record.key());
    ///     let name = record.event_index().and_then(|index| row?.get(index));
    ///     println!("{} {}", record.time(), name.unwrap_or(&"unknown"));
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn event_index(&self) -> Option<usize> {
        self.event.map(|_| self.index)
    }

    /// Returns the event that wrote the record; `None` if the record has no known id and several events
    /// write into the ring.
    pub const fn event(&self) -> Option<&'r Arc<Event>> {
        self.event
    }
}
