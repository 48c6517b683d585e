use perf_abi::{RecordType, SampleType};

use crate::field_order::{HEAD, TRAILER, row};
use crate::record::trailer_follows_body;
use crate::word_index::WordIndex;
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
    /// Where all of them keep the id.
    place: IdPlace,
}

impl<'t> Layouts<'t> {
    /// Sorts the table by id and checks that its layouts agree on where an id is.
    ///
    /// A table of one event needs no ids in the records; those that are there must be its own. An id of 0
    /// is none there: the kernel counts from 1, and tools write 0 into the records they make themselves.
    ///
    /// # Errors
    ///
    /// [`Error::IdConflict`] with the first event whose id is in another place, or occurs twice.
    pub fn new(table: &'t mut [(u64, SampleLayout)]) -> Result<Self> {
        table.sort_unstable_by_key(|&(id, _)| id);
        let place = table.first().map_or(IdPlace::NONE, |(_, layout)| IdPlace::of(layout));
        let mut previous = None;
        for (id, layout) in &*table {
            let disagrees = IdPlace::of(layout) != place || place == IdPlace::NONE;
            if previous.is_some_and(|before| before == *id || disagrees) {
                return Err(Error::IdConflict { id: *id });
            }
            previous = Some(*id);
        }
        Ok(Self { table, place })
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
            [(id, only)] => match record.id(only) {
                Some(found) if found != *id && found != 0 => Err(unknown(record.kind(), Some(found))),
                _ => Ok(only),
            },
            [(_, any), ..] if trailer_follows_body(record.kind()) => {
                // Where the id is depends on the length of the event's own trailer: the right event is
                // the one that finds its own id there.
                let found = self.table.iter().find(|(id, layout)| record.id(layout) == Some(*id));
                found.map(|(_, layout)| layout).ok_or_else(|| unknown(record.kind(), record.id(any)))
            }
            [..] => {
                let id = self.place.find(record);
                id.and_then(|id| self.get(id)).ok_or_else(|| unknown(record.kind(), id))
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
fn unknown(kind: RecordType, id: Option<u64>) -> Error {
    id.map_or(Error::NoId { kind }, |id| Error::UnknownId { id })
}

/// Where an event's records keep its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IdPlace {
    /// In samples, from the start.
    sample: WordIndex,
    /// In other records, words from the end; 0 if there is none.
    trailer: usize,
}

impl IdPlace {
    const NONE: Self = Self { sample: WordIndex::ABSENT, trailer: 0 };

    fn of(layout: &SampleLayout) -> Self {
        let head = |bit| layout.head[row(&HEAD, bit)];
        let trailer = |bit| usize::from(layout.trailer[row(&TRAILER, bit)]);
        Self {
            sample: head(SampleType::IDENTIFIER).or(head(SampleType::ID)),
            trailer: match trailer(SampleType::IDENTIFIER) {
                0 => trailer(SampleType::ID),
                identifier => identifier,
            },
        }
    }

    /// The id in a record of any of the events. It is counted from the end, because the lengths of their
    /// trailers may differ.
    fn find(self, record: RawRecord<'_>) -> Option<u64> {
        let words = record.words();
        if record.kind() == RecordType::SAMPLE {
            return self.sample.of(words);
        }
        let (_, behind_header) = words.split_first()?;
        let at = behind_header.len().checked_sub(self.trailer)?;
        behind_header.get(at).copied().filter(|_| record.kind().0 <= RecordType::LAST.0)
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
    use std::vec::Vec;

    use super::*;
    use crate::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};

    /// An event of a shared ring that samples `more` beside the identifier.
    fn event(more: SampleType) -> Attr {
        Attr::software(Software::DUMMY)
            .with_sample_type(SampleType::IDENTIFIER | more)
            .with_flags(AttrFlags::SAMPLE_ID_ALL)
    }

    fn record(kind: RecordType, attr: &Attr, identifier: u64, surplus: usize) -> Vec<u64> {
        let trailer = SampleIdValues { identifier, id: identifier, time: 5, ..SampleIdValues::default() };
        let body = RecordBuilder::new(kind, Misc::empty()).words(&[1, 2]).with_trailer(attr, &trailer);
        body.words(&std::vec![0; surplus]).finish()
    }

    #[test]
    fn each_record_is_found_by_its_own_id() {
        let (long, short) = (event(SampleType::TID | SampleType::TIME), event(SampleType::empty()));
        let mut table = [(9, SampleLayout::new(&short)), (4, SampleLayout::new(&long))];
        let layouts = Layouts::new(&mut table).unwrap();
        // LOST has its trailer at the end; BPF_EVENT right behind its body, and may go on.
        for (kind, surplus) in [(RecordType::LOST, 0), (RecordType::BPF_EVENT, 0), (RecordType::BPF_EVENT, 3)]
        {
            for (id, attr) in [(4, &long), (9, &short)] {
                let words = record(kind, attr, id, surplus);
                let found = layouts.find(RawRecord::from_words(&words).unwrap());
                assert_eq!(found, Ok(&SampleLayout::new(attr)), "{kind} {id} {surplus}");
            }
        }
    }

    #[test]
    fn a_record_shorter_than_the_trailer_of_another_event_is_found() {
        let long = event(SampleType::TID | SampleType::TIME | SampleType::CPU);
        let mut table = [(1, SampleLayout::new(&long)), (2, SampleLayout::new(&event(SampleType::empty())))];
        let layouts = Layouts::new(&mut table).unwrap();
        let words = RecordBuilder::new(RecordType::SWITCH, Misc::empty()).words(&[2]).finish();
        assert_eq!(layouts.find(RawRecord::from_words(&words).unwrap()).ok(), layouts.get(2));
    }

    #[test]
    fn an_id_that_is_not_in_the_table_is_reported() {
        let attr = event(SampleType::IP);
        let mut table = [(1, SampleLayout::new(&attr)), (2, SampleLayout::new(&attr))];
        let layouts = Layouts::new(&mut table).unwrap();
        let words = SampleBuilder::new(&attr).identifier(3).finish();
        assert_eq!(layouts.find(RawRecord::from_words(&words).unwrap()), Err(Error::UnknownId { id: 3 }));
    }

    #[test]
    fn an_unknown_kind_has_no_id() {
        let attr = event(SampleType::IP);
        let mut table = [(1, SampleLayout::new(&attr)), (2, SampleLayout::new(&attr))];
        let layouts = Layouts::new(&mut table).unwrap();
        let words = RecordBuilder::new(RecordType(77), Misc::empty()).words(&[1]).finish();
        let refused = layouts.find(RawRecord::from_words(&words).unwrap());
        assert_eq!(refused, Err(Error::NoId { kind: RecordType(77) }));
    }

    #[test]
    fn one_event_needs_no_id() {
        let attr = Attr::software(Software::DUMMY).with_sample_type(SampleType::IP);
        let mut table = [(1, SampleLayout::new(&attr))];
        let words = SampleBuilder::new(&attr).ip(7).finish();
        let layouts = Layouts::new(&mut table).unwrap();
        assert!(layouts.find(RawRecord::from_words(&words).unwrap()).is_ok());
    }

    #[test]
    fn a_record_of_another_event_is_not_taken_for_the_only_ones() {
        let attr = event(SampleType::TIME);
        let mut table = [(7, SampleLayout::new(&attr))];
        let layouts = Layouts::new(&mut table).unwrap();
        for kind in [RecordType::LOST, RecordType::BPF_EVENT] {
            let [own, other] = [7, 8].map(|id| record(kind, &attr, id, 0));
            assert!(layouts.find(RawRecord::from_words(&own).unwrap()).is_ok());
            let refused = layouts.find(RawRecord::from_words(&other).unwrap());
            assert_eq!(refused, Err(Error::UnknownId { id: 8 }));
        }
    }

    #[test]
    fn an_id_of_0_is_none_where_only_one_event_is_known() {
        let attr = event(SampleType::TIME);
        let words = record(RecordType::COMM, &attr, 0, 0);
        let record = RawRecord::from_words(&words).unwrap();
        let layout = SampleLayout::new(&attr);
        assert!(Layouts::new(&mut [(7, layout)]).unwrap().find(record).is_ok());
        let mut two = [(7, layout), (8, layout)];
        let refused = Layouts::new(&mut two).unwrap().find(record);
        assert_eq!(refused, Err(Error::UnknownId { id: 0 }));
    }

    #[test]
    fn events_must_keep_their_ids_in_one_place() {
        let by_id =
            |more| SampleLayout::new(&event(more | SampleType::ID).with_sample_type(SampleType::ID | more));
        let conflicts = [
            [(1, by_id(SampleType::IP)), (2, by_id(SampleType::IP | SampleType::TIME))],
            [(1, SampleLayout::new(&event(SampleType::IP))), (2, by_id(SampleType::IP))],
            [(2, by_id(SampleType::IP)), (2, by_id(SampleType::IP))],
            [(1, SampleLayout::new(&Attr::default())), (2, SampleLayout::new(&Attr::default()))],
        ];
        for mut table in conflicts {
            assert_eq!(Layouts::new(&mut table).unwrap_err(), Error::IdConflict { id: 2 });
        }
        assert!(Layouts::new(&mut [(1, by_id(SampleType::IP)), (2, by_id(SampleType::ADDR))]).is_ok());
    }
}
