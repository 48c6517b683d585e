use super::*;
use crate::field_order::row;
use perf_abi::Software;

fn layout(wanted: SampleType) -> SampleLayout {
    SampleLayout::new(&Attr::software(Software::DUMMY).with_sample_type(wanted))
}

#[test]
fn identifier_is_first_and_period_last() {
    let layout = layout(SampleType::IDENTIFIER | SampleType::IP | SampleType::CPU | SampleType::PERIOD);
    let index = |bit| layout.head[row(&HEAD, bit)];
    let fields = [SampleType::IDENTIFIER, SampleType::IP, SampleType::CPU, SampleType::PERIOD];
    assert_eq!(fields.map(index), [1, 2, 3, 4].map(WordIndex::new));
    assert!(index(SampleType::TIME).is_absent());
}

#[test]
fn both_weights_share_one_word() {
    assert_eq!(layout(SampleType::WEIGHT_STRUCT | SampleType::DATA_SRC).mem_words, 2);
    assert_eq!(layout(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT).mem_words, 1);
}

#[test]
fn trailer_needs_sample_id_all() {
    let layout = layout(SampleType::TID | SampleType::IDENTIFIER);
    assert_eq!((layout.trailer_words, layout.trailer), (0, [0; 6]));
}

#[test]
fn trailer_fields_are_counted_from_the_end() {
    let wanted = SampleType::TID | SampleType::CPU | SampleType::IDENTIFIER;
    let attr = Attr::software(Software::DUMMY).with_sample_type(wanted);
    let layout = SampleLayout::new(&attr.with_flags(AttrFlags::SAMPLE_ID_ALL));
    assert_eq!((layout.trailer_words, layout.trailer), (3, [3, 0, 0, 0, 2, 1]));
}

#[test]
fn unknown_bits_are_named_by_field() {
    let unknown = |attr: Attr| SampleLayout::new(&attr).unknown();
    let attr = Attr::software(Software::DUMMY).with_sample_type(SampleType::IP);
    assert_eq!(unknown(attr), None);
    let newer = SampleType::from_bits_retain(1 << 40);
    assert_eq!(
        unknown(attr.with_sample_type(newer | SampleType::IP)),
        Some(Error::UnknownBits { field: "sample_type", bits: 1 << 40 })
    );
    assert_eq!(
        unknown(attr.with_read_format(ReadFormat::from_bits_retain(1 << 20 | 1))),
        Some(Error::UnknownBits { field: "read_format", bits: 1 << 20 })
    );
    let mut branches = attr.with_sample_type(SampleType::BRANCH_STACK);
    branches.branch_sample_type = BranchSampleType::from_bits_retain(1 << 50 | 1);
    assert_eq!(unknown(branches), Some(Error::UnknownBits { field: "branch_sample_type", bits: 1 << 50 }));
}
