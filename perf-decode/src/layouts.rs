use crate::body;
use crate::{Error, RawRecord, Result, SampleLayout};

/// The layouts of several events that write into one ring, found by the id in each record.
///
/// The table is the caller's slice; it is sorted once and searched by halving. A record whose id is not
/// in it is reported, never guessed.
///
/// All events must keep their id in the same place, or no id could be read before its event is known:
/// set [`IDENTIFIER`](perf_abi::SampleType::IDENTIFIER) and `sample_id_all` on every one.
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
/// let mut table = [(71, SampleLayout::new(&clock)), (70, SampleLayout::new(&faults))];
/// let layouts = Layouts::new(&mut table)?;
///
/// let words = SampleBuilder::new(&faults).identifier(70).addr(0x1000).finish();
/// let record = RawRecord::from_words(&words)?;
/// assert_eq!(layouts.find(record)?, &SampleLayout::new(&faults));
/// # Ok::<(), perf_decode::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Layouts<'t> {
    table: &'t [(u64, SampleLayout)],
}

impl<'t> Layouts<'t> {
    /// Sorts the table by id and checks that its layouts agree on where an id is.
    ///
    /// A table of one event needs no id at all.
    ///
    /// # Errors
    ///
    /// [`Error::IdConflict`] with the first event whose id is in another place, or occurs twice.
    pub fn new(table: &'t mut [(u64, SampleLayout)]) -> Result<Self> {
        table.sort_unstable_by_key(|&(id, _)| id);
        let mut previous: Option<(u64, IdPlace)> = None;
        for (id, layout) in &*table {
            let place = IdPlace::of(layout);
            if previous
                .is_some_and(|(before, agreed)| before == *id || agreed != place || agreed == IdPlace::NONE)
            {
                return Err(Error::IdConflict { id: *id });
            }
            previous = Some((*id, place));
        }
        Ok(Self { table })
    }

    /// The layout of the event that wrote `record`.
    ///
    /// # Errors
    ///
    /// [`Error::NoId`] if the record carries no id (or is cut before it), [`Error::UnknownId`] if no
    /// event has the one it carries.
    #[inline]
    pub fn find(&self, record: RawRecord<'_>) -> Result<&'t SampleLayout> {
        match self.table {
            [] => Err(Error::NoId { kind: record.kind() }),
            [(_, only)] => Ok(only),
            [(_, any), ..] if body::trailer_follows_body(record.kind()) => {
                // Where the id is depends on the length of the event's own trailer: the right event is
                // the one that finds its own id there.
                let found = self.table.iter().find(|(id, layout)| record.id(layout) == Some(*id));
                found.map(|(_, layout)| layout).ok_or_else(|| not_found(record, any))
            }
            [(_, any), ..] => {
                let found = record.id(any).and_then(|id| self.get(id));
                found.ok_or_else(|| not_found(record, any))
            }
        }
    }

    /// The layout of the event with this id.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&'t SampleLayout> {
        let index = self.table.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        self.table.get(index).map(|(_, layout)| layout)
    }
}

#[cold]
fn not_found(record: RawRecord<'_>, layout: &SampleLayout) -> Error {
    record.id(layout).map_or(Error::NoId { kind: record.kind() }, |id| Error::UnknownId { id })
}

/// Where an event's records keep its id: word index in samples, words from the end in others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct IdPlace {
    sample: u8,
    trailer: u8,
}

impl IdPlace {
    const NONE: Self = Self { sample: 0, trailer: 0 };

    fn of(layout: &SampleLayout) -> Self {
        let from_end = |place: u8, words: u8| if place == 0 { 0 } else { words - place + 1 };
        let place = match layout.trailer.identifier {
            0 => layout.trailer.id,
            place => place,
        };
        Self {
            sample: if layout.head.identifier > 0 { layout.head.identifier } else { layout.head.id },
            trailer: from_end(place, layout.trailer_words),
        }
    }
}
