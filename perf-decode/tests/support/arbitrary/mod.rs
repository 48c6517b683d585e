//! Generators of attrs, of records that a kernel could have written, and of records that none would.

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

/// An event with any combination of what shapes its records. It may be one that no kernel would open.
pub(crate) fn attr() -> impl Strategy<Value = Attr> {
    (
        sample_type(),
        (0..32_u64).prop_map(ReadFormat::from_bits_retain),
        (0..1_u64 << 20).prop_map(BranchSampleType::from_bits_retain),
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

/// As [`attr`], without fields that are too new.
pub(crate) fn known_attr() -> impl Strategy<Value = Attr> {
    attr().prop_map(|mut attr| {
        attr.sample_type = SampleType::from_bits_retain(attr.sample_type.bits() & ((1 << 25) - 1));
        attr
    })
}

/// Any of the fields that the header knows: many, few, or one bit that is too new.
fn sample_type() -> impl Strategy<Value = SampleType> {
    let known = 0..1_u64 << 25;
    prop_oneof![
        20 => known.clone(),
        20 => (known.clone(), known.clone()).prop_map(|(some, others)| some & others),
        20 => (known.clone(), known.clone(), known.clone()).prop_map(|(a, b, c)| a & b & c),
        1 => (known, 25..64_u32).prop_map(|(some, new)| some | 1 << new),
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

/// A few words.
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
