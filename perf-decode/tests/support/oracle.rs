//! Records in the notation of the oracle: the JSON that a decoder written apart from this crate, in another language,
//! made of the same captures and that was itself compared with the output of the perf tool.

use std::fmt::Write as _;

use perf_abi::{Attr, RecordType, SampleType, Weight};
use perf_decode::testing::reference::{Fields, Reference, Value};
use serde_json::{Map, Value as Json, json};

/// Numbers in hexadecimal, as text.
const HEXADECIMAL: [&str; 6] = ["ip", "addr", "pgoff", "data_src", "transaction", "phys_addr"];

/// Numbers that the oracle takes to be signed and of 32 bits, so that 0xffffffff is -1.
const SIGNED: [&str; 6] = ["pid", "tid", "ppid", "ptid", "next_prev_pid", "next_prev_tid"];

/// Bytes that are text.
const TEXT: [&str; 4] = ["comm", "filename", "path", "name"];

/// The record as the oracle writes it, without its place in the capture.
pub(crate) fn record(tree: &Reference, attr: &Attr) -> Map<String, Json> {
    let kind = RecordType(tree.kind);
    let mut fields: Map<String, Json> =
        tree.fields.iter().map(|(name, value)| field(kind, attr, name, value)).collect();
    if !tree.trailer.is_empty() {
        fields.insert("sample_id".into(), trailer(kind, attr, &tree.trailer));
    }
    Map::from_iter([
        ("type".into(), tree.kind.into()),
        ("name".into(), kind.name().into()),
        ("misc".into(), tree.misc.into()),
        ("size".into(), tree.size.into()),
        ("fields".into(), fields.into()),
    ])
}

fn trailer(kind: RecordType, attr: &Attr, trailer: &Fields) -> Json {
    trailer.iter().map(|(name, value)| field(kind, attr, name, value)).collect()
}

/// All differences between the two notations.
fn field(kind: RecordType, attr: &Attr, name: &str, value: &Value) -> (String, Json) {
    let mapping = matches!(kind, RecordType::MMAP | RecordType::MMAP2);
    let written = match (name, value) {
        ("len", Value::U64(number)) if mapping => hexadecimal(*number),
        ("weight", Value::U64(number)) if attr.sample_type.contains(SampleType::WEIGHT_STRUCT) => {
            let weight = Weight(*number);
            let three = json!({"var1_dw": weight.var1(), "var2_w": weight.var2(), "var3_w": weight.var3()});
            return ("weight_struct".into(), three);
        }
        (_, Value::U64(number)) if HEXADECIMAL.contains(&name) => hexadecimal(*number),
        (_, Value::U64(number)) if SIGNED.contains(&name) => {
            i32::from_ne_bytes((*number as u32).to_ne_bytes()).into()
        }
        (_, Value::Bytes(bytes)) if TEXT.contains(&name) => String::from_utf8_lossy(bytes).into(),
        ("callchain", Value::List(ips)) => ips.iter().filter_map(Value::as_u64).map(hexadecimal).collect(),
        ("user_regs" | "intr_regs", Value::Map(registers)) => registers
            .iter()
            .filter_map(|(number, value)| Some((number.clone(), hexadecimal(value.as_u64()?))))
            .collect(),
        (_, value) => plain(value),
    };
    (name.to_owned(), written)
}

/// A value that needs no rule of its own.
pub(crate) fn plain(value: &Value) -> Json {
    match value {
        Value::U64(number) => (*number).into(),
        Value::Bytes(bytes) => hex(bytes).into(),
        Value::List(values) => values.iter().map(plain).collect(),
        Value::Map(entries) => entries.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
    }
}

fn hexadecimal(number: u64) -> Json {
    format!("{number:#x}").into()
}

/// Bytes as pairs of digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(digits, "{byte:02x}").unwrap();
    }
    digits
}

/// How many single values a JSON value holds.
pub(crate) fn leaves(json: &Json) -> usize {
    match json {
        Json::Array(values) => values.iter().map(leaves).sum(),
        Json::Object(entries) => entries.values().map(leaves).sum(),
        _ => 1,
    }
}
