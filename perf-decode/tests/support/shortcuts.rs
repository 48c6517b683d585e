//! What is read by other ways than through the tree, compared with the tree.

use perf_abi::RecordType;
use perf_decode::testing::reference::{Reference, Value};
use perf_decode::{RawRecord, Record, Regs, SampleLayout};

/// Checks all shortcuts of a record that decodes to `tree`.
pub(crate) fn agree(raw: RawRecord<'_>, layout: &SampleLayout, tree: &Reference) {
    undecoded(raw, layout, tree);
    if let Ok(Record::Sample(sample)) = raw.decode(layout) {
        registers(sample.regs_user(), tree.field("user_regs"));
        registers(sample.regs_intr(), tree.field("intr_regs"));
    }
}

/// [`Regs::get`] of every number that there could be.
fn registers(regs: Option<Regs<'_>>, tree: Option<&Value>) {
    for number in 0..=64 {
        let found = regs.and_then(|regs| regs.get(number));
        let expected = tree.and_then(|tree| tree.get(&number.to_string())?.as_u64());
        assert_eq!(found, expected, "register {number} of {tree:?}");
    }
}

/// [`RawRecord::time`] and [`RawRecord::id`].
fn undecoded(raw: RawRecord<'_>, layout: &SampleLayout, tree: &Reference) {
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
