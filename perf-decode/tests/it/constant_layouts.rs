//! A constant layout decodes to the same record as the same layout at run time.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test's helpers may fail it")]

use crate::support::arbitrary::damage::damage;
use crate::support::arbitrary::sample::sample_with_shifted_end_of;
use crate::support::arbitrary::{cases, valid_record_of};
use perf_abi::{Attr, AttrFlags, BranchSampleType, ReadFormat, SampleType, Software};
use perf_decode::{ConstantLayout, Layout, RawRecord, Record, SampleLayout};
use proptest::collection::vec;
use proptest::prelude::*;

const EVENT: Attr = Attr::software(Software::CPU_CLOCK);

/// Fixed words only.
const HEAD: Attr = EVENT
    .with_flags(AttrFlags::SAMPLE_ID_ALL)
    .with_sample_type(SampleType::IP.union(SampleType::TID).union(SampleType::TIME).union(SampleType::CPU));

/// The parts that most events with variable parts have.
const COMMON: Attr = EVENT
    .with_flags(AttrFlags::SAMPLE_ID_ALL.union(AttrFlags::BUILD_ID))
    .with_sample_type(
        SampleType::IDENTIFIER
            .union(SampleType::TIME)
            .union(SampleType::READ)
            .union(SampleType::CALLCHAIN)
            .union(SampleType::RAW),
    )
    .with_read_format(ReadFormat::GROUP.union(ReadFormat::ID).union(ReadFormat::TOTAL_TIME_ENABLED));

/// All fields.
const ALL: Attr = EVENT
    .with_flags(AttrFlags::SAMPLE_ID_ALL)
    .with_sample_type(SampleType::KNOWN)
    .with_read_format(ReadFormat::LOST)
    .with_branch_sample_type(BranchSampleType::HW_INDEX.union(BranchSampleType::COUNTERS))
    .with_regs_user(0b1011)
    .with_regs_intr(1 << 63 | 1);

/// Stack and registers, no trailers.
const STACK: Attr = EVENT
    .with_sample_type(SampleType::REGS_USER.union(SampleType::STACK_USER).union(SampleType::WEIGHT))
    .with_regs_user(0xff);

/// A field that is unknown.
const UNKNOWN: Attr =
    EVENT.with_flags(AttrFlags::SAMPLE_ID_ALL).with_sample_type(SampleType::from_bits_retain(1 << 40 | 1));

macro_rules! constant_layouts {
    ($($Name:ident = $attr:expr;)*) => {
        $(
            #[derive(Clone, Copy, Debug)]
            struct $Name;

            impl ConstantLayout for $Name {
                const LAYOUT: SampleLayout = SampleLayout::new(&$attr);
            }
        )*

        /// Decodes `words` by each constant layout and by the same at run time, and compares.
        fn agree(words: &[u64]) -> Result<(), TestCaseError> {
            $(agree_on(words, $Name, &SampleLayout::new(&$attr))?;)*
            Ok(())
        }
    };
}

constant_layouts! {
    Head = HEAD;
    Common = COMMON;
    All = ALL;
    Stack = STACK;
    Unknown = UNKNOWN;
}

fn agree_on<L: Layout>(words: &[u64], constant: L, layout: &SampleLayout) -> Result<(), TestCaseError> {
    prop_assert_eq!(size_of::<L>(), 0);
    let Ok(raw) = RawRecord::from_words(words) else { return Ok(()) };
    prop_assert_eq!((raw.time(constant), raw.id(constant)), (raw.time(layout), raw.id(layout)));
    let [head, expected] = [raw.sample_head(constant).map(drop), raw.sample_head(layout).map(drop)];
    prop_assert_eq!(head, expected);
    match (raw.decode(constant), raw.decode(layout)) {
        (Ok(found), Ok(expected)) => {
            prop_assert_eq!(described(&found), described(&expected));
            prop_assert_eq!(found.to_string(), expected.to_string());
        }
        (found, expected) => prop_assert_eq!(found.map(drop), expected.map(drop)),
    }
    Ok(())
}

/// Returns all that a record holds, as text.
fn described<L: Layout>(record: &Record<'_, L>) -> String {
    let trailer = record.sample_id().map(|trailer| (trailer.is_empty(), format!("{trailer:?}")));
    let fields: Vec<_> = record.fields().collect();
    let rest = (record.trailing_len(), record.truncated_field());
    format!("{:?} {:?} {fields:?} {trailer:?} {rest:?}", record.header(), record.time())
}

fn attr() -> impl Strategy<Value = Attr> {
    prop::sample::select(&[HEAD, COMMON, ALL, STACK][..])
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn constant_layouts_decode_valid_records_as_at_run_time(words in attr().prop_flat_map(valid_record_of)) {
        agree(&words)?;
    }

    #[test]
    fn constant_layouts_decode_the_extra_word_after_an_empty_stack_as_at_run_time(
        sample in prop::sample::select(&[ALL, STACK][..]).prop_flat_map(sample_with_shifted_end_of),
    ) {
        agree(&sample.words)?;
    }

    #[test]
    fn constant_layouts_decode_damaged_records_as_at_run_time(
        mut words in attr().prop_flat_map(valid_record_of),
        damages in vec(damage(), 1..4),
    ) {
        for damage in damages {
            damage.apply(&mut words);
        }
        agree(&words)?;
    }
}

#[test]
fn view_of_a_constant_layout_is_a_pointer_smaller() {
    let pointer = size_of::<&SampleLayout>();
    assert_eq!(size_of::<perf_decode::Sample<'_, Head>>() + pointer, size_of::<perf_decode::Sample<'_>>());
    assert_eq!(size_of::<perf_decode::Comm<'_, Head>>() + pointer, size_of::<perf_decode::Comm<'_>>());
}
