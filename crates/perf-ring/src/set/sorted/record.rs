//! A delivered record with its origin and layout.

use std::sync::Arc;

use perf_decode::{Layouts, RawRecord, Record, SampleLayout};
use perf_sys::Event;

use crate::error::{Error, Result};
use crate::ring::Ring;

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
    /// The errors of [`layout`](Self::layout) and of [`RawRecord::decode`].
    #[inline]
    pub fn decode(&self) -> perf_decode::Result<Record<'r, &'r SampleLayout>> {
        self.raw.decode(self.layout()?)
    }

    /// Returns the layout of the record's event.
    ///
    /// # Errors
    ///
    /// The errors of [`Layouts::find`](perf_decode::Layouts::find), if several events write into
    /// the ring.
    #[inline]
    pub fn layout(&self) -> perf_decode::Result<&'r SampleLayout> {
        self.events.layout(self.raw)
    }

    /// Returns the time by which the record was sorted, in ns of the events' clock. A record
    /// without a time has the time of the record before it in the ring.
    pub const fn time(&self) -> u64 {
        self.time
    }

    /// Returns whether a record with a later time was delivered before.
    pub const fn is_late(&self) -> bool {
        self.is_late
    }

    /// Returns the index of the event that wrote the record in
    /// [`Ring::events`](crate::Ring::events): 0 for the ring's own event, 1 for the first that was
    /// [redirected](crate::RingSet::redirect), and so on. With the key it finds a program's own
    /// value for the event without a system call.
    ///
    /// `None` if the record has no known id and several events write into the ring.
    ///
    /// ```no_run
    /// # use perf_ring::RingSet;
    /// # fn read(set: &mut RingSet<usize>, names: &[[&str; 2]]) -> perf_ring::Result<()> {
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

    /// Returns the event that wrote the record; `None` if the record has no known id and several
    /// events write into the ring.
    pub const fn event(&self) -> Option<&'r Arc<Event>> {
        self.event
    }
}

/// The events that write into one ring, in the order of [`Ring::events`].
#[derive(Debug)]
pub(super) enum Events {
    /// All records have this layout, and are of this event.
    One(SampleLayout, u16),
    Many {
        /// The events by id.
        layouts: Layouts<Vec<(u64, SampleLayout)>>,
        /// Their indices in the ring, in the order of `layouts`.
        indices: Vec<u16>,
        /// Layout of all events, if they have the same, for records with an unknown id: the kernel
        /// writes the id of a foreign event into samples of software events.
        common: Option<SampleLayout>,
    },
}

/// The index of an event that is not known.
pub(super) const UNKNOWN: u16 = u16::MAX;

impl Events {
    /// Reads the ids of the ring's events, if it has more than one.
    ///
    /// # Errors
    ///
    /// [`Error::Layouts`] if records cannot be attributed to the events, and the errors of
    /// [`Event::id`](crate::Event::id).
    pub(super) fn new(ring: &Ring) -> Result<Self> {
        if ring.redirected().is_empty() {
            return Ok(Self::One(SampleLayout::new(ring.event().attr()), 0));
        }
        let (mut layouts, mut indices) = (Vec::new(), Vec::new());
        for (event, index) in ring.events().zip(0_u16..) {
            let id = event.id()?;
            // The kernel counts the ids upward, so this is mostly the end. A sort is compiled to
            // far more code.
            let at = layouts.partition_point(|&(other, _)| other < id);
            layouts.insert(at, (id, SampleLayout::new(event.attr())));
            indices.insert(at, index);
        }
        let common = layouts.first().map(|&(_, first)| first);
        let common = common.filter(|first| layouts.iter().all(|(_, layout)| layout == first));
        match (Layouts::from_sorted(layouts), common) {
            (Ok(layouts), common) => Ok(Self::Many { layouts, indices, common }),
            (Err(_), Some(common)) => Ok(Self::One(common, UNKNOWN)),
            (Err(error), None) => Err(Error::Layouts(error)),
        }
    }

    /// Returns the event that wrote `record`, by its index in the ring, or [`UNKNOWN`], and the
    /// time of the record.
    #[inline]
    pub(super) fn find(&self, record: RawRecord<'_>) -> (u16, Option<u64>) {
        match self {
            Self::One(layout, event) => (*event, record.time(layout)),
            Self::Many { layouts, indices, common } => match layouts.find_entry(record) {
                Ok((index, layout)) => (indices.get(index).copied().unwrap_or(UNKNOWN), record.time(layout)),
                Err(_) => (UNKNOWN, common.as_ref().and_then(|layout| record.time(layout))),
            },
        }
    }

    /// Returns the layout of `record`.
    ///
    /// # Errors
    ///
    /// The errors of [`Layouts::find`], unless all events have the same layout.
    #[inline]
    pub(super) fn layout(&self, record: RawRecord<'_>) -> perf_decode::Result<&SampleLayout> {
        match self {
            Self::One(layout, _) => Ok(layout),
            Self::Many { layouts, common, .. } => match (layouts.find(record), common) {
                (Err(_), Some(common)) => Ok(common),
                (found, _) => found,
            },
        }
    }
}
