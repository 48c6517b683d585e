//! `perfkit dump` on records that decode with a note: trailing bytes, an ambiguous branch stack.

#![cfg(target_endian = "little")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helpers may fail it")]

use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use serde_json::{Value, json};

mod support;

use support::ring::RingFile;
use support::run::dump_bytes;

const ATTR: Attr = Attr::software(Software::PAGE_FAULTS)
    .with_sample_type(SampleType::IDENTIFIER.union(SampleType::IP))
    .with_flags(AttrFlags::SAMPLE_ID_ALL);

/// Dumps one record as JSON, and as text from its kind on.
fn dumped(name: &str, attr: &Attr, record: &[u64]) -> (Value, String) {
    let file = RingFile::forward().event(13, attr).records(&[record.to_vec()], 64, 0).finish();
    let run = |more: &[&str]| {
        let run = dump_bytes(&format!("notes-{name}"), &file, more);
        assert!(run.is_clean() && run.lines.len() == 1, "{run:?}");
        run
    };
    let line = run(&[]).lines.remove(0);
    // Preceded by snapshot, offset and size.
    let content = line.split_whitespace().skip(3).collect::<Vec<_>>().join(" ");
    (run(&["--json"]).records().remove(0), content)
}

#[test]
fn records_without_trailing_bytes_have_no_note() {
    let (record, _) = dumped("whole", &ATTR, &SampleBuilder::new(&ATTR).identifier(13).finish());
    let keys: Vec<_> = record.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["fields", "misc", "name", "offset", "size", "snapshot", "type", "wraps"]);
}

#[test]
fn sample_enlarged_by_another_event_is_decoded() {
    // identifier, ip; four words of another event
    let words = [13, 0x40_1000, 1, 2, 3, 4];
    let record = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&words).finish();
    let (json, line) = dumped("sample", &ATTR, &record);
    assert_eq!((&json["size"], &json["trailing"]), (&json!(56), &json!(32)));
    assert_eq!(json["fields"], json!({"identifier": 13, "ip": "0x401000"}));
    assert_eq!(line, "SAMPLE identifier=13 ip=0x401000 (32 trailing bytes)");
}

#[test]
fn unclaimed_words_before_and_after_a_trailer_are_trailing_bytes() {
    let trailer = SampleIdValues { identifier: 13, ..SampleIdValues::default() };
    let newer = RecordBuilder::new(RecordType::LOST, Misc::empty())
        .words(&[13, 5]) // id, lost
        .words(&[77, 78]) // fields of a newer kernel
        .with_trailer(&ATTR, &trailer)
        .finish();
    let grown = RecordBuilder::new(RecordType::BPF_EVENT, Misc::empty())
        .u16s(&[1, 0]) // type, flags
        .u32s(&[131]) // id
        .u64(7) // tag
        .with_trailer(&ATTR, &trailer)
        .words(&[0xdead_beef]) // not written by the kernel
        .finish();
    for (name, record, trailing) in [("newer", newer, 16), ("grown", grown, 8)] {
        let (json, line) = dumped(name, &ATTR, &record);
        assert_eq!(
            (&json["trailing"], &json["fields"]["sample_id"]["identifier"]),
            (&json!(trailing), &json!(13))
        );
        assert!(line.ends_with(&format!("| identifier=13 ({trailing} trailing bytes)")), "{line}");
    }
}

#[test]
fn branch_stack_with_two_readings_is_marked() {
    let attr = Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::BRANCH_STACK | SampleType::REGS_USER)
        .with_regs_user(1);
    // nr, from, to, info; then abi and one register, or the counters and an abi of 0.
    let words = [1, 0x10, 0x20, 1, 2, 0];
    let record = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&words).finish();
    let (json, line) = dumped("ambiguous", &attr, &record);
    assert_eq!((&json["ambiguous"], &json["trailing"]), (&json!(true), &Value::Null));
    assert_eq!(
        (&json["fields"]["branches"]["counters"], &json["fields"]["user_abi"]),
        (&Value::Null, &json!(2))
    );
    assert!(line.ends_with("(branch stack ambiguous)"), "{line}");
}
