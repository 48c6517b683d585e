//! Damaged files: the undamaged records and the first error.

use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use zerocopy::IntoBytes;

use super::dump;
use super::file::{BackwardRing, RingFile};
use crate::support::data;

const ATTR: Attr = Attr::software(Software::CPU_CLOCK)
    .with_sample_type(SampleType::IDENTIFIER.union(SampleType::CALLCHAIN))
    .with_flags(AttrFlags::SAMPLE_ID_ALL);

/// Offsets of the event, the snapshot and its control page in a file with one event and one
/// snapshot.
const EVENT: usize = 40;
const SNAPSHOT: usize = EVENT + 32 + size_of::<Attr>() + 8;
const CONTROL: usize = SNAPSHOT + 40;

fn lost(lost: u64) -> Vec<u64> {
    let trailer = SampleIdValues { identifier: 13, ..SampleIdValues::default() };
    let body = RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[13, lost]);
    body.with_trailer(&ATTR, &trailer).finish()
}

/// Returns LOST, a sample and LOST: 32, 56 and 32 bytes.
fn three() -> Vec<Vec<u64>> {
    let sample = SampleBuilder::new(&ATTR).identifier(13).callchain(&[1, 2, 3, 4]);
    vec![lost(1), sample.finish(), lost(3)]
}

fn forward() -> RingFile {
    RingFile::forward().event(13, &ATTR)
}

/// The dump must have `count` records and an error that contains `error`.
#[track_caller]
fn damaged(file: &[u8], count: usize, error: &str) {
    let run = dump(file);
    assert!(run.error().contains(error) && run.lines.len() == count, "{run:?}");
}

/// Truncates a file at each of `lengths`. Each output must be a prefix of the complete one, and not
/// shorter than the dump of a shorter file.
fn truncate(name: &str, file: &[u8], lengths: impl Iterator<Item = usize>) {
    let whole = dump(file);
    assert!(whole.is_clean(), "{name}: {whole:?}");
    let mut before = 0;
    for len in lengths {
        let run = dump(&file[..len]);
        assert!(!run.error().is_empty(), "{name}, {len} bytes: {run:?}");
        assert!(whole.lines.starts_with(&run.lines) && run.lines.len() >= before, "{name}, {len}: {run:?}");
        before = run.lines.len();
    }
}

#[test]
fn file_truncated_anywhere_has_the_records_before_its_end() {
    let ring = BackwardRing::from_records(&three(), 16);
    let backward = RingFile::backward().event(13, &ATTR).snapshot(0, ring.head, &ring.data).finish();
    // The second snapshot of the forward ring wraps.
    let forward = forward().records(&[lost(1)], 16, 0).records(&three(), 16, 32).finish();
    // The stride reaches every byte of a word.
    truncate("forward", &forward, (0..forward.len()).step_by(7));
    truncate("backward", &backward, (0..backward.len()).step_by(7));
    for ring in data::stems(".bin").into_iter().filter(|ring| ring != "ring-ovwfwd-0") {
        let file = data::bytes(&format!("{ring}.bin"));
        truncate(&ring, &file, (0..20).map(|part| part * file.len() / 20));
    }
}

#[test]
fn impossible_size_ends_its_snapshot() {
    for (size, error) in [
        (0, "a size of 8 at least, found 0"),
        (4, "a size of 8 at least, found 4"),
        (12, "a size that is a multiple of 8, found 12"),
        (65528, "65528 bytes, found 88"),
    ] {
        let mut records = three();
        records[1][0] = records[1][0] & !0 >> 16 | size << 48;
        // The next snapshot is read.
        let file = forward().records(&records, 32, 0).records(&three(), 32, 256).finish();
        let error = format!("snapshot 0: record at byte 32: expected {error}");
        damaged(&file, 1 + 3, &error);
    }
}

#[test]
fn record_that_cannot_be_decoded_is_printed_with_its_error() {
    let mut records = three();
    records[1][2] = u64::MAX; // nr of the callchain
    let file = forward().records(&records, 32, 0).finish();
    damaged(&file, 3, "snapshot 0, offset 0x20: SAMPLE: callchain: expected");
    let run = dump(&file);
    let errors: Vec<_> = run.records().iter().map(|record| record["error"].is_string()).collect();
    assert_eq!(errors, [false, true, false]);
    assert_eq!(run.records()[1]["size"], 56);
}

