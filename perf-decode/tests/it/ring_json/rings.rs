//! The offset, order and event of each record of built rings.

use perf_abi::{Attr, AttrFlags, Misc, ReadFormat, RecordType, SampleType, Software};
use perf_decode::testing::builder::{ReadValue, ReadValues, RecordBuilder, SampleBuilder, SampleIdValues};
use serde_json::{Value, json};

use super::file::{BackwardRing, RingFile};
use super::{End, dump, undamaged};

fn event(wanted: SampleType) -> Attr {
    Attr::software(Software::CPU_CLOCK).with_sample_type(wanted).with_flags(AttrFlags::SAMPLE_ID_ALL)
}

/// Returns LOST of an event without a trailer: 24 bytes.
fn lost(number: u64) -> Vec<u64> {
    RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[13, number]).finish()
}

/// Returns a sample with a callchain: 16 bytes, and 8 for each entry.
fn chain(number: u64, entries: usize) -> Vec<u64> {
    SampleBuilder::new(&event(SampleType::CALLCHAIN)).callchain(&vec![number; entries]).finish()
}

/// Returns the number of the record, its offset, its size and whether it wraps.
fn place(record: &Value) -> [&Value; 4] {
    let fields = &record["fields"];
    let number = if record["type"] == 9 { &fields["callchain"][0] } else { &fields["lost"] };
    [number, &record["offset"], &record["size"], &record["wraps"]]
}

#[test]
fn last_record_wraps_at_every_offset() {
    // A ring of 256 bytes; positions after 0, and before the overflow of the counter.
    for tail in (0..256).chain(u64::MAX - 255..=u64::MAX).filter(|tail| tail % 8 == 0) {
        let attr = event(SampleType::CALLCHAIN).without_flags(AttrFlags::SAMPLE_ID_ALL);
        let records = [lost(1), lost(2), chain(3, 9)];
        let file = RingFile::forward().event(13, &attr).records(&records, 32, tail).finish();
        let found = undamaged(&file);
        let sizes = [24, 24, 88];
        let mut position = tail;
        for ((found, size), number) in found.iter().zip(sizes).zip([json!(1), json!(2), json!("0x3")]) {
            let offset = position % 256;
            let expected = [number, json!(offset), json!(size), json!(offset + size > 256)];
            assert_eq!(place(found), expected.each_ref(), "tail {tail:#x}");
            position = position.wrapping_add(size);
        }
        assert_eq!(found.len(), 3);
    }
}

