//! Fields as JSON: one form for each type of value, in records of every kind.

use perf_abi::branch::BranchEntry;
use perf_abi::{NamespaceLink, ReadFormat, Weight};
use perf_decode::{Branches, Field, ReadEntry, ReadValues, Value};
use serde_json::{Map, Value as Json, json};

/// The entries of a JSON object.
pub(super) type Object = Map<String, Json>;

/// Returns the fields as one object.
pub(super) fn object<'a>(fields: impl Iterator<Item = Field<'a>>) -> Object {
    fields.map(|field| (field.name.to_owned(), value(field.value))).collect()
}

/// Returns a value in the form that `docs/dump-json.md` gives its type.
fn value(value: Value<'_>) -> Json {
    match value {
        Value::Number(number) => number.into(),
        Value::Hex(number) => hex(number),
        Value::Bytes(data) => bytes(data),
        #[expect(clippy::cast_possible_wrap, reason = "0xffffffff is -1")]
        Value::Task(id) => (id as i32).into(),
        Value::Text(name) => text(name),
        Value::Words(words) => hex_list(words),
        Value::Read(values) => counts(&values).into(),
        Value::Callchain(chain) => hex_list(chain.words()),
        Value::Branches(stack) => branches(&stack).into(),
        Value::Regs(regs) => {
            regs.iter().map(|(bit, word)| (bit.to_string(), hex(word))).collect::<Object>().into()
        }
        Value::WeightStruct(weight) => weight_struct(weight),
        Value::DataSource(source) => hex(source.0),
        Value::Transaction(flags) => hex(flags.bits()),
        Value::AuxFlags(flags) => hex(flags.bits()),
        Value::KsymbolType(kind) => kind.0.into(),
        Value::KsymbolFlags(flags) => flags.bits().into(),
        Value::BpfEventType(kind) => kind.0.into(),
        Value::Namespaces(links) => links.iter().map(namespace).collect(),
        // `Value` is non-exhaustive: a type that this program does not know.
        other => other.to_string().into(),
    }
}

/// Returns a number as `0x` and hexadecimal digits.
pub(super) fn hex(number: u64) -> Json {
    format!("{number:#x}").into()
}

/// Returns bytes as hexadecimal digits.
pub(super) fn bytes(bytes: &[u8]) -> Json {
    Value::Bytes(bytes).to_string().into()
}

/// Returns a name; bytes that are not UTF-8 become U+FFFD.
pub(super) fn text(bytes: &[u8]) -> Json {
    lossy(bytes).into()
}

/// Returns a name as a string; bytes that are not UTF-8 become U+FFFD.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn hex_list(words: &[u64]) -> Json {
    words.iter().copied().map(hex).collect()
}

fn namespace(link: NamespaceLink) -> Json {
    json!({"dev": link.dev, "ino": link.inode})
}

fn weight_struct(weight: Weight) -> Json {
    json!({"var1_dw": weight.var1(), "var2_w": weight.var2(), "var3_w": weight.var3()})
}

fn branches(stack: &Branches<'_>) -> Object {
    let entry = |branch: BranchEntry| json!({"from": hex(branch.from), "to": hex(branch.to), "info": hex(branch.info.bits())});
    let entries: Vec<Json> = stack.entries().iter().map(entry).collect();
    let counters = Some(stack.counters()).filter(|counters| !counters.is_empty());
    present([
        ("nr", Some(entries.len().into())),
        ("hw_idx", stack.hw_index().map(Json::from)),
        ("entries", Some(entries.into())),
        ("counters", counters.map(hex_list)),
    ])
}

/// Returns the counts of one event, or of a group with its entries in a list.
fn counts(values: &ReadValues<'_>) -> Object {
    let mut object = present([
        ("time_enabled", values.time_enabled().map(Json::from)),
        ("time_running", values.time_running().map(Json::from)),
    ]);
    if values.format().contains(ReadFormat::GROUP) {
        object.insert("values".to_owned(), values.iter().map(count).collect());
    } else {
        object.extend(values.iter().flat_map(count));
    }
    object
}

fn count(entry: ReadEntry) -> Object {
    present([
        ("value", Some(entry.value.into())),
        ("id", entry.id.map(Json::from)),
        ("lost", entry.lost.map(Json::from)),
    ])
}

/// Returns the entries that have a value.
fn present<const N: usize>(entries: [(&str, Option<Json>); N]) -> Object {
    entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_64_bits_are_exact() {
        assert_eq!(value(Value::Number(u64::MAX)).to_string(), "18446744073709551615");
        assert_eq!(value(Value::Hex(u64::MAX)), "0xffffffffffffffff");
    }

    #[test]
    fn task_without_id_is_minus_one() {
        assert_eq!([u32::MAX, 7].map(|id| value(Value::Task(id))), [json!(-1), json!(7)]);
    }

    #[test]
    fn text_stays_on_one_line() {
        let text = value(Value::Text(b"a\"\\\n\x7f")).to_string();
        assert_eq!(text, "\"a\\\"\\\\\\n\x7f\"");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_in_text() {
        assert_eq!(value(Value::Text(b"a\xff\xfeb")), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(value(Value::Bytes(&[1, 0xab])), "01ab");
    }
}