#[test]
fn impossible_positions_lose_only_their_snapshot() {
    let data = [0; 32];
    for (tail, head, error) in [
        (64, 32, "snapshot 0: ring: expected a head at or after the tail 0x40, found 0x20"),
        (0, 264, "expected a head at most 256 bytes after the tail 0x0, found 0x108"),
        (1, 32, "expected positions that are multiples of 8, found 0x1 and 0x20"),
        (0, 33, "multiples of 8, found 0x0 and 0x21"),
        (u64::MAX / 2, 7, "snapshot 0:"),
    ] {
        let file = forward().snapshot(tail, head, &data).records(&three(), 32, 0).finish();
        damaged(&file, 3, error);
    }
    let file = forward().snapshot(0, 0, &[0; 12]).records(&three(), 32, 0).finish();
    damaged(&file, 3, "expected a size that is a power of two, at least 8, found 96");
    let ring = BackwardRing::from_records(&[lost(1)], 32);
    let file = RingFile::backward().event(13, &ATTR).snapshot(0, ring.head + 4, &ring.data);
    damaged(&file.snapshot(0, ring.head, &ring.data).finish(), 1, "snapshot 0: ");
}

#[test]
fn damage_in_a_backward_ring_ends_its_snapshot() {
    let ring = BackwardRing::from_records(&three(), 32);
    let damaged_head = (ring.head % 256 / 8) as usize;
    let mut data = ring.data.clone();
    data[damaged_head + 4] &= !0 >> 16; // the size of the sample after the newest record
    let file = RingFile::backward().event(13, &ATTR).snapshot(0, ring.head, &data);
    damaged(&file.snapshot(0, ring.head, &ring.data).finish(), 1 + 3, "found 0");
}

#[test]
fn shorter_attr_is_read() {
    let attr = ATTR.as_bytes();
    for len in [64, 72, 80, 96, 104, 112, 120, 128, 136, 144] {
        // The missing fields of a shorter attr are 0; this test needs none of them.
        let file = RingFile::forward().event_of_bytes(13, &attr[..len]).records(&three(), 32, 0).finish();
        let run = dump(&file);
        assert!(run.is_clean() && run.lines.len() == 3, "{len}: {run:?}");
    }
    // Without a sample_type a sample has no known fields.
    let file = RingFile::forward().event_of_bytes(13, &[]).records(&three(), 32, 0).finish();
    let run = dump(&file);
    assert!(run.is_clean(), "{run:?}");
    let trailing: Vec<_> = run.records().iter().map(|record| record["trailing"].as_u64()).collect();
    assert_eq!(trailing, [Some(8), Some(48), Some(8)]);
}

#[test]
fn impossible_counts_and_lengths_are_refused() {
    let file = forward().records(&three(), 32, 0).finish();
    let with = |at: usize, value: u64, len: usize| {
        let mut file = file.clone();
        file[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
        file
    };
    for (name, at, len, whole) in [
        ("version", 8, 4, 0),
        ("mode", 20, 4, 0),
        ("events", 24, 4, 0),
        ("snapshots", 28, 4, 3),
        ("name-length", EVENT + 28, 4, 0),
        ("control-length", SNAPSHOT + 4, 4, 0),
        ("data-size", SNAPSHOT + 32, 8, 0),
    ] {
        for value in [u64::MAX, u64::MAX >> 1, 1 << 40 | 1 << 31, 99] {
            let run = dump(&with(at, value, len));
            assert!(!run.error().is_empty() && run.lines.len() <= whole, "{name} {value:#x}: {run:?}");
        }
    }
    damaged(&[&file[..], &[0]].concat(), 3, "found 1 trailing bytes");
    damaged(b"", 0, "magic");
    damaged(b"PERFILE2 and more", 0, "expected a file that starts with PERFRNG1");
}

#[test]
fn flipped_byte_does_not_panic() {
    let file = forward().records(&three(), 16, 96).finish();
    // The control page is not read.
    for at in (0..file.len()).filter(|at| !(CONTROL..CONTROL + 1088).contains(at)) {
        for bits in [0xff, 0x01] {
            let mut file = file.clone();
            file[at] ^= bits;
            dump(&file).records();
        }
    }
}
