//! Several events write into one ring, and the event of each record is found by its id.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail it")]

use crate::support::arbitrary::{cases, known_attr, valid_record_of};
use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType};
use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
use perf_decode::testing::reference::{self, Value};
use perf_decode::{Layouts, RawRecord, SampleLayout};
use proptest::collection::vec;
use proptest::prelude::*;

/// An event that can share a ring with any other.
fn sharing_attr() -> impl Strategy<Value = Attr> {
    known_attr().prop_map(|mut attr| {
        attr.sample_type |= SampleType::IDENTIFIER;
        attr.flags |= AttrFlags::SAMPLE_ID_ALL;
        attr
    })
}

/// The id in a record of an event that has IDENTIFIER; unknown kinds have none.
fn id(words: &[u64], attr: &Attr) -> Option<u64> {
    let tree = reference::decode(words, attr).unwrap();
    let id = tree.sample_id("identifier").or_else(|| tree.field("identifier"));
    id.and_then(Value::as_u64)
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn every_record_finds_the_layout_of_its_event(
        (writer, words) in sharing_attr().prop_flat_map(|attr| (Just(attr), valid_record_of(attr))),
        others in vec((any::<u64>(), sharing_attr()), 1..5),
    ) {
        let Some(id) = id(&words, &writer) else { return Ok(()) };
        let events = others.into_iter().chain([(id, writer)]);
        let mut table: Vec<_> = events.map(|(id, attr)| (id, SampleLayout::new(&attr))).collect();
        let (id_last, layout_last) = table.swap_remove(table.len() / 2);
        let mut layouts = Layouts::new(table).unwrap();
        layouts.insert(id_last, layout_last).unwrap();
        let record = RawRecord::from_words(&words).unwrap();
        let layout = SampleLayout::new(&writer);
        prop_assert_eq!(layouts.find(record), Ok(&layout));
        prop_assert_eq!(layouts.get(id), Some(&layout));
    }

    #[test]
    fn stale_trailers_after_the_true_one_are_not_taken_for_it(
        events in vec((1 << 32..u64::MAX, sharing_attr()), 2..5),
        written in vec(any::<prop::sample::Index>(), 1..4),
        kind in prop_oneof![Just(RecordType::BPF_EVENT), Just(RecordType::TEXT_POKE)],
    ) {
        let written: Vec<_> = written.iter().map(|index| index.get(&events)).collect();
        // An empty body and several trailers. The first one is the record's own.
        let record = RecordBuilder::new(kind, Misc::empty()).words(&[1, 0]);
        let trailers = written.iter().fold(record, |record, (id, attr)| {
            let values = SampleIdValues { identifier: *id, id: *id, time: 5, ..SampleIdValues::default() };
            record.with_trailer(attr, &values)
        });
        let words = trailers.finish();
        let layouts: Vec<_> = events.iter().map(|(id, attr)| (*id, SampleLayout::new(attr))).collect();
        let Ok(layouts) = Layouts::new(layouts) else { return Ok(()) };
        let record = RawRecord::from_words(&words).unwrap();
        let layout = SampleLayout::new(&written[0].1);
        prop_assert_eq!(layouts.find(record), Ok(&layout));
    }
}