#[test]
fn each_snapshot_has_the_records_from_its_tail_to_its_head() {
    let attr = event(SampleType::CALLCHAIN).without_flags(AttrFlags::SAMPLE_ID_ALL);
    let full: Vec<_> = (0..8).map(|number| chain(number, 2)).collect();
    let file = RingFile::forward()
        .event(13, &attr)
        .records(&[lost(1)], 32, 0)
        .records(&[], 32, 24) // empty
        .records(&full, 32, 24) // full
        .records(&[chain(9, 30)], 32, 280) // one record as long as the ring
        .finish();
    let found = undamaged(&file);
    let snapshots: Vec<_> = found.iter().map(|record| record["snapshot"].as_u64().unwrap()).collect();
    assert_eq!(snapshots, [0, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
    assert_eq!(place(&found[1]), [&json!("0x0"), &json!(24), &json!(32), &json!(false)]);
    assert_eq!(place(&found[8]), [&json!("0x7"), &json!(248), &json!(32), &json!(true)]);
    assert_eq!(place(&found[9]), [&json!("0x9"), &json!(24), &json!(256), &json!(true)]);
}

#[test]
fn file_without_records_snapshots_or_events_is_empty() {
    let attr = event(SampleType::IP);
    let none: [Value; 0] = [];
    assert_eq!(undamaged(&RingFile::forward().finish()), none);
    assert_eq!(undamaged(&RingFile::backward().event(13, &attr).finish()), none);
    assert_eq!(undamaged(&RingFile::forward().event(13, &attr).records(&[], 512, 96).finish()), none);
    assert_eq!(undamaged(&RingFile::backward().event(13, &attr).snapshot(0, 0, &[0; 512]).finish()), none);
}

#[test]
fn backward_ring_is_newest_first_without_the_truncated_record() {
    let attr = event(SampleType::CALLCHAIN).without_flags(AttrFlags::SAMPLE_ID_ALL);
    let mut ring = BackwardRing::new(32);
    let mut file = RingFile::backward().event(13, &attr);
    let mut written: Vec<(u64, u64, u64)> = Vec::new();
    let mut expected = Vec::new();
    // A snapshot after each record: of a ring that is not full yet, that is full, and that was
    // overwritten.
    for number in 0..40 {
        let entries = [2, 9, 2, 1, 20][number as usize % 5];
        ring.write(&chain(number, entries));
        written.push((number, ring.head, 16 + 8 * entries as u64));
        file = file.snapshot(0, ring.head, &ring.data);
        let mut free = 256_u64;
        let newest = written.iter().rev();
        for (number, head, size) in newest.take_while(|(.., size)| {
            let left = free.checked_sub(*size);
            left.map(|left| free = left).is_some()
        }) {
            let offset = head % 256;
            expected.push((
                written.len() - 1,
                [json!(format!("{number:#x}")), json!(offset), json!(size), json!(offset + size > 256)],
            ));
        }
    }
    let found = undamaged(&file.finish());
    assert_eq!(found.len(), expected.len());
    for (found, (snapshot, expected)) in found.iter().zip(&expected) {
        assert_eq!((&found["snapshot"], place(found)), (&json!(snapshot), expected.each_ref()));
    }
    assert!(expected.iter().any(|(_, [.., wraps])| *wraps == true));
}

/// Checks the dump of a ring with records of two events. `trailing` words follow one of them.
fn shared(events: &[Attr; 2], trailing: &[u64]) {
    let ids = [5_000_000_001, 7];
    let record = |index: usize, attr: &Attr| {
        let id = ids[index];
        let sample = SampleBuilder::new(attr).identifier(id).id(id).ip(1).tid(2, 3).time(4).addr(5).cpu(6);
        let trailer = SampleIdValues { pid: 2, tid: 3, time: 4, id, stream_id: 9, cpu: 6, identifier: id };
        let comm = RecordBuilder::new(RecordType::COMM, Misc::empty()).pair(2, 3).string(b"sh");
        let symbol = RecordBuilder::new(RecordType::KSYMBOL, Misc::empty()).words(&[1, 2]).string(b"symbol");
        [
            sample.stream_id(9).callchain(&[id]).finish(),
            comm.with_trailer(attr, &trailer).finish(),
            symbol.with_trailer(attr, &trailer).words(trailing).finish(),
        ]
    };
    let [first, second] = [record(0, &events[0]), record(1, &events[1])];
    let file = RingFile::forward().event(ids[0], &events[0]).event(ids[1], &events[1]);
    let records: Vec<_> = second.into_iter().chain(first).collect();
    let found = undamaged(&file.records(&records, 256, 0).finish());
    let origins: Vec<_> = found.iter().map(|record| &record["attr"]).collect();
    assert_eq!(origins, [1, 1, 1, 0, 0, 0].map(Value::from).each_ref());
    for record in &found {
        let index = record["attr"].as_u64().unwrap() as usize;
        let (wanted, fields) = (events[index].sample_type, &record["fields"]);
        let holder = if record["type"] == 9 { fields } else { &fields["sample_id"] };
        for (bit, key) in [(SampleType::IDENTIFIER, "identifier"), (SampleType::ID, "id")] {
            let expected = if wanted.contains(bit) { json!(ids[index]) } else { Value::Null };
            assert_eq!(holder[key], expected, "{key} of {record}");
        }
        let expected = if wanted.contains(SampleType::CPU) { json!(6) } else { Value::Null };
        assert_eq!(holder["cpu"], expected, "{record}");
    }
}

#[test]
fn events_of_one_ring_are_found_by_identifier() {
    let base = SampleType::IDENTIFIER;
    shared(&[event(base), event(base | SampleType::IP)], &[]);
    let long =
        base | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::STREAM_ID | SampleType::ID;
    shared(&[event(long | SampleType::CALLCHAIN), event(base)], &[]);
    shared(&[event(long), event(base | SampleType::ADDR)], &[0; 3]);
}

#[test]
fn events_of_one_ring_are_found_by_id() {
    let base = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::ADDR | SampleType::ID;
    // CPU and STREAM_ID follow the id in the trailer: all events must have them, or none.
    shared(&[event(base), event(base | SampleType::CALLCHAIN)], &[]);
    let after = SampleType::CPU | SampleType::STREAM_ID;
    shared(&[event(base | after), event(base | after | SampleType::CALLCHAIN)], &[]);
    let bare = SampleType::ID | SampleType::CPU;
    shared(&[event(bare), event(bare | SampleType::PERIOD)], &[]);
}

#[test]
fn siblings_that_only_count_have_no_records() {
    let leader = event(SampleType::IP | SampleType::READ)
        .with_read_format(ReadFormat::GROUP | ReadFormat::ID)
        .without_flags(AttrFlags::SAMPLE_ID_ALL);
    let sibling = event(SampleType::empty()).with_read_format(ReadFormat::GROUP | ReadFormat::ID);
    let values = [1, 2].map(|value| ReadValue { value, id: value + 6, lost: 0 }).to_vec();
    let sample =
        SampleBuilder::new(&leader).ip(1).read(ReadValues { values, ..ReadValues::default() }).finish();
    let file = RingFile::forward().event(8, &sibling).event(7, &leader).records(&[sample], 64, 0).finish();
    let expected = json!({"type": 9, "name": "SAMPLE", "misc": 0, "size": 56, "snapshot": 0, "offset": 0,
        "wraps": false, "attr": 1,
        "fields": {"ip": "0x1", "read": {"values": [{"value": 1, "id": 7}, {"value": 2, "id": 8}]}}});
    assert_eq!(undamaged(&file), [expected]);
}

#[test]
fn events_of_one_layout_need_no_ids() {
    let attr = event(SampleType::IP | SampleType::TIME);
    let sample = SampleBuilder::new(&attr).ip(1).time(2).finish();
    let comm = RecordBuilder::new(RecordType::COMM, Misc::empty()).pair(2, 3).string(b"sh").u64(4).finish();
    let records = [sample, comm];
    let equal = RingFile::forward().event(7, &attr).event(8, &attr.with_period(5));
    let found = undamaged(&equal.records(&records, 64, 0).finish());
    // The event of a record is unknown.
    let expected = [
        json!({"type": 9, "name": "SAMPLE", "misc": 0, "size": 24, "snapshot": 0, "offset": 0, "wraps": false,
               "fields": {"ip": "0x1", "time": 2}}),
        json!({"type": 3, "name": "COMM", "misc": 0, "size": 32, "snapshot": 0, "offset": 24, "wraps": false,
               "fields": {"pid": 2, "tid": 3, "comm": "sh", "sample_id": {"time": 4}}}),
    ];
    assert_eq!(found, expected);
    let different = RingFile::forward().event(7, &attr).event(8, &event(SampleType::IP | SampleType::ADDR));
    let run = dump(&different.records(&records, 64, 0).finish());
    assert!(
        !run.error().is_empty() && run.records().iter().all(|record| record["error"].is_string()),
        "{run:?}"
    );
}

#[test]
fn record_of_unknown_event_or_kind_is_printed() {
    let attr = event(SampleType::TID | SampleType::IDENTIFIER);
    let lost = |identifier| {
        let trailer =
            SampleIdValues { pid: u32::MAX, tid: u32::MAX, identifier, ..SampleIdValues::default() };
        let body = RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[71, 5]);
        body.with_trailer(&attr, &trailer).finish()
    };
    let records = [
        lost(71),
        lost(72),
        RecordBuilder::new(RecordType(77), Misc::empty()).u64(0x1122).finish(),
        // Ends before its last field.
        RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&[70]).finish(),
    ];
    let file = RingFile::forward().event(70, &attr).event(71, &attr).records(&records, 64, 0).finish();
    let run = dump(&file);
    let expected = [
        json!({"type": 2, "name": "LOST", "misc": 0, "size": 40, "snapshot": 0, "offset": 0, "wraps": false,
               "attr": 1, "fields": {"id": 71, "lost": 5,
                                     "sample_id": {"pid": -1, "tid": -1, "identifier": 71}}}),
        json!({"type": 2, "name": "LOST", "misc": 0, "size": 40, "snapshot": 0, "offset": 40, "wraps": false,
               "error": "id: expected one of this ring's events, found 72"}),
        json!({"type": 77, "name": "RecordType(77)", "misc": 0, "size": 16, "snapshot": 0, "offset": 80,
               "wraps": false, "fields": {"raw": "2211000000000000"}}),
        json!({"type": 9, "name": "SAMPLE", "misc": 0, "size": 16, "snapshot": 0, "offset": 96,
               "wraps": false, "attr": 0, "error": "SAMPLE: tid: expected 8 bytes, found 0"}),
    ];
    assert_eq!(run.records(), expected);
    assert!(run.error().ends_with("the first of 2 errors"), "{run:?}");
}

#[test]
fn overwritten_ring_has_a_note_instead_of_records() {
    let attr = event(SampleType::IP);
    let file = RingFile::overwritten().event(13, &attr).records(&[lost(1)], 32, 0).finish();
    let run = dump(&file);
    assert_eq!((run.end, run.lines.len()), (End::Overwritten, 0));
}
