//! What is read by other ways than through the tree, compared with the tree.

use perf_abi::RecordType;
use perf_decode::testing::reference::{Reference, Value};
use perf_decode::{RawRecord, Record, Regs, SampleHead, SampleLayout};

/// Checks all shortcuts of a record that decodes to `tree`.
pub(crate) fn agree(raw: RawRecord<'_>, layout: &SampleLayout, tree: &Reference) {
    undecoded(raw, layout, tree);
    both_at_once(raw, layout);
    if let Ok(Record::Sample(sample)) = raw.decode(layout) {
        head(&SampleHead::parse(raw, layout).expect("a whole sample has its head"), tree);
        registers(sample.regs_user(), tree.field("user_regs"));
        registers(sample.regs_intr(), tree.field("intr_regs"));
    }
}

/// [`RawRecord::decode_with_id`].
fn both_at_once(raw: RawRecord<'_>, layout: &SampleLayout) {
    let (record, id) = raw.decode_with_id(layout).unwrap();
    assert_eq!(format!("{record:?}"), format!("{:?}", raw.decode(layout).unwrap()));
    assert_eq!(Ok(id), raw.sample_id(layout));
}

/// The view of the fields that every sample begins with.
fn head(head: &SampleHead<'_>, tree: &Reference) {
    let number = |name: &str| tree.field(name).and_then(Value::as_u64);
    let wide = [
        ("identifier", head.identifier()),
        ("ip", head.ip()),
        ("time", head.time()),
        ("addr", head.addr()),
        ("id", head.id()),
        ("stream_id", head.stream_id()),
        ("period", head.period()),
    ];
    let narrow = [("pid", head.pid()), ("tid", head.tid()), ("cpu", head.cpu())];
    let narrow = narrow.map(|(name, value)| (name, value.map(u64::from)));
    for (name, value) in wide.into_iter().chain(narrow) {
        assert_eq!(value, number(name), "{name} of {tree:?}");
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
