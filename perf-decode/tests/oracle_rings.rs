//! Real rings, decoded here and by another decoder: every key and every value must agree.
//!
//! `tests/data/ring-*.bin` were recorded on x86-64, so a big-endian machine skips this.

#![cfg(target_endian = "little")]

mod support;

use perf_decode::testing::{read_tree, tree};
use perf_decode::{Backward, Error, Layouts, RawRecord, ReadValues, SampleLayout, Scratch, Window};
use serde_json::{Map, Value as Json, json};
use support::ring_file::{Mode, RingFile, Snapshot};
use support::{data, oracle, shortcuts};

/// What was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Compared {
    rings: usize,
    snapshots: usize,
    records: usize,
    across_the_end: usize,
    fields: usize,
    reads: usize,
}

#[test]
fn every_record_of_a_real_ring_decodes_as_the_oracle_says() {
    let mut compared = Compared::default();
    for ring in data::stems(".bin") {
        let file = RingFile::parse(&data::bytes(&format!("{ring}.bin"))).expect(&ring);
        let oracle = data::json(&format!("{ring}.json.gz"));
        compare(&ring, &file, &oracle, &mut compared);
    }
    println!("{compared:?}");
    assert_eq!((compared.rings, compared.snapshots), (21, 92));
    assert_eq!((compared.records, compared.across_the_end), (2710, 38));
    assert_eq!(compared.reads, 28);
}

fn compare(ring: &str, file: &RingFile, oracle: &Json, compared: &mut Compared) {
    let snapshots = oracle["snapshots"].as_array().expect(ring);
    assert_eq!(file.snapshots.len(), snapshots.len(), "{ring}");
    for (number, (snapshot, expected)) in file.snapshots.iter().zip(snapshots).enumerate() {
        let (found, end) = decode(file, snapshot);
        let expected_records = expected["records"].as_array().expect(ring);
        for (index, (found, expected)) in found.iter().zip(expected_records).enumerate() {
            assert_eq!(found, expected, "{ring}, snapshot {number}, record {index}");
            compared.fields += oracle::leaves(found);
            compared.across_the_end += usize::from(found["wraps"] == true);
        }
        assert_eq!(found.len(), expected_records.len(), "{ring}, snapshot {number}");
        let expected_end = (expected.get("stopped_at").cloned(), expected.get("stopped_size").cloned());
        assert_eq!(end.unwrap_or_default(), expected_end, "{ring}, snapshot {number}");
        compared.records += found.len();
        compared.snapshots += 1;
    }
    for (read, expected) in file.reads.iter().zip(oracle["reads"].as_array().expect(ring)) {
        let format = file.events[read.event].attr.read_format;
        let values = ReadValues::parse(&read.words, format).expect(ring);
        let found = json!({ "event": read.event, "decoded": oracle::plain(&read_tree(&values)) });
        assert_eq!(found["event"], expected["event"], "{ring}");
        assert_eq!(found["decoded"], expected["decoded"], "{ring}");
        compared.fields += oracle::leaves(&found);
        compared.reads += 1;
    }
    compared.rings += 1;
}

/// Where a cut record starts, in bytes from the newest, and what its header says of its size.
type Cut = (Option<Json>, Option<Json>);

/// The records of a snapshot in the oracle's notation.
fn decode(file: &RingFile, snapshot: &Snapshot) -> (Vec<Json>, Option<Cut>) {
    let mut table: Vec<_> = file.writers().map(|event| (event.id, SampleLayout::new(&event.attr))).collect();
    let layouts = Layouts::new(&mut table).expect("events of a ring that agree on their ids");
    let mut scratch = Scratch::new();
    let Snapshot { tail, head, data } = snapshot;
    let describe =
        |position, record: RawRecord<'_>| Json::Object(describe(file, layouts, data, position, record));
    match file.mode {
        Mode::Forward => {
            let mut records = Window::over(data, *tail, *head).unwrap().records(&mut scratch);
            let mut found = Vec::new();
            let mut position = *tail;
            while let Some(record) = records.next() {
                found.push(describe(position, record.unwrap()));
                position = tail + records.position();
            }
            assert_eq!(position, *head, "all is read");
            (found, None)
        }
        Mode::Backward => {
            let mut records = Backward::over(data, *head, &mut scratch).unwrap();
            let mut found = Vec::new();
            let mut position = *head;
            while let Some(record) = records.next() {
                found.push(describe(position, record.unwrap()));
                position = head.wrapping_add(records.position());
            }
            let size = data.len() as u64 * 8;
            let at = records.position();
            let cut = (records.cut() > 0).then(|| {
                assert_eq!(at + records.cut(), size);
                let header = data[(position % size / 8) as usize].to_le_bytes();
                (Some(at.into()), Some(u16::from_le_bytes([header[6], header[7]]).into()))
            });
            (found, cut)
        }
        Mode::ForwardOverwritten => {
            let overrun = Error::Overrun { tail: *tail, head: *head, size: data.len() as u64 * 8 };
            assert_eq!(Window::over(data, *tail, *head), Err(overrun));
            (Vec::new(), None)
        }
    }
}

fn describe(
    file: &RingFile,
    layouts: Layouts<'_>,
    data: &[u64],
    position: u64,
    record: RawRecord<'_>,
) -> Map<String, Json> {
    let layout = layouts.find(record).unwrap();
    let id = record.id(layout);
    let alone = file.events.len() == 1;
    let event = file.events.iter().position(|event| alone || Some(event.id) == id).unwrap();
    let attr = &file.events[event].attr;
    assert_eq!(*layout, SampleLayout::new(attr));

    let tree = tree(record, layout).unwrap();
    shortcuts::agree(record, layout, &tree);
    let mut found = oracle::record(&tree, attr);
    found.insert("offset".into(), (position % (data.len() as u64 * 8)).into());
    // Only what crosses the end is copied; every other record lies where the kernel put it.
    let copied = !data.as_ptr_range().contains(&record.words().as_ptr());
    found.insert("wraps".into(), copied.into());
    if !alone {
        found.insert("attr".into(), event.into());
    }
    found
}
