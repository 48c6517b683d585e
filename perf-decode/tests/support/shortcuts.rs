//! What [`RawRecord`] tells without decoding, compared with the decoded record.

use perf_abi::RecordType;
use perf_decode::testing::reference::{Reference, Value};
use perf_decode::{RawRecord, SampleLayout};

/// Checks [`RawRecord::time`] and [`RawRecord::id`] of a record that decodes to `tree`.
pub(crate) fn agree(raw: RawRecord<'_>, layout: &SampleLayout, tree: &Reference) {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let anywhere = |name: &str| match raw.kind() {
        RecordType::SAMPLE => number(tree.field(name)),
        _ => number(tree.sample_id(name)),
    };
    let own_time = match raw.kind() {
        RecordType::FORK | RecordType::EXIT | RecordType::THROTTLE | RecordType::UNTHROTTLE => {
            number(tree.field("time"))
        }
        _ => None,
    };
    assert_eq!(raw.time(layout), anywhere("time").or(own_time), "time of {tree:?}");
    assert_eq!(raw.id(layout), anywhere("identifier").or(anywhere("id")), "id of {tree:?}");
}
