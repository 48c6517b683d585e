//! The decoder and the naive one of [`testing::reference`] agree: on what is a record, and on all that is in it.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test's helpers may fail it")]

mod support;

use std::fmt::Write as _;

use perf_abi::Attr;
use perf_decode::testing::{reference, tree};
use perf_decode::{RawRecord, SampleLayout};
use proptest::collection::vec;
use proptest::prelude::*;
use support::arbitrary::damage::{damage, plausible_record};
use support::arbitrary::sample::sample_with_shifted_end;
use support::arbitrary::{attr, cases, valid_record};
use support::shortcuts;

/// Decodes `words` twice and compares. Returns whether they are a record.
fn agreed(words: &[u64], attr: &Attr) -> Result<bool, TestCaseError> {
    let layout = SampleLayout::new(attr);
    let naive = reference::decode(words, attr);
    let fast = RawRecord::from_words(words).and_then(|raw| Ok((raw, tree(raw, &layout)?)));
    match (fast, naive) {
        (Ok((raw, fast)), Ok(naive)) => {
            prop_assert_eq!(&fast, &naive);
            shortcuts::agree(raw, &layout, &fast);
            print(raw, &layout);
            Ok(true)
        }
        (Err(_), Err(_)) => Ok(false),
        (Ok((_, fast)), Err(refusal)) => {
            Err(TestCaseError::fail(format!("only the naive decoder refuses: {refusal}; {fast:?}")))
        }
        (Err(error), Ok(naive)) => {
            Err(TestCaseError::fail(format!("only the fast decoder refuses: {error}; {naive:?}")))
        }
    }
}

/// Whatever a record holds can be printed.
fn print(raw: RawRecord<'_>, layout: &SampleLayout) {
    let record = raw.decode(layout).expect("decoded before");
    let mut text = String::new();
    write!(text, "{record} {record:?}").expect("a string takes everything");
    assert!(!text.is_empty());
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn every_valid_record_is_read_alike((attr, words) in valid_record()) {
        prop_assert!(agreed(&words, &attr)?, "refused");
    }

    #[test]
    fn every_damaged_record_is_judged_alike(
        (attr, mut words) in valid_record(),
        damages in vec(damage(), 1..4),
    ) {
        for damage in damages {
            damage.apply(&mut words);
        }
        agreed(&words, &attr)?;
    }

    #[test]
    fn a_sample_shifted_by_the_kernel_is_refused_unless_nothing_was_behind(
        (attr, words, something_behind) in sample_with_shifted_end(),
    ) {
        prop_assert_ne!(agreed(&words, &attr)?, something_behind);
    }

    #[test]
    fn a_record_read_by_the_attr_of_another_event_is_judged_alike(
        (_, words) in valid_record(),
        attr in attr(),
    ) {
        agreed(&words, &attr)?;
    }

    #[test]
    fn random_words_behind_a_plausible_header_are_judged_alike(words in plausible_record(), attr in attr()) {
        agreed(&words, &attr)?;
    }

    #[test]
    fn random_words_are_judged_alike(words in vec(any::<u64>(), 0..20), attr in attr()) {
        agreed(&words, &attr)?;
    }
}

#[cfg(target_endian = "little")]
mod captures {
    use std::sync::LazyLock;

    use proptest::sample::Index;

    use super::*;
    use support::captured::{Captured, captured};

    static CAPTURED: LazyLock<Vec<Captured>> = LazyLock::new(captured);

    #[test]
    fn every_captured_record_is_read_alike() {
        for Captured { attr, words } in &*CAPTURED {
            assert!(agreed(words, attr).unwrap(), "{words:x?}");
        }
        assert_eq!(CAPTURED.len(), 2710 + 4807);
    }

    proptest! {
        #![proptest_config(cases(8000))]

        #[test]
        fn every_damaged_capture_is_judged_alike(at in any::<Index>(), damages in vec(damage(), 1..4)) {
            let Captured { attr, mut words } = at.get(&CAPTURED).clone();
            for damage in damages {
            damage.apply(&mut words);
        }
            agreed(&words, &attr)?;
        }
    }
}
