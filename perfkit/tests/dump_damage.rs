//! `perfkit dump` on damaged files: the undamaged records, one line of error and exit code 1.

#![cfg(target_endian = "little")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helpers may fail it")]

use std::path::Path;

use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use zerocopy::IntoBytes;

mod support;

use support::ring::{BackwardRing, RingFile};
use support::run::{dump_bytes, dump_to_closed_pipe};

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

/// Dumps as JSON and as text. Both must print `count` records and one error that contains `error`.
fn damaged(name: &str, file: &[u8], count: usize, error: &str) {
    for more in [&["--json"][..], &[]] {
        let run = dump_bytes(&format!("damage-{name}"), file, more);
        assert!(run.has_one_error(), "{name}: {run:?}");
        assert_eq!(run.lines.len(), count, "{name}: {run:?}");
        assert!(run.errors[0].contains(error), "{name}: {run:?}");
        if !more.is_empty() {
            run.records();
        }
    }
}

#[test]
fn file_truncated_anywhere_has_the_records_before_its_end() {
    let ring = BackwardRing::from_records(&three(), 16);
    let backward = RingFile::backward().event(13, &ATTR).snapshot(0, ring.head, &ring.data).finish();
    // The second snapshot of the forward ring wraps.
    let forward = forward().records(&[lost(1)], 16, 0).records(&three(), 16, 32).finish();
    for (name, file) in [("forward", forward), ("backward", backward)] {
        let whole = dump_bytes(&format!("damage-truncated-{name}"), &file, &["--json"]);
        assert!(whole.is_clean(), "{whole:?}");
        let mut before = 0;
        // The stride reaches every byte of a word.
        for len in (0..file.len()).step_by(7).chain([file.len() - 1]) {
            let run = dump_bytes(&format!("damage-truncated-{name}"), &file[..len], &["--json"]);
            assert!(run.has_one_error(), "{name}, {len} bytes: {run:?}");
            assert!(
                whole.lines.starts_with(&run.lines) && run.lines.len() >= before,
                "{name}, {len}: {run:?}"
            );
            before = run.lines.len();
        }
        assert_eq!(before, whole.lines.len(), "only the counts are missing: {name}");
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
        damaged("size", &file, 1 + 3, &error);
    }
}

#[test]
fn record_that_cannot_be_decoded_is_printed_with_its_error() {
    let mut records = three();
    records[1][2] = u64::MAX; // nr of the callchain
    let file = forward().records(&records, 32, 0).finish();
    damaged("field", &file, 3, "snapshot 0, offset 0x20: SAMPLE: callchain: expected");
    let run = dump_bytes("damage-field", &file, &["--json"]);
    let errors: Vec<_> = run.records().iter().map(|record| record["error"].is_string()).collect();
    assert_eq!(errors, [false, true, false]);
    assert_eq!(run.records()[1]["size"], 56);
}

#[test]
fn impossible_positions_lose_only_their_snapshot() {
    let data = [0; 32];
    for (name, tail, head, error) in [
        (
            "head-before-tail",
            64,
            32,
            "snapshot 0: ring: expected a head at or after the tail 0x40, found 0x20",
        ),
        ("overrun", 0, 264, "expected a head at most 256 bytes after the tail 0x0, found 0x108"),
        ("odd-tail", 1, 32, "expected positions that are multiples of 8, found 0x1 and 0x20"),
        ("odd-head", 0, 33, "multiples of 8, found 0x0 and 0x21"),
        ("nonsense", u64::MAX / 2, 7, "snapshot 0:"),
    ] {
        let file = forward().snapshot(tail, head, &data).records(&three(), 32, 0).finish();
        damaged(name, &file, 3, error);
    }
    let file = forward().snapshot(0, 0, &[0; 12]).records(&three(), 32, 0).finish();
    damaged("ring-size", &file, 3, "expected a size that is a power of two, at least 8, found 96");
    let ring = BackwardRing::from_records(&[lost(1)], 32);
    let file = RingFile::backward().event(13, &ATTR).snapshot(0, ring.head + 4, &ring.data);
    damaged("backward-odd", &file.snapshot(0, ring.head, &ring.data).finish(), 1, "snapshot 0: ");
}

