//! Files and records in the notation of the oracle.

use perf_file::{FileEvent, FileOffset, FileRecord};
use serde_json::{Map, Value as Json, json};

use super::oracle;

/// Returns a record with its position, and only the header of records of tools.
pub(crate) fn record_of_file(record: FileRecord<'_>) -> Json {
    let mut found = match record.kernel() {
        Some(_) => {
            let (index, _) = record.event().unwrap();
            let mut found = oracle::record(&record.decode().unwrap());
            found.insert("attr".into(), index.into());
            found
        }
        None => Map::from_iter([
            ("type".into(), record.kind().0.into()),
            ("misc".into(), record.header().misc.bits().into()),
            ("size".into(), record.header().size.into()),
        ]),
    };
    match record.place() {
        FileOffset::Offset(offset) => found.insert("offset".into(), offset.into()),
        FileOffset::InCompressed(offset) => found.insert("in_compressed".into(), offset.into()),
    };
    Json::Object(found)
}

/// Compares two lists entry by entry, and returns their length.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T], name: &str) -> usize {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(found.len(), expected.len(), "{name}");
    found.len()
}

/// Returns the records of the oracle with the keys of [`record_of_file`].
pub(crate) fn expected(oracle: &Json) -> Vec<Json> {
    let comparable = |record: &Json| {
        let mut record = record.as_object().unwrap().clone();
        if record["type"].as_u64() >= Some(64) {
            record
                .retain(|key, _| ["type", "misc", "size", "offset", "in_compressed"].contains(&key.as_str()));
        } else {
            // The oracle names the event only if there are several.
            record.entry("attr").or_insert_with(|| 0.into());
        }
        Json::Object(record)
    };
    oracle["records"].as_array().unwrap().iter().map(comparable).collect()
}

pub(crate) fn event(event: &FileEvent) -> Json {
    let flags = event.attr.flags.bits();
    // The oracle numbers bit fields as little-endian machines do.
    let flags = if cfg!(target_endian = "big") { flags.reverse_bits() } else { flags };
    json!({
        "hex": oracle::hex(&event.bytes),
        "ids": event.ids,
        "sample_type": format!("{:#x}", event.attr.sample_type.bits()),
        "read_format": format!("{:#x}", event.attr.read_format.bits()),
        "flags": format!("{flags:#x}"),
    })
}
