//! Captured rings, decoded here and by another decoder: every key and every value must agree.
//!
//! `tests/data/ring-*.bin` were recorded on x86-64, so a big-endian machine skips this.

#![cfg(target_endian = "little")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test's helpers may fail it"
)]

mod support;

use perf_decode::testing::capture::{Capture, Snapshot};
use perf_decode::testing::to_reference;
use perf_decode::{RawRecord, ReadValues, SampleLayout, Scratch};
use serde_json::{Value as Json, json};
use support::framed::{Framed, event_of, framed};
use support::{data, oracle, shortcuts};

/// Numbers of compared items.
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
fn captured_rings_decode_as_the_oracle_does() {
    let mut compared = Compared::default();
    for ring in data::stems(".bin") {
        let file = Capture::parse(&data::bytes(&format!("{ring}.bin"))).expect(&ring);
        let oracle = data::json(&format!("{ring}.json.gz"));
        compare(&ring, &file, &oracle, &mut compared);
    }
    println!("{compared:?}");
    assert_eq!((compared.rings, compared.snapshots), (21, 92));
    assert_eq!((compared.records, compared.across_the_end), (2710, 38));
    assert_eq!((compared.fields, compared.reads), (38081, 28));
}

#[test]
fn captured_ring_truncated_anywhere_is_an_error() {
    let whole = data::bytes("ring-multi-0.bin");
    // A stride that is not a multiple of 8 truncates fields at each of their bytes.
    for len in (0..whole.len()).step_by(61) {
        assert!(Capture::parse(&whole[..len]).is_err(), "{len} bytes");
    }
    assert_eq!(Capture::parse(&whole).unwrap().snapshots.len(), 5);
}

fn compare(ring: &str, file: &Capture, oracle: &Json, compared: &mut Compared) {
    let snapshots = oracle["snapshots"].as_array().expect(ring);
    assert_eq!(file.snapshots.len(), snapshots.len(), "{ring}");
    let mut scratch = Scratch::new();
    for (number, (snapshot, expected)) in file.snapshots.iter().zip(snapshots).enumerate() {
        let framed = framed(snapshot, file.mode, &mut scratch);
        let expected_records = expected["records"].as_array().expect(ring);
        assert_eq!(framed.records.len(), expected_records.len(), "{ring}, snapshot {number}");
        for (&(position, record), expected) in framed.records.iter().zip(expected_records) {
            let found = describe(file, snapshot, position, record);
            assert_eq!(&found, expected, "{ring}, snapshot {number}, position {position:#x}");
            compared.fields += oracle::leaves(&found);
            compared.across_the_end += usize::from(found["wraps"] == true);
        }
        let stopped = ["stopped_at", "stopped_size"].map(|key| expected[key].clone());
        assert_eq!(describe_truncated(snapshot, &framed), stopped, "{ring}, snapshot {number}");
        compared.records += framed.records.len();
        compared.snapshots += 1;
    }
    for ((index, event), expected) in
        file.events.iter().enumerate().zip(oracle["reads"].as_array().expect(ring))
    {
        let values = ReadValues::parse(&event.counts, event.attr.read_format).expect(ring);
        let found = json!({ "event": index, "decoded": oracle::counts(&values) });
        assert_eq!(found["event"], expected["event"], "{ring}");
        assert_eq!(found["decoded"], expected["decoded"], "{ring}");
        compared.fields += oracle::leaves(&found);
        compared.reads += 1;
    }
    compared.rings += 1;
}

/// Returns a record in the oracle's notation.
fn describe(file: &Capture, snapshot: &Snapshot, position: u64, record: RawRecord<'_>) -> Json {
    let event = event_of(file, record);
    let layout = SampleLayout::new(&file.events[event].attr);
    shortcuts::agree(record, &layout, &to_reference(record, &layout).unwrap());
    let mut found = oracle::record(&record.decode(&layout).unwrap());
    found.insert("offset".into(), (position % snapshot.size as u64).into());
    // Only a record that wraps at the end of the ring is copied.
    let copied = !snapshot.data.as_ptr_range().contains(&record.words().as_ptr());
    found.insert("wraps".into(), copied.into());
    if file.events.len() > 1 {
        found.insert("attr".into(), event.into());
    }
    Json::Object(found)
}

/// Returns the offset of the partly overwritten record, in bytes from the newest record, and the
/// size in its header.
fn describe_truncated(snapshot: &Snapshot, framed: &Framed<'_>) -> [Json; 2] {
    if framed.cut == 0 {
        return [Json::Null, Json::Null];
    }
    let position = snapshot.head.wrapping_add(framed.len);
    let header = snapshot.data[(position % snapshot.size as u64 / 8) as usize].to_le_bytes();
    [framed.len.into(), u16::from_le_bytes([header[6], header[7]]).into()]
}
