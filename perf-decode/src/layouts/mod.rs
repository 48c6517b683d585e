//! Layouts of events that share a ring, by id.

use perf_abi::RecordType;

use crate::error::{Error, Result};
use crate::layout::SampleLayout;
use crate::raw::RawRecord;

mod id_offset;

#[cfg(test)]
mod tests;

use id_offset::IdOffset;

/// The layouts of the events that write into one ring, found by the id in each record.
///
/// The caller owns the storage `S`: a vector that grows with [`insert`](Layouts::insert), a boxed
/// slice, an array, a slice. It is sorted by id, and [`find`](Layouts::find) is a binary search for
/// records of every kind. A record with an unknown id is an error; its event is never guessed.
///
/// All events must have their id at the same offset, because it is read before the event is known.
/// Set [`IDENTIFIER`](perf_abi::SampleType::IDENTIFIER) and `sample_id_all` on each of them.
///
/// ```
/// use perf_abi::{Attr, AttrFlags, SampleType, Software};
/// use perf_decode::{Layouts, RawRecord, SampleLayout, testing::builder::SampleBuilder};
///
/// let base = SampleType::IDENTIFIER | SampleType::TIME;
/// let event = |more| Attr::software(Software::CPU_CLOCK)
///     .with_sample_type(base | more)
///     .with_flags(AttrFlags::SAMPLE_ID_ALL);
/// let (clock, faults) = (event(SampleType::IP), event(SampleType::ADDR));
///
/// let mut layouts = Layouts::new(vec![(71, SampleLayout::new(&clock))])?;
/// layouts.insert(70, SampleLayout::new(&faults))?;
///
/// let words = SampleBuilder::new(&faults).identifier(70).addr(0x1000).finish();
/// let record = RawRecord::from_words(&words)?;
/// assert_eq!(layouts.find(record)?, &SampleLayout::new(&faults));
/// # Ok::<(), perf_decode::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Layouts<S> {
    /// Sorted by id.
    table: S,
    /// The offset of the id, the same for all events.
    offset: IdOffset,
}

impl<S: AsRef<[(u64, SampleLayout)]>> Layouts<S> {
    /// Sorts the table by id and checks that all layouts have the id at the same offset.
    ///
    /// The records of a single event need no id. If a record has one, it must be the event's, or 0.
    /// The kernel counts from 1, and tools write 0 into the records that they synthesize.
    ///
    /// # Errors
    ///
    /// [`Error::IdConflict`] with the first event that has its id at another offset, or whose id
    /// occurs twice.
    pub fn new(mut table: S) -> Result<Self>
    where
        S: AsMut<[(u64, SampleLayout)]>,
    {
        table.as_mut().sort_unstable_by_key(|&(id, _)| id);
        Self::from_sorted(table)
    }

    /// Checks a table that is already sorted by id, such as a constant one.
    ///
    /// # Errors
    ///
    /// The errors of [`Layouts::new`], and [`Error::IdConflict`] with the first event whose id is
    /// not above the preceding one.
    pub fn from_sorted(table: S) -> Result<Self> {
        let events = table.as_ref();
        let offset = events.first().map_or(IdOffset::NONE, |(_, layout)| IdOffset::new(layout));
        for pair in events.windows(2) {
            let [(before, _), (id, layout)] = pair else { continue };
            if before >= id || !offset.can_share(layout) {
                return Err(Error::IdConflict { id: *id });
            }
        }
        Ok(Self { table, offset })
    }

    /// Adds an event, in time linear in the number of events.
    ///
    /// If the storage is full, its `extend` decides what happens; most fixed-capacity vectors
    /// panic.
    ///
    /// # Errors
    ///
    /// [`Error::IdConflict`] if the event has its id at another offset than the others, or if its
    /// id is already in the table. The event is not added then.
    pub fn insert(&mut self, id: u64, layout: SampleLayout) -> Result<()>
    where
        S: AsMut<[(u64, SampleLayout)]> + Extend<(u64, SampleLayout)>,
    {
        let Err(index) = self.search(id) else { return Err(Error::IdConflict { id }) };
        if self.is_empty() {
            self.offset = IdOffset::new(&layout);
        } else if !self.offset.can_share(&layout) {
            return Err(Error::IdConflict { id });
        }
        self.table.extend([(id, layout)]);
        if let Some(after) = self.table.as_mut().get_mut(index..) {
            after.rotate_right(1);
        }
        Ok(())
    }

    /// Returns the layout of the event that wrote `record`.
    ///
    /// # Errors
    ///
    /// [`Error::NoId`] if the record has no id or is truncated before it, [`Error::UnknownId`] if
    /// no event has the id, [`Error::UnknownBits`] if the attr of the event is newer than this
    /// crate.
    #[inline]
    pub fn find(&self, record: RawRecord<'_>) -> Result<&SampleLayout> {
        self.find_entry(record).map(|(_, layout)| layout)
    }

    /// Returns the index of the event that wrote `record`, in the order of [`iter`](Layouts::iter),
    /// and its layout. Use the index for a parallel table of the events' names or states.
    ///
    /// # Errors
    ///
    /// The errors of [`find`](Layouts::find).
    #[inline]
    pub fn find_entry(&self, record: RawRecord<'_>) -> Result<(usize, &SampleLayout)> {
        let table = self.table.as_ref();
        let index = match table {
            [] => return Err(Error::NoId { kind: record.kind() }),
            [(id, only)] => match record.id(only) {
                Some(found) if found != *id && found != 0 => {
                    return Err(unknown(record.kind(), Some(found)));
                }
                _ => 0,
            },
            [(_, any), ..] if id_offset::follows_body(record.kind()) => {
                let own = |(offset, id)| {
                    let index = self.search(id).ok()?;
                    let (_, layout) = table.get(index)?;
                    (id_offset::in_trailer(layout) == offset).then_some(index)
                };
                let mut candidates = id_offset::words_after_body(record);
                candidates.find_map(own).ok_or_else(|| unknown(record.kind(), record.id(any)))?
            }
            [..] => {
                let id = self.offset.id(record);
                id.and_then(|id| self.search(id).ok()).ok_or_else(|| unknown(record.kind(), id))?
            }
        };
        let Some((_, layout)) = table.get(index) else {
            return Err(Error::NoId { kind: record.kind() });
        };
        id_offset::check_known(layout)?;
        Ok((index, layout))
    }

    /// Returns the layout of the event with this id.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&SampleLayout> {
        self.table.as_ref().get(self.search(id).ok()?).map(|(_, layout)| layout)
    }

    /// Returns the events, by increasing id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u64, &SampleLayout)> {
        self.table.as_ref().iter().map(|(id, layout)| (*id, layout))
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.table.as_ref().len()
    }

    /// Returns true if the table has no events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the storage, sorted by id.
    pub fn into_inner(self) -> S {
        self.table
    }

    fn search(&self, id: u64) -> core::result::Result<usize, usize> {
        self.table.as_ref().binary_search_by_key(&id, |&(id, _)| id)
    }
}

#[cold]
fn unknown(kind: RecordType, id: Option<u64>) -> Error {
    id.map_or(Error::NoId { kind }, |id| Error::UnknownId { id })
}
