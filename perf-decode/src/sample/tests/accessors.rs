//! An accessor for every fixed field. `fields` does not call them: it reads the tables.

use super::*;
use crate::field_order::{ADDR, FixedField, Form, HEAD, MEM};

/// Returns the number in a fixed field by its accessor.
fn number(sample: &Sample<'_>, field: &FixedField) -> Option<u64> {
    match field.name {
        "identifier" => sample.identifier(),
        "ip" => sample.ip(),
        "tid" => sample.tid().map(u64::from),
        "time" => sample.time(),
        "addr" => sample.addr(),
        "id" => sample.id(),
        "stream_id" => sample.stream_id(),
        "cpu" => sample.cpu().map(u64::from),
        "period" => sample.period(),
        "weight" => sample.weight().map(|weight| weight.0),
        "data_src" => sample.data_src().map(|source| source.0),
        "transaction" => sample.transaction().map(|flags| flags.bits()),
        "phys_addr" => sample.phys_addr(),
        "cgroup" => sample.cgroup(),
        "data_page_size" => sample.data_page_size(),
        "code_page_size" => sample.code_page_size(),
        name => panic!("{name} has a row in `field_order` and no accessor here"),
    }
}

/// Returns a word whose field holds `number`.
fn word(field: &FixedField, number: u64) -> u64 {
    match field.form {
        Form::Task => zerocopy::transmute!([0, number as u32]),
        Form::Cpu => zerocopy::transmute!([number as u32, 0]),
        _ => number,
    }
}

#[test]
fn every_fixed_field_has_an_accessor() {
    let fields = || HEAD.iter().chain(&MEM).chain(&ADDR).zip(101..);
    let all = fields().fold(SampleType::empty(), |all, (field, _)| all | field.bit);
    let absent = fields().map(|(field, _)| field.bit).chain([SampleType::empty()]);
    for absent in absent {
        let attr = event(all.difference(absent));
        let recorded = fields().filter(|(field, _)| field.bit != absent);
        let words: Vec<_> = recorded.map(|(field, value)| word(field, value)).collect();
        let record = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&words).finish();
        let checked = with_sample(&record, &attr, |sample| {
            for (field, value) in fields() {
                let expected = (field.bit != absent).then_some(value);
                assert_eq!(number(&sample, field), expected, "{} without {absent}", field.name);
            }
        });
        assert_eq!(checked, Ok(()));
    }
}
