//! Records in the notation of the oracle. The oracle is a decoder written independently of this
//! crate, in another language. It wrote the captures as JSON, which was compared with the output of
//! the perf tool.
//!
//! The variant of [`Value`] determines the form of a value, never the field's name.

use std::fmt::Write as _;

use perf_abi::NamespaceLink;
use perf_abi::branch::BranchEntry;
use perf_decode::{Branches, Field, ReadEntry, ReadValues, Record, Regs, Value};
use serde_json::{Map, Value as Json, json};

/// Returns the record as the oracle writes it, without its place in the capture.
pub(crate) fn record(record: &Record<'_>) -> Map<String, Json> {
    let mut fields: Map<String, Json> = record.fields().map(field).collect();
    if let Some(trailer) = record.sample_id().filter(|trailer| !trailer.is_empty()) {
        fields.insert("sample_id".into(), trailer.fields().map(field).collect());
    }
    let mut found = Map::from_iter([
        ("type".into(), record.kind().0.into()),
        ("name".into(), record.kind().name().into()),
        ("misc".into(), record.misc().bits().into()),
        ("size".into(), record.size().into()),
        ("fields".into(), fields.into()),
    ]);
    // The oracle has no such key, so a capture with trailing bytes does not pass unnoticed.
    if record.trailing_len() > 0 {
        found.insert("trailing".into(), record.trailing_len().into());
    }
    found
}

fn field(field: Field<'_>) -> (String, Json) {
    (field.name.into(), value(field.value))
}

fn value(value: Value<'_>) -> Json {
    match value {
        Value::Number(number) => number.into(),
        Value::Hex(number) => hexadecimal(number),
        // -1 is a task that the opener's pid namespace does not see.
        Value::Task(id) => i32::from_ne_bytes(id.to_ne_bytes()).into(),
        Value::Text(text) => String::from_utf8_lossy(text).into(),
        Value::Bytes(bytes) => hex(bytes).into(),
        Value::Words(words) => words.iter().copied().map(hexadecimal).collect(),
        Value::Callchain(chain) => chain.words().iter().copied().map(hexadecimal).collect(),
        Value::Read(values) => counts(&values),
        Value::Branches(stack) => branches(&stack),
        Value::Regs(regs) => registers(&regs),
        Value::WeightStruct(weight) => {
            json!({"var1_dw": weight.var1(), "var2_w": weight.var2(), "var3_w": weight.var3()})
        }
        Value::DataSource(source) => hexadecimal(source.0),
        Value::Transaction(flags) => hexadecimal(flags.bits()),
        Value::Namespaces(links) => {
            links.iter().map(|NamespaceLink { dev, inode }| json!({"dev": dev, "ino": inode})).collect()
        }
        number => number.as_u64().expect("a number, or a variant with a separate arm").into(),
    }
}

/// Returns the counts of one event or of a group.
pub(crate) fn counts(values: &ReadValues<'_>) -> Json {
    let times = present([("time_enabled", values.time_enabled()), ("time_running", values.time_running())]);
    let entry =
        |entry: ReadEntry| present([("value", Some(entry.value)), ("id", entry.id), ("lost", entry.lost)]);
    let mut counts: Map<String, Json> = times.collect();
    if values.format().contains(perf_abi::ReadFormat::GROUP) {
        counts.insert("values".into(), values.iter().map(|one| entry(one).collect::<Json>()).collect());
    } else {
        values.iter().for_each(|one| counts.extend(entry(one)));
    }
    Json::Object(counts)
}

fn present<const N: usize>(
    numbers: [(&'static str, Option<u64>); N],
) -> impl Iterator<Item = (String, Json)> {
    numbers.into_iter().filter_map(|(name, number)| Some((name.into(), number?.into())))
}

fn branches(stack: &Branches<'_>) -> Json {
    let entry =
        |BranchEntry { from, to, info }: BranchEntry| json!({"from": from, "to": to, "info": info.bits()});
    let entries: Vec<Json> = stack.entries().iter().map(entry).collect();
    let mut found = Map::from_iter([("nr".into(), entries.len().into())]);
    found.extend(present([("hw_idx", stack.hw_index())]));
    found.insert("entries".into(), entries.into());
    if !stack.counters().is_empty() {
        found.insert("counters".into(), stack.counters().into());
    }
    Json::Object(found)
}

fn registers(regs: &Regs<'_>) -> Json {
    regs.iter().map(|(register, value)| (register.to_string(), hexadecimal(value))).collect()
}

fn hexadecimal(number: u64) -> Json {
    format!("{number:#x}").into()
}

/// Returns bytes as pairs of digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(digits, "{byte:02x}").unwrap();
    }
    digits
}

/// Returns how many single values a JSON value holds.
pub(crate) fn leaves(json: &Json) -> usize {
    match json {
        Json::Array(values) => values.iter().map(leaves).sum(),
        Json::Object(entries) => entries.values().map(leaves).sum(),
        _ => 1,
    }
}
