//! Captured rings, decoded here and by another decoder: every key and every value must agree.

use perf_decode::testing::capture::{Capture, Snapshot};
use perf_decode::testing::to_reference;
use perf_decode::{ReadValues, SampleLayout, Scratch};
use serde_json::{Value as Json, json};

use super::{End, dump};
use crate::support::framed::{Framed, event_of, framed};
use crate::support::{data, oracle, shortcuts};

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
        let bytes = data::bytes(&format!("{ring}.bin"));
        let oracle = data::json(&format!("{ring}.json.gz"));
        compare_records(&ring, &bytes, &oracle, &mut compared);
        compare(&ring, &Capture::parse(&bytes).expect(&ring), &oracle, &mut compared);
    }
    println!("{compared:?}");
    assert_eq!((compared.rings, compared.snapshots), (21, 92));
    assert_eq!((compared.records, compared.across_the_end), (2710, 38));
    assert_eq!((compared.fields, compared.reads), (38081, 28));
}

/// Compares what the example prints with the records of all snapshots.
fn compare_records(ring: &str, bytes: &[u8], oracle: &Json, compared: &mut Compared) {
    let run = dump(bytes);
    let is_overwritten = ring == "ring-ovwfwd-0";
    assert_eq!(run.end, if is_overwritten { End::Overwritten } else { End::Complete }, "{ring}");
    let mut found = run.records().into_iter();
    for (index, snapshot) in oracle["snapshots"].as_array().expect(ring).iter().enumerate() {
        for expected in snapshot["records"].as_array().expect(ring) {
            let mut found = found.next().expect(ring);
            let number = found.as_object_mut().and_then(|found| found.remove("snapshot"));
            assert_eq!((number, &found), (Some(index.into()), expected), "{ring}, snapshot {index}");
            compared.fields += oracle::leaves(&found);
            compared.across_the_end += usize::from(found["wraps"] == true);
            compared.records += 1;
        }
    }
    assert_eq!(found.next(), None, "{ring}");
}

/// Compares the shortcuts with the decoder, and the truncated records and the counts with the
/// oracle.
fn compare(ring: &str, file: &Capture, oracle: &Json, compared: &mut Compared) {
    let snapshots = oracle["snapshots"].as_array().expect(ring);
    assert_eq!(file.snapshots.len(), snapshots.len(), "{ring}");
    let mut scratch = Scratch::new();
    for (number, (snapshot, expected)) in file.snapshots.iter().zip(snapshots).enumerate() {
        let framed = framed(snapshot, file.mode, &mut scratch);
        for &(_, record) in &framed.records {
            let layout = SampleLayout::new(&file.events[event_of(file, record)].attr);
            shortcuts::agree(record, &layout, &to_reference(record, &layout).unwrap());
        }
        let stopped = ["stopped_at", "stopped_size"].map(|key| expected[key].clone());
        assert_eq!(describe_truncated(snapshot, &framed), stopped, "{ring}, snapshot {number}");
        compared.snapshots += 1;
    }
    for ((index, event), expected) in
        file.events.iter().enumerate().zip(oracle["reads"].as_array().expect(ring))
    {
        let values = ReadValues::parse(&event.counts, event.attr.read_format).expect(ring);
        let found = json!({ "event": index, "decoded": values });
        assert_eq!(found["event"], expected["event"], "{ring}");
        assert_eq!(found["decoded"], expected["decoded"], "{ring}");
        compared.fields += oracle::leaves(&found);
        compared.reads += 1;
    }
    compared.rings += 1;
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
