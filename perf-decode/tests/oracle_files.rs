//! Captured `perf.data` files, decoded here and by another decoder: every key and every value must
//! agree.
//!
//! `tests/data/*.data` were recorded on x86-64, so a big-endian machine skips this.

#![cfg(target_endian = "little")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test's helpers may fail it"
)]

mod support;

use perf_decode::RawRecord;
use perf_decode::testing::to_reference;
use serde_json::{Value as Json, json};
use support::file_layouts::FileLayouts;
use support::perf_data::{Event, FileRecord, PerfData, Place};
use support::{data, oracle, shortcuts};

/// Numbers of compared items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Compared {
    files: usize,
    events: usize,
    kernel_records: usize,
    kernel_fields: usize,
    tool_records: usize,
    /// Records inside compressed ones.
    compressed: usize,
}

#[test]
fn captured_files_decode_as_the_oracle_does() {
    let mut compared = Compared::default();
    for name in data::stems(".data") {
        let file = PerfData::parse(&data::bytes(&format!("{name}.data"))).expect(&name);
        let oracle = data::json(&format!("{name}.records.json.gz"));
        compare(&name, &file, &oracle, &mut compared);
    }
    println!("{compared:?}");
    assert_eq!((compared.files, compared.events), (44, 88));
    assert_eq!((compared.kernel_records, compared.kernel_fields), (4807, 75232));
    assert_eq!((compared.tool_records, compared.compressed), (392, 172));
}

fn compare(name: &str, file: &PerfData, oracle: &Json, compared: &mut Compared) {
    let events: Vec<Json> = file.events.iter().map(describe_event).collect();
    assert_eq!(Json::Array(events), oracle["attrs"], "{name}");
    assert_eq!(file.pipe, oracle["pipe"], "{name}");
    let expected_records = oracle["records"].as_array().expect(name);
    assert_eq!(file.records.len(), expected_records.len(), "{name}");

    let layouts = FileLayouts::new(&file.events);
    for (record, expected) in file.records.iter().zip(expected_records) {
        compared.compressed += usize::from(matches!(record.place, Place::Inside(_)));
        if record.is_user() {
            compare_header(record, expected);
            compared.tool_records += 1;
            continue;
        }
        let found = describe(file, &layouts, record);
        assert_eq!(&found, expected, "{name}, {:?}", record.place);
        compared.kernel_records += 1;
        compared.kernel_fields += oracle::leaves(&found);
    }
    compared.events += file.events.len();
    compared.files += 1;
}

fn describe_event(event: &Event) -> Json {
    json!({
        "hex": oracle::hex(&event.bytes),
        "ids": event.ids,
        "sample_type": format!("{:#x}", event.attr.sample_type.bits()),
        "read_format": format!("{:#x}", event.attr.read_format.bits()),
        "flags": format!("{:#x}", event.attr.flags.bits()),
    })
}

/// Compares the headers of tools' own records, which this crate does not decode.
fn compare_header(record: &FileRecord, expected: &Json) {
    let (key, offset) = place(record);
    let found = [offset, record.kind.0.into(), record.misc.bits().into(), record.size.into()];
    assert_eq!(found.map(Json::from), [key, "type", "misc", "size"].map(|key| expected[key].clone()));
}

/// Returns the oracle's key for the position of a record, and the position.
fn place(record: &FileRecord) -> (&'static str, u64) {
    match record.place {
        Place::Offset(offset) => ("offset", offset),
        Place::Inside(offset) => ("in_compressed", offset),
    }
}

fn describe(file: &PerfData, layouts: &FileLayouts, record: &FileRecord) -> Json {
    let raw = RawRecord::from_words(&record.words).unwrap();
    let index = layouts.find(raw);
    let layout = &layouts.by_event[index];
    shortcuts::agree(raw, layout, &to_reference(raw, layout).unwrap());
    let mut found = oracle::record(&raw.decode(layout).unwrap());
    let (key, offset) = place(record);
    found.insert(key.into(), offset.into());
    if file.events.len() > 1 {
        found.insert("attr".into(), index.into());
    }
    Json::Object(found)
}
