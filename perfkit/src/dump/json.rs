//! Values as JSON, in the forms of `docs/dump-json.md`.

use perf_decode::Value;
use perf_tracepoint::{self as tracepoint, Format};
use serde_json::{Map, Value as Json};

/// The entries of a JSON object.
pub(crate) type Object = Map<String, Json>;

/// Returns a number as `0x` and hexadecimal digits.
pub(super) fn hex(number: u64) -> Json {
    value(Value::Hex(number))
}

/// Returns bytes as hexadecimal digits.
pub(super) fn bytes(bytes: &[u8]) -> Json {
    value(Value::Bytes(bytes))
}

/// Returns the id of a task or CPU; 0xffffffff is -1.
pub(super) fn task(id: u32) -> Json {
    value(Value::Task(id))
}

/// Returns a name; bytes that are not UTF-8 become U+FFFD.
pub(super) fn text(bytes: &[u8]) -> Json {
    lossy(bytes).into()
}

/// Returns a name as a string; bytes that are not UTF-8 become U+FFFD.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the value of a field.
pub(super) fn value(value: Value<'_>) -> Json {
    // Never fails, because all keys are texts or numbers.
    serde_json::to_value(value).unwrap_or_default()
}

/// Returns the fields of a tracepoint, without the fields common to all tracepoints.
pub(crate) fn tracepoint(format: &Format<'_>, raw: &[u8]) -> Object {
    format.fields.iter().map(|field| (field.name.to_owned(), of_tracepoint(&field.value(raw)))).collect()
}

/// Returns the value of a tracepoint's field.
pub(crate) fn of_tracepoint(value: &tracepoint::Value<'_>) -> Json {
    match value {
        tracepoint::Value::Unsigned(number) => (*number).into(),
        tracepoint::Value::Signed(number) => (*number).into(),
        tracepoint::Value::Pointer(address) => hex(*address),
        tracepoint::Value::Text(name) => text(name),
        tracepoint::Value::Bytes(data) => bytes(data),
        // Arrays and truncated fields.
        other => other.to_string().into(),
    }
}