#[test]
fn damage_in_a_backward_ring_ends_its_snapshot() {
    let ring = BackwardRing::from_records(&three(), 32);
    let damaged_head = (ring.head % 256 / 8) as usize;
    let mut data = ring.data.clone();
    data[damaged_head + 4] &= !0 >> 16; // the size of the sample after the newest record
    let file = RingFile::backward().event(13, &ATTR).snapshot(0, ring.head, &data);
    damaged("backward-size", &file.snapshot(0, ring.head, &ring.data).finish(), 1 + 3, "found 0");
}

#[test]
fn attr_of_another_length_is_read_or_refused() {
    let attr = ATTR.as_bytes();
    for len in [64, 72, 80, 96, 104, 112, 120, 128, 136, 144] {
        // The missing fields of a shorter attr are 0; this test needs none of them.
        let file = RingFile::forward().event_of_bytes(13, &attr[..len]).records(&three(), 32, 0).finish();
        let run = dump_bytes("damage-attr-short", &file, &["--json"]);
        assert!(run.is_clean() && run.lines.len() == 3, "{len}: {run:?}");
    }
    // Without a sample_type a sample has no known fields.
    let file = RingFile::forward().event_of_bytes(13, &[]).records(&three(), 32, 0).finish();
    let run = dump_bytes("damage-attr-empty", &file, &["--json"]);
    assert!(run.is_clean(), "{run:?}");
    let trailing: Vec<_> = run.records().iter().map(|record| record["trailing"].as_u64()).collect();
    assert_eq!(trailing, [Some(8), Some(48), Some(8)]);
    let with_more = |more: &[u8]| {
        let attr = [attr, more].concat();
        RingFile::forward().event_of_bytes(13, &attr).records(&three(), 32, 0).finish()
    };
    assert!(dump_bytes("damage-attr-long", &with_more(&[0; 24]), &[]).is_clean());
    damaged("attr-newer", &with_more(&[0, 0, 0, 0, 0, 0, 0, 1]), 0, "attr length: expected");
    for length in [145_u32, 60_000, u32::MAX] {
        let mut file = forward().records(&three(), 32, 0).finish();
        // After the id and four numbers.
        file[EVENT + 24..][..4].copy_from_slice(&length.to_le_bytes());
        let run = dump_bytes("damage-attr-length", &file, &["--json"]);
        assert!(run.has_one_error() && run.lines.is_empty(), "{length}: {run:?}");
    }
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
            let run = dump_bytes("damage-count", &with(at, value, len), &["--json"]);
            assert!(run.has_one_error(), "{name} {value:#x}: {run:?}");
            assert!(run.lines.len() <= whole, "{name} {value:#x}: {run:?}");
        }
    }
    let mut more = file.clone();
    more.push(0);
    damaged("trailing", &more, 3, "found 1 trailing bytes");
}

#[test]
fn flipped_byte_is_a_record_or_one_error() {
    let file = forward().records(&three(), 16, 96).finish();
    // The control page is not read.
    for at in (0..file.len()).filter(|at| !(CONTROL..CONTROL + 1088).contains(at)) {
        for bits in [0xff, 0x01] {
            let mut file = file.clone();
            file[at] ^= bits;
            let run = dump_bytes("damage-flipped", &file, &["--json"]);
            assert!(run.is_clean() || run.has_one_error(), "byte {at} ^ {bits:#x}: {run:?}");
            run.records();
        }
    }
}

#[test]
fn closed_output_ends_the_dump_of_a_damaged_file_without_an_error() {
    // More than the capacity of a pipe, so that a write fails.
    let chain = SampleBuilder::new(&ATTR).identifier(13).callchain(&[0x40_1000; 1000]).finish();
    let mut records = vec![chain; 60];
    records.push(vec![0]);
    let file = forward().records(&records, 1 << 16, 0).finish();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("damage-closed-pipe");
    std::fs::write(&path, file).unwrap();
    for more in [&["--json"][..], &[]] {
        for lines in [0, 1, 3] {
            let run = dump_to_closed_pipe(&path, lines, more);
            assert!(run.is_clean() && run.lines.len() == lines, "{lines} lines: {run:?}");
        }
    }
}
