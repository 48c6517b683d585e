use perf_decode::{Layouts, RawRecord, SampleLayout};

use crate::{Error, Result, Ring};

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
    /// [`Error::Layouts`] if their records cannot be attributed to them, and those of
    /// [`Event::id`](crate::Event::id).
    pub(super) fn new(ring: &Ring) -> Result<Self> {
        if ring.redirected().is_empty() {
            return Ok(Self::One(SampleLayout::new(ring.event().attr()), 0));
        }
        let mut table = Vec::new();
        for (event, index) in ring.events().zip(0_u16..) {
            table.push((event.id()?, SampleLayout::new(event.attr()), index));
        }
        table.sort_unstable_by_key(|&(id, ..)| id);
        let indices = table.iter().map(|&(.., index)| index).collect();
        let layouts = table.into_iter().map(|(id, layout, _)| (id, layout)).collect();
        let layouts: Vec<(u64, SampleLayout)> = layouts;
        let common = layouts.first().map(|&(_, first)| first);
        let common = common.filter(|first| layouts.iter().all(|(_, layout)| layout == first));
        match (Layouts::from_sorted(layouts), common) {
            (Ok(layouts), common) => Ok(Self::Many { layouts, indices, common }),
            (Err(_), Some(common)) => Ok(Self::One(common, UNKNOWN)),
            (Err(error), None) => Err(Error::Layouts(error)),
        }
    }

    /// Returns the event that wrote `record`, by its index in the ring, or [`UNKNOWN`], and the time of the
    /// record.
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
    /// Those of [`Layouts::find`], unless all events have the same layout.
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
