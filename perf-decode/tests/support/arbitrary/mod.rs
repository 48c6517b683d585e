//! Generators of attrs, of records that a kernel could have written, and of malformed ones.

pub(crate) mod damage;
pub(crate) mod framing;
mod other;
pub(crate) mod sample;

use perf_abi::{Attr, AttrFlags, BranchSampleType, ReadFormat, SampleType, Software};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use other::record_of_another_kind;
use sample::sample;

/// `cases` of each property, or as many as `PROPTEST_CASES` says.
pub(crate) fn cases(cases: u32) -> Config {
    let given = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() { given } else { Config { cases, ..given } }
}

/// An event with any combination of the fields that its layout depends on, rarely with bits that
/// are unknown. A kernel may refuse to open it.
pub(crate) fn attr() -> impl Strategy<Value = Attr> {
    (
        sample_type(),
        perhaps_unknown(ReadFormat::KNOWN.bits()).prop_map(ReadFormat::from_bits_retain),
        perhaps_unknown(BranchSampleType::KNOWN.bits()).prop_map(BranchSampleType::from_bits_retain),
        [register_mask(), register_mask()],
        [any::<bool>(); 2],
    )
        .prop_map(|(sample_type, read_format, branches, [user, intr], [trailers, build_ids])| {
            let mut attr = Attr::software(Software::DUMMY);
            attr.sample_type = sample_type;
            attr.read_format = read_format;
            attr.branch_sample_type = branches;
            attr.sample_regs_user = user;
            attr.sample_regs_intr = intr;
            attr.flags.set(AttrFlags::SAMPLE_ID_ALL, trailers);
            attr.flags.set(AttrFlags::BUILD_ID, build_ids);
            attr
        })
}

/// Generates the attrs of [`attr`] without unknown bits.
pub(crate) fn known_attr() -> impl Strategy<Value = Attr> {
    attr().prop_map(|mut attr| {
        attr.sample_type = attr.sample_type.intersection(SampleType::KNOWN);
        attr.read_format = attr.read_format.intersection(ReadFormat::KNOWN);
        attr.branch_sample_type = attr.branch_sample_type.intersection(BranchSampleType::KNOWN);
        attr
    })
}

/// Any of the known bits.
fn known(bits: u64) -> impl Strategy<Value = u64> + Clone {
    any::<u64>().prop_map(move |some| some & bits)
}

/// Any of the known bits, rarely with an unknown one.
fn perhaps_unknown(bits: u64) -> impl Strategy<Value = u64> {
    let unknown = (0..64_u32).prop_map(move |bit| (1 << bit) & !bits);
    (known(bits), prop_oneof![40 => Just(0), 1 => unknown]).prop_map(|(some, unknown)| some | unknown)
}

/// Any of the known fields: many or few, rarely with an unknown bit.
fn sample_type() -> impl Strategy<Value = SampleType> {
    let known = || known(SampleType::KNOWN.bits());
    prop_oneof![
        known(),
        (known(), known()).prop_map(|(some, others)| some & others),
        (known(), known(), known()).prop_map(|(a, b, c)| a & b & c),
        perhaps_unknown(SampleType::KNOWN.bits()),
    ]
    .prop_map(SampleType::from_bits_retain)
}

fn register_mask() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(a, b, c)| a & b & c)
    ]
}

/// A record that decodes, and the attr of its event.
pub(crate) fn valid_record() -> impl Strategy<Value = (Attr, Vec<u64>)> {
    known_attr().prop_flat_map(|attr| (Just(attr), valid_record_of(attr)))
}

/// A record that decodes by this attr.
pub(crate) fn valid_record_of(attr: Attr) -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![sample(attr), record_of_another_kind(attr)]
}

/// Words after the last field, mostly none.
fn trailing() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![4 => Just(Vec::new()), 1 => words()]
}

/// Up to a few words.
fn words() -> impl Strategy<Value = Vec<u64>> {
    vec(any::<u64>(), 0..6)
}

/// Some bytes, up to `most`.
fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=most)
}

/// A string without its NUL.
fn text() -> impl Strategy<Value = Vec<u8>> {
    vec(1..=255_u8, 0..24)
}
