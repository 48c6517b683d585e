//! Which event wrote a record.

use super::*;

use perf_abi::{AttrFlags, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
use zerocopy::IntoBytes;

use crate::bytes::Bytes;
use crate::list::List;
use crate::order::ByteOrder;

/// Returns the events with these fields and ids.
fn events(all: &[(SampleType, &[u64])]) -> FileEvents {
    let mut events = FileEvents::default();
    for (fields, ids) in all {
        let attr = Attr::software(Software::CPU_CLOCK)
            .with_sample_type(*fields)
            .with_flags(AttrFlags::SAMPLE_ID_ALL);
        let mut list = Bytes::new(ids.as_bytes(), ByteOrder::NATIVE, 0);
        let list = List::take(&mut list, ids.len() as u64, "ids").unwrap();
        events.add(&FileAttr::new(attr.as_bytes(), list, ByteOrder::NATIVE)).unwrap();
    }
    events.update();
    events
}

fn index(events: &FileEvents, words: &[u64]) -> Result<usize> {
    events.find(RawRecord::from_words(words).unwrap()).map(|(index, _)| index)
}

const WITH_ID: SampleType = SampleType::IDENTIFIER.union(SampleType::TIME);

#[test]
fn event_is_found_by_the_id_in_the_record() {
    let events = events(&[(WITH_ID, &[1, 2]), (WITH_ID | SampleType::IP, &[3, 4])]);
    let sample =
        |event: usize, id| SampleBuilder::new(&events.as_slice()[event].attr).identifier(id).finish();
    assert_eq!(index(&events, &sample(0, 2)), Ok(0));
    assert_eq!(index(&events, &sample(1, 3)), Ok(1));
    assert_eq!(index(&events, &sample(1, 9)), Err(Error::UnknownId { id: 9 }));
    assert_eq!(index(&events, &sample(1, 0)), Err(Error::UnknownId { id: 0 }));
}

#[test]
fn side_band_record_of_a_tool_has_the_first_event() {
    let events = events(&[(WITH_ID, &[1]), (WITH_ID, &[2])]);
    // LOST: id, lost; time, identifier
    let record =
        |id| RecordBuilder::new(RecordType::LOST, perf_abi::Misc::empty()).words(&[1, 1, 0, id]).finish();
    assert_eq!(index(&events, &record(0)), Ok(0));
    assert_eq!(index(&events, &record(2)), Ok(1));
    assert_eq!(index(&events, &record(7)), Err(Error::UnknownId { id: 7 }));
}

#[test]
fn the_only_event_needs_no_id() {
    let events = events(&[(SampleType::IP, &[])]);
    let words = SampleBuilder::new(&events.as_slice()[0].attr).ip(7).finish();
    assert_eq!(index(&events, &words), Ok(0));
}

#[test]
fn record_before_any_event_has_none() {
    let words = RecordBuilder::new(RecordType::LOST, perf_abi::Misc::empty()).words(&[1, 1]).finish();
    assert_eq!(index(&FileEvents::default(), &words), Err(Error::NoId { kind: RecordType::LOST }));
}

#[test]
fn events_that_cannot_be_distinguished_have_one_layout_or_are_an_error() {
    let same = events(&[(SampleType::IP, &[1]), (SampleType::IP, &[2])]);
    let words = SampleBuilder::new(&same.as_slice()[0].attr).ip(7).finish();
    assert_eq!(index(&same, &words), Ok(0));
    let different = events(&[(SampleType::IP, &[1]), (SampleType::IP | SampleType::TIME, &[2])]);
    assert_eq!(index(&different, &words), Err(Error::IdConflict { id: 2 }));
}

#[test]
fn sibling_without_records_is_not_looked_at() {
    let events = events(&[(WITH_ID, &[1]), (SampleType::empty(), &[2]), (WITH_ID, &[3])]);
    let words = SampleBuilder::new(&events.as_slice()[2].attr).identifier(3).finish();
    assert_eq!(index(&events, &words), Ok(2));
}

#[test]
fn repeated_ids_are_counted_and_those_of_the_first_event() {
    let events = events(&[(WITH_ID, &[1, 2]), (WITH_ID, &[2, 3])]);
    assert_eq!(events.repeated_ids(), 1);
    assert_eq!(self::events(&[(WITH_ID, &[1, 2, 3]), (WITH_ID, &[1, 2, 3])]).repeated_ids(), 3);
    assert_eq!(self::events(&[(WITH_ID, &[1, 2]), (WITH_ID, &[3])]).repeated_ids(), 0);
    let words = SampleBuilder::new(&events.as_slice()[0].attr).identifier(2).finish();
    assert_eq!(index(&events, &words), Ok(0));
}
