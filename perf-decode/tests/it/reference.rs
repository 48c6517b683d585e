//! The decoder and the naive one of [`testing::reference`] accept the same records and return the
//! same fields.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test's helpers may fail it")]

use std::fmt::Write as _;

use crate::support::arbitrary::damage::{damage, plausible_record};
use crate::support::arbitrary::sample::{ShiftedEnd, sample, sample_with_shifted_end};
use crate::support::arbitrary::{attr, cases, valid_record};
use crate::support::shortcuts;
use perf_abi::{Attr, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
use perf_decode::testing::reference::Reference;
use perf_decode::testing::{reference, to_reference};
use perf_decode::{Error, RawRecord, Sample, SampleLayout};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Decodes `words` by both decoders and compares. Returns whether they are a record.
fn agreed(words: &[u64], attr: &Attr) -> Result<bool, TestCaseError> {
    let layout = SampleLayout::new(attr);
    let naive = reference::decode(words, attr);
    let fast = RawRecord::from_words(words).and_then(|raw| Ok((raw, to_reference(raw, &layout)?)));
    match (fast, naive) {
        (Ok((raw, fast)), Ok(naive)) => {
            prop_assert_eq!(&fast, &naive);
            shortcuts::agree(raw, &layout, &fast);
            print(raw, &layout);
            Ok(true)
        }
        (Err(error), Err(_)) => {
            refused(words, &layout, error);
            Ok(false)
        }
        (Ok((_, fast)), Err(error)) => {
            Err(TestCaseError::fail(format!("only the naive decoder refuses: {error}; {fast:?}")))
        }
        (Err(error), Ok(naive)) => {
            Err(TestCaseError::fail(format!("only the fast decoder refuses: {error}; {naive:?}")))
        }
    }
}

/// Checks the values that are read without decoding, of a record that cannot be decoded.
fn refused(words: &[u64], layout: &SampleLayout, error: Error) {
    let Ok(raw) = RawRecord::from_words(words) else { return };
    assert_eq!(raw.decode(layout).err(), Some(error));
    assert_eq!(raw.sample_id(layout).err(), Some(error));
    assert!(!raw.display(layout).to_string().is_empty());
    let unread = match error {
        // A sample's head can be whole although a later field is truncated.
        Error::Truncated { .. } => raw.kind() != RecordType::SAMPLE || raw.sample_head(layout).is_err(),
        Error::UnknownBits { .. } => true,
        _ => false,
    };
    if unread {
        assert_eq!((raw.time(layout), raw.id(layout)), (None, None), "{error}");
    }
}

/// Checks that a record can be printed.
fn print(raw: RawRecord<'_>, layout: &SampleLayout) {
    let record = raw.decode(layout).expect("decoded before");
    let mut text = String::new();
    write!(text, "{record} {record:?}").expect("a string takes everything");
    assert!(!text.is_empty());
}

/// Returns the attrs of all masks of up to `left` sample fields from a bit on.
fn masks(from: u32, left: u32, mask: u64, found: &mut Vec<u64>) {
    found.push(mask);
    for bit in (from..u64::BITS).filter(|_| left > 0) {
        if SampleType::KNOWN.bits() & 1 << bit != 0 {
            masks(bit + 1, left - 1, mask | 1 << bit, found);
        }
    }
}

#[test]
fn decoders_agree_on_all_masks_of_up_to_three_sample_fields() {
    let mut found = Vec::new();
    masks(0, 3, 0, &mut found);
    let bits = u64::from(SampleType::KNOWN.bits().count_ones());
    let expected = 1 + bits + bits * (bits - 1) / 2 + bits * (bits - 1) * (bits - 2) / 6;
    assert_eq!(found.len() as u64, expected);
    let mut records = 0;
    for mask in found {
        let mut attr =
            Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::from_bits_retain(mask));
        (attr.sample_regs_user, attr.sample_regs_intr) = (0b1, 0b101);
        // Small numbers are counts, sizes and ABIs that a short record can hold.
        for content in [[0; 7], [1; 7], [1, 8, 0, 2, 0, 1, 16]] {
            for len in 0..=content.len() {
                let content = content.get(..len).unwrap();
                let words = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(content).finish();
                match agreed(&words, &attr) {
                    Ok(is_record) => records += u64::from(is_record),
                    Err(error) => panic!("{mask:#x} {content:?}: {error}"),
                }
            }
        }
    }
    assert!(records > expected, "{records} records of {expected} masks");
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn decoders_agree_on_valid_records((attr, words) in valid_record()) {
        prop_assert!(agreed(&words, &attr)?, "refused");
    }

    #[test]
    fn decoders_agree_on_damaged_records(
        (attr, mut words) in valid_record(),
        damages in vec(damage(), 1..4),
    ) {
        for damage in damages {
            damage.apply(&mut words);
        }
        agreed(&words, &attr)?;
    }

    #[test]
    fn extra_word_after_an_empty_stack_costs_the_last_field_alone(sample in sample_with_shifted_end()) {
        let ShiftedEnd { attr, words, whole, is_truncated } = sample;
        prop_assert!(agreed(&words, &attr)?, "refused");
        let layout = SampleLayout::new(&attr);
        let decoded = |words| to_reference(RawRecord::from_words(words).unwrap(), &layout).unwrap();
        let (found, whole) = (decoded(&words), decoded(&whole));
        prop_assert_eq!((found.is_truncated, found.trailing), (is_truncated, 0));
        let later = |record: &Reference| {
            let stack = record.fields.iter().position(|(name, _)| *name == "stack_size").unwrap();
            let after = record.fields.get(stack + 1..).unwrap().iter().cloned();
            let after: Vec<_> = after.filter(|(name, _)| !name.starts_with("stack")).collect();
            (record.fields.get(..stack).unwrap().to_vec(), after)
        };
        let ((before, after), (all_before, mut all_after)) = (later(&found), later(&whole));
        prop_assert_eq!(before, all_before);
        if is_truncated {
            // The registers are two fields.
            let last = all_after.pop().unwrap().0;
            all_after.retain(|(name, _)| last != "intr_regs" || *name != "intr_abi");
        }
        prop_assert_eq!(after, all_after);
    }

    #[test]
    fn damage_after_an_empty_stack_is_judged_alike(
        sample in sample_with_shifted_end(),
        damages in vec(damage(), 1..4),
    ) {
        let ShiftedEnd { attr, mut words, .. } = sample;
        for damage in damages {
            damage.apply(&mut words);
        }
        agreed(&words, &attr)?;
    }

    #[test]
    fn decoders_agree_on_the_attr_of_another_event(
        (_, words) in valid_record(),
        attr in attr(),
    ) {
        agreed(&words, &attr)?;
    }

    #[test]
    fn decoders_agree_on_random_words_after_a_plausible_header(words in plausible_record(), attr in attr()) {
        agreed(&words, &attr)?;
    }

    #[test]
    fn decoders_agree_on_random_words(words in vec(any::<u64>(), 0..20), attr in attr()) {
        agreed(&words, &attr)?;
    }
}

