use perf_decode::{Layouts, RawRecord, SampleLayout};

use crate::{Error, Result, Ring};

/// The events that write into one ring, in the order of [`Ring::events`].
#[derive(Debug)]
pub(super) enum Events {
    /// All records have this layout, and are of this event.
    One(SampleLayout, u16),
    /// The events by id; the second table holds their indices in the ring, in the order of the first.
    Many(Layouts<Vec<(u64, SampleLayout)>>, Vec<u16>),
}

/// The index of an event that is not known.
pub(super) const UNKNOWN: u16 = u16::MAX;

impl Events {
    /// Reads the ids of the ring's events, if it has more than one.
    ///
    /// # Errors
    ///
    /// [`Error::Layouts`] if their records cannot be told apart, and those of
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
        match (Layouts::from_sorted(layouts.clone()), layouts.split_first()) {
            (Ok(layouts), _) => Ok(Self::Many(layouts, indices)),
            (Err(_), Some((&(_, first), others))) if others.iter().all(|(_, layout)| *layout == first) => {
                Ok(Self::One(first, UNKNOWN))
            }
            (Err(error), _) => Err(Error::Layouts(error)),
        }
    }

    /// Returns the event that wrote `record`, by its index in the ring, or [`UNKNOWN`], and the time of the
    /// record.
    #[inline]
    pub(super) fn find(&self, record: RawRecord<'_>) -> (u16, Option<u64>) {
        match self {
            Self::One(layout, event) => (*event, record.time(layout)),
            Self::Many(layouts, indices) => match layouts.find_entry(record) {
                Ok((index, layout)) => (indices.get(index).copied().unwrap_or(UNKNOWN), record.time(layout)),
                Err(_) => (UNKNOWN, None),
            },
        }
    }

    /// Returns the layout of `record`.
    ///
    /// # Errors
    ///
    /// Those of [`Layouts::find`].
    #[inline]
    pub(super) fn layout(&self, record: RawRecord<'_>) -> perf_decode::Result<&SampleLayout> {
        match self {
            Self::One(layout, _) => Ok(layout),
            Self::Many(layouts, _) => layouts.find(record),
        }
    }
}
