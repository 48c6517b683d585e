//! Lookups by id, and tables that conflict.

use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
use std::vec::Vec;

use super::*;
use crate::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};

/// Returns an event of a shared ring that samples `more` in addition to the identifier.
fn event(more: SampleType) -> Attr {
    Attr::software(Software::DUMMY)
        .with_sample_type(SampleType::IDENTIFIER | more)
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

fn record(kind: RecordType, attr: &Attr, identifier: u64, stale: &[u64]) -> Vec<u64> {
    let trailer = SampleIdValues { identifier, id: identifier, time: 5, ..SampleIdValues::default() };
    let body = RecordBuilder::new(kind, Misc::empty()).words(&[1, 2]).with_trailer(attr, &trailer);
    body.words(stale).finish()
}

#[test]
fn each_record_is_found_by_its_own_id() {
    let (long, short) = (event(SampleType::TID | SampleType::TIME), event(SampleType::empty()));
    let mut table = [(9, SampleLayout::new(&short)), (4, SampleLayout::new(&long))];
    let layouts = Layouts::new(&mut table).unwrap();
    // LOST has its trailer at the end, BPF_EVENT after its body, with words after it.
    for (kind, stale) in
        [(RecordType::LOST, &[][..]), (RecordType::BPF_EVENT, &[]), (RecordType::BPF_EVENT, &[0; 3])]
    {
        for (id, attr) in [(4, &long), (9, &short)] {
            let words = record(kind, attr, id, stale);
            let found = layouts.find(RawRecord::from_words(&words).unwrap());
            assert_eq!(found, Ok(&SampleLayout::new(attr)), "{kind} {id} {stale:?}");
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
        let [own, other] = [7, 8].map(|id| record(kind, &attr, id, &[]));
        assert!(layouts.find(RawRecord::from_words(&own).unwrap()).is_ok());
        let refused = layouts.find(RawRecord::from_words(&other).unwrap());
        assert_eq!(refused, Err(Error::UnknownId { id: 8 }));
    }
}

#[test]
fn an_id_of_0_is_ignored_if_only_one_event_is_known() {
    let attr = event(SampleType::TIME);
    let words = record(RecordType::COMM, &attr, 0, &[]);
    let record = RawRecord::from_words(&words).unwrap();
    let layout = SampleLayout::new(&attr);
    assert!(Layouts::new(&mut [(7, layout)]).unwrap().find(record).is_ok());
    let mut two = [(7, layout), (8, layout)];
    let layouts = Layouts::new(&mut two).unwrap();
    let refused = layouts.find(record);
    assert_eq!(refused, Err(Error::UnknownId { id: 0 }));
}

#[test]
fn events_must_have_their_ids_at_one_offset() {
    let by_id =
        |more| SampleLayout::new(&event(more | SampleType::ID).replace_sample_type(SampleType::ID | more));
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

#[test]
fn the_id_nearest_to_the_body_counts_where_stale_words_follow() {
    let (long, short) = (event(SampleType::TID | SampleType::TIME), event(SampleType::empty()));
    let layouts = Layouts::new([(4, SampleLayout::new(&long)), (9, SampleLayout::new(&short))]).unwrap();
    for kind in [RecordType::BPF_EVENT, RecordType::TEXT_POKE] {
        let words = record(kind, &short, 9, &[123, 4, 77]);
        let found = layouts.find(RawRecord::from_words(&words).unwrap());
        assert_eq!(found, Ok(&SampleLayout::new(&short)), "{kind}");
        let words = record(kind, &long, 4, &[9, 9, 9]);
        let found = layouts.find(RawRecord::from_words(&words).unwrap());
        assert_eq!(found, Ok(&SampleLayout::new(&long)), "{kind}");
    }
}

#[test]
fn an_id_at_another_events_index_does_not_count() {
    let (long, short) = (event(SampleType::TID | SampleType::TIME), event(SampleType::empty()));
    let layouts = Layouts::new([(4, SampleLayout::new(&long)), (9, SampleLayout::new(&short))]).unwrap();
    let unknown = record(RecordType::BPF_EVENT, &short, 4, &[9, 5, 4]);
    let refused = layouts.find(RawRecord::from_words(&unknown).unwrap());
    assert_eq!(refused, Err(Error::UnknownId { id: 5 }));
}

#[test]
fn the_last_word_of_the_longest_trailer_is_found() {
    let all = SampleType::TID | SampleType::TIME | SampleType::ID | SampleType::STREAM_ID | SampleType::CPU;
    let (long, short) = (event(all), event(SampleType::empty()));
    let layouts = Layouts::new([(4, SampleLayout::new(&long)), (9, SampleLayout::new(&short))]).unwrap();
    let words = record(RecordType::BPF_EVENT, &long, 4, &[9]);
    assert_eq!(layouts.find(RawRecord::from_words(&words).unwrap()), Ok(&SampleLayout::new(&long)));
}

#[test]
fn inserted_events_are_found() {
    let mut layouts = Layouts::new(Vec::new()).unwrap();
    assert!(layouts.is_empty());
    for (index, id) in [50, 10, 90, 30, 70].into_iter().enumerate() {
        let attr = event(if id < 50 { SampleType::TIME } else { SampleType::TID });
        layouts.insert(id, SampleLayout::new(&attr)).unwrap();
        assert_eq!(layouts.insert(id, SampleLayout::new(&attr)), Err(Error::IdConflict { id }));
        assert_eq!(layouts.len(), index + 1);
        let words = record(RecordType::COMM, &attr, id, &[]);
        let found = layouts.find(RawRecord::from_words(&words).unwrap());
        assert_eq!(found, Ok(&SampleLayout::new(&attr)));
    }
    assert_eq!(layouts.iter().map(|(id, _)| id).collect::<Vec<_>>(), [10, 30, 50, 70, 90]);
    let elsewhere = event(SampleType::ID | SampleType::IP).without_sample_type(SampleType::IDENTIFIER);
    assert_eq!(layouts.insert(1, SampleLayout::new(&elsewhere)), Err(Error::IdConflict { id: 1 }));
    assert_eq!(layouts.into_inner().len(), 5);
}

#[test]
fn an_event_without_an_id_cannot_be_joined_by_another() {
    let bare = SampleLayout::new(&Attr::default());
    let mut layouts = Layouts::new(std::vec![(1, bare)]).unwrap();
    assert_eq!(layouts.insert(2, bare), Err(Error::IdConflict { id: 2 }));
}

#[test]
fn a_sorted_table_can_be_shared() {
    let layout = SampleLayout::new(&event(SampleType::TIME));
    let table = [(1, layout), (2, layout), (2, layout)];
    assert!(Layouts::from_sorted(&table[..2]).unwrap().get(2).is_some());
    assert_eq!(Layouts::from_sorted(&table[..]).unwrap_err(), Error::IdConflict { id: 2 });
    let reversed = [(2, layout), (1, layout)];
    assert_eq!(Layouts::from_sorted(reversed).unwrap_err(), Error::IdConflict { id: 1 });
}

#[test]
fn an_event_with_unknown_fields_is_refused() {
    let attr = event(SampleType::from_bits_retain(1 << 40));
    let known = event(SampleType::TIME);
    let table = [(7, SampleLayout::new(&attr)), (8, SampleLayout::new(&known))];
    for (count, kind) in [(1, RecordType::LOST), (2, RecordType::LOST), (2, RecordType::BPF_EVENT)] {
        let layouts = Layouts::from_sorted(&table[..count]).unwrap();
        let words = record(kind, &attr, 7, &[]);
        let refused = layouts.find(RawRecord::from_words(&words).unwrap());
        // The offset of the id in the trailer of a BPF_EVENT depends on the unknown fields.
        let expected = match kind {
            RecordType::LOST => Error::UnknownBits { field: "sample_type", bits: 1 << 40 },
            _ => refused.unwrap_err(),
        };
        assert_eq!(refused, Err(expected));
    }
}