#[test]
fn generator_writes_every_kind() {
    let mut runner = TestRunner::deterministic();
    let mut missing: Vec<_> = (1..=RecordType::LAST.0).map(RecordType).collect();
    // The rarest kind takes some hundreds.
    for _ in 0..5000 {
        if missing.is_empty() {
            break;
        }
        let (_, words) = valid_record().new_tree(&mut runner).unwrap().current();
        let kind = RawRecord::from_words(&words).unwrap().kind();
        missing.retain(|one| *one != kind);
    }
    assert_eq!(missing, [], "kinds that `crate::support::arbitrary` does not write");
}

#[test]
fn generator_sets_every_sample_field() {
    let attr = Attr::software(Software::DUMMY)
        .with_sample_type(SampleType::KNOWN.difference(SampleType::WEIGHT_STRUCT))
        .with_regs_user(0b11)
        .with_regs_intr(0b11);
    let layout = SampleLayout::new(&attr);
    let printed = |words: &[u64]| -> Vec<String> {
        let sample = RawRecord::from_words(words).and_then(|raw| Sample::parse(raw, &layout));
        sample.expect("a valid sample").fields().map(|field| field.to_string()).collect()
    };
    let mut unset = printed(&SampleBuilder::new(&attr).finish());
    let mut runner = TestRunner::deterministic();
    for _ in 0..64 {
        let generated = printed(&sample(attr).new_tree(&mut runner).unwrap().current());
        unset.retain(|field| generated.contains(field));
    }
    assert!(unset.is_empty(), "`crate::support::arbitrary::sample` does not set: {}", unset.join(", "));
}

#[cfg(target_endian = "little")]
mod captures {
    use std::sync::LazyLock;

    use proptest::sample::Index;

    use super::*;
    use crate::support::captured::{Captured, captured};

    static CAPTURED: LazyLock<Vec<Captured>> = LazyLock::new(captured);

    #[test]
    fn decoders_agree_on_captured_records() {
        for Captured { attr, words } in &*CAPTURED {
            assert!(agreed(words, attr).unwrap(), "{words:x?}");
        }
        assert_eq!(CAPTURED.len(), 2710 + 4633);
    }

    proptest! {
        #![proptest_config(cases(8000))]

        #[test]
        fn decoders_agree_on_damaged_captures(at in any::<Index>(), damages in vec(damage(), 1..4)) {
            let Captured { attr, mut words } = at.get(&CAPTURED).clone();
            for damage in damages {
            damage.apply(&mut words);
        }
            agreed(&words, &attr)?;
        }
    }
}
