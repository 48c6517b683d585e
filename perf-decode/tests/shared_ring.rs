//! Several events write into one ring: the event of each record is found by its id.

#![allow(clippy::unwrap_used, reason = "a test's helpers may fail it")]

mod support;

use perf_abi::{Attr, AttrFlags, SampleType};
use perf_decode::testing::reference::{self, Value};
use perf_decode::{Layouts, RawRecord, SampleLayout};
use proptest::collection::vec;
use proptest::prelude::*;
use support::arbitrary::{cases, known_attr, valid_record_of};

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
        let layouts = Layouts::new(&mut table).unwrap();
        let record = RawRecord::from_words(&words).unwrap();
        prop_assert_eq!(layouts.find(record), Ok(&SampleLayout::new(&writer)));
        prop_assert_eq!(layouts.get(id), Some(&SampleLayout::new(&writer)));
    }
}
