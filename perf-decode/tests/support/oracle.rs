//! Records in the notation of the oracle. The oracle is a decoder written independently of this
//! crate, in another language. It wrote the captures as JSON, which was compared with the output of
//! the perf tool.

use std::fmt::Write as _;

use perf_decode::Record;
use serde_json::{Map, Value as Json};

/// Returns the record as the oracle writes it, without its place in the capture.
///
/// The oracle has no key `trailing`, so a capture with trailing bytes does not pass unnoticed.
pub(crate) fn record(record: &Record<'_>) -> Map<String, Json> {
    let Ok(Json::Object(found)) = serde_json::to_value(record) else { panic!("not an object: {record}") };
    found
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
