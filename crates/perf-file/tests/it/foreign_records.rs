//! Records of the other byte order, swapped and decoded.

#[path = "../../../../perf-decode/tests/support/arbitrary/mod.rs"]
#[allow(dead_code, reason = "each test crate uses a part")]
mod arbitrary;

use std::collections::BTreeSet;

use perf_abi::{Attr, RecordType};
use perf_decode::testing::{reference, to_reference};
use perf_decode::{RawRecord, SampleLayout};
use perf_file::swap;
use proptest::test_runner::TestRunner;

/// Compares a record with the result of swapping it twice, by the naive decoder and by [`swap`].
fn compare(native: &[u64], attr: &Attr) {
    let expected = reference::decode(native, attr).unwrap();
    let mut found = reference::foreign(native, attr).unwrap();
    assert_ne!(found, native);
    swap::numbers(&mut found);
    swap::Fields::new(attr).swap(&mut found);
    let layout = SampleLayout::new(attr);
    assert_eq!(to_reference(RawRecord::from_words(&found).unwrap(), &layout), Ok(expected.clone()));
    // Bytes outside of all fields keep the order of the file.
    if expected.trailing == 0 && !expected.is_truncated {
        assert_eq!(found, native);
    }
}

#[test]
fn sample_with_a_truncated_field_of_the_other_byte_order_has_the_same_fields() {
    let mut runner = TestRunner::new(arbitrary::cases(1024));
    let result = runner.run(&arbitrary::sample::sample_with_shifted_end(), |sample| {
        compare(&sample.words, &sample.attr);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn records_of_the_other_byte_order_have_the_same_fields() {
    let kinds = std::cell::RefCell::new(BTreeSet::new());
    let mut runner = TestRunner::new(arbitrary::cases(4096));
    let result = runner.run(&arbitrary::valid_record(), |(attr, native)| {
        kinds.borrow_mut().insert(RawRecord::from_words(&native).unwrap().kind().0);
        compare(&native, &attr);
        Ok(())
    });
    result.unwrap();
    for kind in RecordType::ALL {
        assert!(kinds.borrow().contains(&kind.0), "no record of kind {kind}");
    }
}
