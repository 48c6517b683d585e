//! Real samples, decoded here and by libtraceevent in the perf tool: every field agrees.
//!
//! `tests/data/*.tpfields.jsonl.gz` hold one JSON object per sample: the event, the RAW bytes in
//! hexadecimal, and the fields as `perf script` passes them to Python. They were recorded on
//! x86-64, so big-endian targets skip this test.

#![cfg(target_endian = "little")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers may fail it"
)]

use std::collections::BTreeMap;

use perf_tracepoint::{Format, Value};
use serde_json::Value as Json;

/// Recordings, and the number of samples in each.
const RECORDINGS: [(&str, usize); 9] = [
    ("irq-exc-tp", 232),
    ("net-timer-tp", 27),
    ("pipe-tracepoint", 9),
    ("sched-raw", 20),
    ("sched-record", 74),
    ("syscalls-filter", 14),
    ("syscalls-raw", 896),
    ("trace-record", 140),
    ("uprobe", 40),
];

/// Keys that perf derives from the sample, not from the payload.
const FROM_SAMPLE: [&str; 4] = ["common_cpu", "common_s", "common_ns", "common_comm"];

#[test]
fn every_field_reads_as_the_perf_tool_reads_it() {
    let kernel = crate::tracefs::load("tracefs-formats.txt.gz");
    let probes = crate::tracefs::load("uprobe-formats.txt");
    let formats: BTreeMap<String, Format<'_>> = crate::tracefs::sections(&kernel)
        .chain(crate::tracefs::sections(&probes))
        .filter(|(path, _)| path.contains('/'))
        .map(|(path, text)| (path.replacen('/', "__", 1), Format::parse(text).expect(path)))
        .collect();
    let (mut samples, mut fields) = (0, 0);
    for (recording, expected) in RECORDINGS {
        let lines = crate::tracefs::load(&format!("{recording}.tpfields.jsonl.gz"));
        let mut found = 0;
        for line in lines.lines() {
            let sample: Json = serde_json::from_str(line).expect(recording);
            let event = sample["event"].as_str().expect("event");
            let format = formats.get(event).unwrap_or_else(|| panic!("no format of {event}"));
            fields += compare(event, format, &sample);
            found += 1;
        }
        assert_eq!(found, expected, "{recording}");
        samples += found;
    }
    println!("{samples} samples, {fields} fields compared");
    assert_eq!((samples, fields), (1452, 5047));
}

/// Compares the fields of both sides and returns their number.
fn compare(event: &str, format: &Format<'_>, sample: &Json) -> usize {
    let raw = bytes(sample["raw"].as_str().expect("raw"));
    let theirs = sample["fields"].as_object().expect("fields");
    let id = format.integer("common_type").expect("common_type").read_u64(&raw);
    assert_eq!(id, Some(u64::from(format.id)), "{event}");
    for field in format.fields {
        assert!(theirs.contains_key(field.name), "{event}: only here: {}", field.name);
    }
    let mut count = 0;
    for (name, expected) in theirs.iter().filter(|(name, _)| !FROM_SAMPLE.contains(&name.as_str())) {
        let field = format.field(name).unwrap_or_else(|| panic!("{event}: only there: {name}"));
        let value = field.value(&raw);
        let agree = match &value {
            Value::Signed(value) => expected.as_i64() == Some(*value),
            Value::Unsigned(value) | Value::Pointer(value) => expected.as_u64() == Some(*value),
            Value::Text(text) => expected.as_str().map(str::as_bytes) == Some(text),
            // libtraceevent passes arrays as bytes.
            Value::Integers(integers) => {
                let bytes = bytes(expected["bytes"].as_str().expect("bytes"));
                let words =
                    bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes")));
                field.size as usize == bytes.len() && words.eq(integers.clone())
            }
            _ => false,
        };
        assert!(agree, "{event}: {name} is {value:?} here and {expected} there");
        count += 1;
    }
    count
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect(hex)).collect()
}
