//! Rules of the header and of the trailer, and the helpers of all tests here.

mod bodies;
mod branches;
mod sample;

use super::*;
use crate::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use perf_abi::{AttrFlags, BranchSampleType, EventType, Misc, ReadFormat, SampleType};
use std::vec;

const IDS: SampleIdValues =
    SampleIdValues { pid: 1, tid: 2, time: 3, id: 4, stream_id: 5, cpu: 6, identifier: 7 };

fn attr(sample_type: SampleType) -> Attr {
    Attr::new(EventType::SOFTWARE, 0).with_sample_type(sample_type)
}

/// Returns an event with all six words of a trailer.
fn with_trailer() -> Attr {
    attr(SampleType::KNOWN).with_flags(AttrFlags::SAMPLE_ID_ALL)
}

fn start(kind: RecordType) -> RecordBuilder {
    RecordBuilder::new(kind, Misc::empty())
}

fn refused(words: &[u64], attr: &Attr) -> &'static str {
    decode(words, attr).expect_err("must be refused").field
}

#[test]
fn header_size_must_be_the_length_of_the_slice() {
    let plain = attr(SampleType::empty());
    let mut record = start(RecordType::SWITCH).finish();
    assert!(decode(&record, &plain).is_ok());
    record.push(0);
    assert_eq!(refused(&record, &plain), "size");
    assert_eq!(refused(&[], &plain), "type");
    assert_eq!(refused(&[0], &plain), "size");
}

#[test]
fn trailer_has_another_order_than_a_sample() {
    let record = start(RecordType::LOST_SAMPLES).u64(9).with_trailer(&with_trailer(), &IDS).finish();
    let tree = decode(&record, &with_trailer()).unwrap();
    let names: Vec<_> = tree.trailer.iter().map(|(name, _)| *name).collect();
    let values: Vec<_> = tree.trailer.iter().filter_map(|(_, value)| value.as_u64()).collect();
    assert_eq!(names, ["pid", "tid", "time", "id", "stream_id", "cpu", "identifier"]);
    assert_eq!(values, [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(tree.field("lost"), Some(&Value::U64(9)));
}

#[test]
fn trailer_needs_sample_id_all() {
    let without = attr(SampleType::KNOWN);
    let record = start(RecordType::LOST_SAMPLES).u64(9).with_trailer(&without, &IDS).finish();
    assert_eq!(record.len(), 2);
    assert_eq!(decode(&record, &without).unwrap().trailer, []);
}

#[test]
fn record_shorter_than_its_trailer_is_refused() {
    let record = start(RecordType::SWITCH).words(&[0; 5]).finish();
    assert_eq!(refused(&record, &with_trailer()), "trailer");
}

#[test]
fn sample_has_no_trailer() {
    let attr = attr(SampleType::TIME).with_flags(AttrFlags::SAMPLE_ID_ALL);
    let tree = decode(&SampleBuilder::new(&attr).time(3).finish(), &attr).unwrap();
    assert_eq!((tree.fields.len(), tree.trailer.len()), (1, 0));
}

#[test]
fn body_with_fields_of_a_newer_kernel_is_longer() {
    let record = start(RecordType::LOST_SAMPLES).words(&[9, 77]).with_trailer(&with_trailer(), &IDS).finish();
    let tree = decode(&record, &with_trailer()).unwrap();
    assert_eq!(tree.field("lost"), Some(&Value::U64(9)));
    assert_eq!((tree.sample_id("identifier"), tree.trailing), (Some(&Value::U64(7)), 8));
}

#[test]
fn body_shorter_than_its_fields_is_refused() {
    let record = start(RecordType::LOST).u64(9).with_trailer(&with_trailer(), &IDS).finish();
    assert_eq!(refused(&record, &with_trailer()), "lost");
}

#[test]
fn unknown_kinds_keep_their_bytes_and_have_no_trailer() {
    for kind in [0, RecordType::LAST.0 + 1, 63, 64, 83, u32::MAX] {
        let record = RecordBuilder::new(RecordType(kind), Misc::from_bits_retain(0x8001)).u64(0).finish();
        let tree = decode(&record, &with_trailer()).unwrap();
        assert_eq!((tree.kind, tree.misc, tree.size), (kind, 0x8001, 16));
        assert_eq!(tree.fields, [("raw", Value::Bytes(vec![0; 8]))]);
        assert_eq!(tree.trailer, []);
    }
}

#[test]
fn overlong_record_has_its_trailer_after_the_body() {
    let attr = with_trailer();
    let trailing = [u64::MAX; 6];
    for record in [
        start(RecordType::KSYMBOL).u64(1).u32s(&[2]).u16s(&[1, 0]).string(b"bpf_prog"),
        start(RecordType::BPF_EVENT).u16s(&[1, 0]).u32s(&[3]).bytes(&[9; 8]),
        start(RecordType::TEXT_POKE).u64(1).u16s(&[5, 2]).bytes_padded(&[0xcc; 7]),
    ] {
        let record = record.with_trailer(&attr, &IDS);
        let exact = decode(&record.clone().finish(), &attr).unwrap();
        let long = decode(&record.words(&trailing).finish(), &attr).unwrap();
        assert_eq!(exact.trailer.len(), 7);
        assert_eq!((&exact.fields, &exact.trailer), (&long.fields, &long.trailer));
        assert_eq!(exact.sample_id("identifier"), Some(&Value::U64(7)));
        assert_eq!((exact.trailing, long.trailing), (0, 48));
    }
}

#[test]
fn random_words_do_not_panic() {
    let mut state = 1_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..20_000_u64 {
        let length = 1 + round % 40;
        // Small numbers are counts and lengths that nearly fit.
        let mut words: Vec<u64> = (0..length).map(|_| random() >> (random() % 64)).collect();
        let header = RecordBuilder::new(RecordType((random() % 24) as u32), Misc::empty());
        words = header.words(&words).finish();
        let mut attr = attr(SampleType::from_bits_retain(random() & random() & SampleType::KNOWN.bits()));
        attr.read_format = ReadFormat::from_bits_retain(random() % 32);
        attr.branch_sample_type = BranchSampleType::from_bits_retain(random());
        attr.flags = AttrFlags::from_bits_retain(random());
        attr.sample_regs_user = random() & 0xff;
        let _ = decode(&words, &attr);
    }
}
