//! The accessors that `Record::fields` does not go through, compared with the fields by name.

use perf_abi::RecordType;
use perf_decode::testing::reference::{Reference, Value};
use perf_decode::{RawRecord, Record, Regs, Sample, SampleHead, SampleLayout};

/// Checks all shortcuts of a record that decodes to `expected`.
pub(crate) fn agree(raw: RawRecord<'_>, layout: &SampleLayout, expected: &Reference) {
    undecoded(raw, layout, expected);
    let record = raw.decode(layout).unwrap();
    of_all_kinds(raw, &record, layout, expected);
    if let Record::Sample(sample) = record {
        head(&raw.sample_head(layout).expect("a whole sample has its head"), expected);
        of_sample(&sample, expected);
        registers(sample.regs_user(), expected.field("user_regs"));
        registers(sample.regs_intr(), expected.field("intr_regs"));
    }
}

/// Checks the header, the time and the trailer, which every kind of record has.
fn of_all_kinds(raw: RawRecord<'_>, record: &Record<'_>, layout: &SampleLayout, expected: &Reference) {
    assert_eq!((record.header(), record.kind(), record.misc()), (raw.header(), raw.kind(), raw.misc()));
    assert_eq!((record.size(), record.trailing_len()), (raw.size(), expected.trailing));
    assert_eq!(record.truncated_field().is_some(), expected.is_truncated);
    assert_eq!(record.time(), raw.time(layout), "time of {expected:?}");
    let trailer = raw.sample_id(layout).unwrap();
    assert_eq!(trailer.fields().count(), expected.trailer.len(), "trailer of {expected:?}");
    match record.sample_id() {
        Some(of_record) => assert_eq!(of_record, trailer),
        None => assert!(matches!(record, Record::Sample(_) | Record::Unknown(_))),
    }
}

/// Checks the parts of a sample, each by its own accessor.
fn of_sample(sample: &Sample<'_>, expected: &Reference) {
    let bytes = |name: &str| expected.field(name).and_then(Value::as_bytes);
    assert_eq!(sample.trailing().len(), expected.trailing);
    assert!(sample.words().len() * 8 >= sample.trailing().len());
    assert_eq!(sample.raw(), bytes("raw"));
    assert_eq!(sample.aux(), bytes("aux"));
    assert_eq!(sample.stack_user().map_or(&[][..], |stack| stack.bytes()), bytes("stack").unwrap_or(&[]));
    let callchain = sample.callchain().map(|chain| chain.iter().copied().map(Value::U64).collect());
    assert_eq!(callchain.map(Value::List).as_ref(), expected.field("callchain"));
    let number = |name: &str| expected.field(name).and_then(Value::as_u64);
    let numbers = [
        ("weight", sample.weight().map(perf_abi::Weight::full)),
        ("data_src", sample.data_src().map(|source| source.0)),
        ("transaction", sample.transaction().map(|flags| flags.bits())),
        ("phys_addr", sample.phys_addr()),
        ("cgroup", sample.cgroup()),
        ("data_page_size", sample.data_page_size()),
        ("code_page_size", sample.code_page_size()),
        ("ip", sample.ip()),
        ("period", sample.period()),
        ("pid", sample.pid().map(u64::from)),
        ("tid", sample.tid().map(u64::from)),
        ("cpu", sample.cpu().map(u64::from)),
    ];
    for (name, value) in numbers {
        assert_eq!(value, number(name), "{name} of {expected:?}");
    }
}

/// Checks the view of the fields that every sample begins with.
fn head(head: &SampleHead<'_>, expected: &Reference) {
    let number = |name: &str| expected.field(name).and_then(Value::as_u64);
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
        assert_eq!(value, number(name), "{name} of {expected:?}");
    }
}

/// Checks [`Regs::get`] for every possible number.
fn registers(regs: Option<Regs<'_>>, expected: Option<&Value>) {
    for number in 0..=64 {
        let found = regs.and_then(|regs| regs.get(number));
        let value = expected.and_then(|expected| expected.get(&number.to_string())?.as_u64());
        assert_eq!(found, value, "register {number} of {expected:?}");
    }
}

/// Checks [`RawRecord::time`] and [`RawRecord::id`].
fn undecoded(raw: RawRecord<'_>, layout: &SampleLayout, expected: &Reference) {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let anywhere = |name: &str| match raw.kind() {
        RecordType::SAMPLE => number(expected.field(name)),
        _ => number(expected.sample_id(name)),
    };
    let own_time = match raw.kind() {
        RecordType::FORK | RecordType::EXIT | RecordType::THROTTLE | RecordType::UNTHROTTLE => {
            number(expected.field("time"))
        }
        _ => None,
    };
    assert_eq!(raw.time(layout), anywhere("time").or(own_time), "time of {expected:?}");
    assert_eq!(raw.id(layout), anywhere("identifier").or(anywhere("id")), "id of {expected:?}");
}
