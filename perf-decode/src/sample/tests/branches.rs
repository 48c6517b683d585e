//! Branch stacks, whose optional words follow from the record's length.

use super::*;

const BRANCH: [u64; 3] = [0x10, 0x20, 1];

fn branch_event(kind: BranchSampleType) -> Attr {
    // Not by the setter, which takes an empty set as no branch stack.
    event(SampleType::BRANCH_STACK | SampleType::DATA_SRC).with(|attr| attr.branch_sample_type = kind)
}

#[test]
fn hardware_index_may_be_absent_from_an_empty_stack() {
    let attr = branch_event(BranchSampleType::HW_INDEX);
    for hw_index in [None, Some(77)] {
        let words = SampleBuilder::new(&attr).branches(&[], hw_index, &[]).data_src(3).finish();
        let read = with_sample(&words, &attr, |s| {
            let branches = s.branches().unwrap();
            (branches.hw_index(), branches.entries().len(), s.data_src().unwrap().0)
        });
        assert_eq!(read, Ok((hw_index, 0, 3)));
    }
}

#[test]
fn counters_may_come_from_another_event_of_the_group() {
    for asked in [BranchSampleType::empty(), BranchSampleType::COUNTERS] {
        let attr = branch_event(asked);
        for counters in [&[][..], &[8, 9]] {
            let words =
                SampleBuilder::new(&attr).branches(&[BRANCH, BRANCH], None, counters).data_src(3).finish();
            let read = with_sample(&words, &attr, |s| {
                let branches = s.branches().unwrap();
                (
                    branches.entries().get(1).unwrap().from,
                    branches.counters().to_vec(),
                    s.data_src().unwrap().0,
                )
            });
            assert_eq!(read, Ok((0x10, counters.to_vec(), 3)), "{asked:?}");
        }
    }
}

#[test]
fn branch_count_is_checked_before_it_is_multiplied() {
    let attr = branch_event(BranchSampleType::HW_INDEX);
    let mut words = SampleBuilder::new(&attr).branches(&[BRANCH], Some(1), &[]).finish();
    words[1] = u64::MAX / 3;
    assert!(matches!(fields(&words, &attr), Err(Error::Truncated { field: "branch_stack", .. })));
}

/// Returns the names of the optional parts that were read.
fn parts(words: &[u64], attr: &Attr) -> (Option<u64>, usize, usize, bool) {
    let read = with_sample(words, attr, |sample| {
        let branches = sample.branches().unwrap();
        let counters = branches.counters().len();
        (branches.hw_index(), counters, sample.trailing().len(), sample.has_ambiguous_branches())
    });
    read.unwrap()
}

#[test]
fn exact_reading_precedes_that_of_the_attr() {
    // The sample is exact without the counters that the attr asks for, and too short with them.
    let attr = event(SampleType::BRANCH_STACK).with_branch_sample_type(BranchSampleType::COUNTERS);
    let words = SampleBuilder::new(&attr).branches(&[BRANCH], None, &[]).finish();
    assert_eq!(parts(&words, &attr), (None, 0, 0, false));
    // One word trails in the attr's reading, no word with counters.
    let attr = event(SampleType::BRANCH_STACK);
    let words = SampleBuilder::new(&attr).branches(&[BRANCH], None, &[9]).finish();
    assert_eq!(parts(&words, &attr), (None, 1, 0, false));
}

#[test]
fn attr_decides_if_no_reading_is_exact() {
    let branches = BranchSampleType::HW_INDEX;
    let attr = event(SampleType::BRANCH_STACK).with_branch_sample_type(branches);
    let words = SampleBuilder::new(&attr).branches(&[], Some(77), &[]).finish();
    assert_eq!(parts(&grow(words.clone(), 0), &attr), (Some(77), 0, 8, false));
    assert_eq!(parts(&grow(grow(words, 0), 0), &attr), (Some(77), 0, 16, false));
    let attr = event(SampleType::BRANCH_STACK);
    let words = SampleBuilder::new(&attr).branches(&[BRANCH], None, &[9]).finish();
    assert_eq!(parts(&grow(words, 0), &attr), (None, 0, 16, false));
}

#[test]
fn other_reading_is_taken_with_trailing_bytes_if_that_of_the_attr_does_not_fit() {
    // nr, hw_idx or the size of AUX, and so on: with the index the AUX size is not a multiple of 8.
    let wanted = SampleType::BRANCH_STACK | SampleType::AUX;
    let attr = event(wanted).with_branch_sample_type(BranchSampleType::HW_INDEX);
    let words = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&[0, 0, 3, 4]).finish();
    let read =
        with_sample(&words, &attr, |sample| (sample.branches().unwrap().hw_index(), sample.trailing().len()));
    assert_eq!(read, Ok((None, 16)));
}

#[test]
fn two_exact_readings_are_ambiguous() {
    // The reading with the index has no branches, index 8 and an AUX area of 0 bytes. The one
    // without it has an AUX area of 8 bytes.
    let wanted = SampleType::BRANCH_STACK | SampleType::AUX;
    let attr = event(wanted).with_branch_sample_type(BranchSampleType::HW_INDEX);
    let words = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&[0, 8, 0]).finish();
    let read = with_sample(&words, &attr, |sample| {
        let line = sample.to_string();
        assert!(line.ends_with("(branch stack ambiguous)"), "{line}");
        (sample.branches().unwrap().hw_index(), sample.has_ambiguous_branches())
    });
    assert_eq!(read, Ok((Some(8), true)));
    let words = grow(words, 0);
    assert_eq!(with_sample(&words, &attr, |sample| sample.has_ambiguous_branches()), Ok(false));
}

#[test]
fn branch_stack_prints_its_hardware_index_and_counters() {
    let attr = event(SampleType::BRANCH_STACK)
        .with_branch_sample_type(BranchSampleType::HW_INDEX | BranchSampleType::COUNTERS);
    let words = SampleBuilder::new(&attr).branches(&[BRANCH], Some(77), &[0x99]).finish();
    let line = with_sample(&words, &attr, |sample| sample.to_string()).unwrap();
    assert!(line.contains("hw_idx 77") && line.contains("counters 0x99"), "{line}");
    let words = SampleBuilder::new(&attr).branches(&[BRANCH, BRANCH], Some(77), &[8, 9]).finish();
    let line = with_sample(&words, &attr, |sample| sample.to_string()).unwrap();
    assert!(line.contains("[0x10->0x20 ") && line.contains(" counters 0x8, 0x10->0x20 "), "{line}");
    let words = SampleBuilder::new(&attr).branches(&[], None, &[]).finish();
    let line = with_sample(&words, &attr, |sample| sample.to_string()).unwrap();
    assert!(!line.contains("hw_idx") && !line.contains("counters"), "{line}");
}

#[test]
fn stack_without_optional_words_is_not_ambiguous() {
    let attr = event(SampleType::BRANCH_STACK);
    for branches in [&[][..], &[BRANCH]] {
        let words = SampleBuilder::new(&attr).branches(branches, None, &[]).finish();
        assert_eq!(parts(&words, &attr), (None, 0, 0, false));
    }
}
