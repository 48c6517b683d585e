//! The content of a kernel record as JSON.

use perf_decode::Record;
use perf_decode::tracepoint::{Format, Value};
use serde_json::json;

use super::json::{Object, bytes, hex, object, text};

/// Adds the fields, or the reason why the record could not be decoded.
pub(super) fn put<E: ToString>(json: &mut Object, decoded: &Result<Record<'_>, E>) {
    let mut put = |key: &str, value| json.insert(key.to_owned(), value);
    match decoded {
        Err(error) => {
            put("error", error.to_string().into());
        }
        Ok(record) => {
            put("fields", fields(record).into());
            if record.trailing_len() > 0 {
                put("trailing", record.trailing_len().into());
            }
            if is_ambiguous(record) {
                put("ambiguous", true.into());
            }
        }
    }
}

/// Returns the fields of the body, and those of the trailer in a separate object.
fn fields(record: &Record<'_>) -> Object {
    let mut fields = object(record.fields());
    if let Some(trailer) = record.sample_id().filter(|trailer| !trailer.is_empty()) {
        fields.insert("sample_id".to_owned(), json!(object(trailer.fields())));
    }
    fields
}

/// Returns the fields of a tracepoint, without those that all tracepoints have.
pub(super) fn tracepoint(format: &Format<'_>, raw: &[u8]) -> Object {
    let value = |value: Value<'_>| match value {
        Value::Unsigned(number) => number.into(),
        Value::Signed(number) => number.into(),
        Value::Pointer(address) => hex(address),
        Value::Text(name) => text(name),
        Value::Bytes(data) => bytes(data),
        // Arrays, and fields that are truncated.
        other => other.to_string().into(),
    };
    format.fields.iter().map(|field| (field.name.to_owned(), value(field.value(raw)))).collect()
}

fn is_ambiguous(record: &Record<'_>) -> bool {
    matches!(record, Record::Sample(sample) if sample.has_ambiguous_branches())
}
