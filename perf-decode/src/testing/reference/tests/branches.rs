//! Branch stacks: what the attr says first, then the contrary.

use super::*;
const HW_INDEX: BranchSampleType = BranchSampleType::HW_INDEX;
const COUNTERS: BranchSampleType = BranchSampleType::COUNTERS;
const NEITHER: BranchSampleType = BranchSampleType::ANY;
const ENTRIES: [[u64; 3]; 2] = [[1, 2, 3], [4, 5, 6]];

/// Names of the parts, with a word behind the stack that must be found.
fn parts(
    asked: BranchSampleType,
    entries: &[[u64; 3]],
    hw_idx: Option<u64>,
    counters: &[u64],
) -> Option<Vec<String>> {
    let attr = attr(SampleType::BRANCH_STACK | SampleType::DATA_SRC).with_branch_sample_type(asked);
    let sample = SampleBuilder::new(&attr).branches(entries, hw_idx, counters).data_src(9).finish();
    let tree = decode(&sample, &attr).ok()?;
    assert_eq!(tree.field("data_src"), Some(&Value::U64(9)));
    let Some(Value::Map(parts)) = tree.field("branches") else {
        return None;
    };
    assert_eq!(parts[0].1, Value::U64(entries.len() as u64));
    Some(parts.iter().map(|(name, _)| name.clone()).collect())
}

/// What [`parts`] gives for a stack that was read.
fn names(names: &[&str]) -> Option<Vec<String>> {
    names.iter().map(|name| Some(String::from(*name))).collect()
}

#[test]
fn parts_the_attr_asks_for_are_read() {
    assert_eq!(parts(NEITHER, &ENTRIES, None, &[]), names(&["nr", "entries"]));
    assert_eq!(parts(HW_INDEX, &ENTRIES, Some(7), &[]), names(&["nr", "hw_idx", "entries"]));
    assert_eq!(parts(COUNTERS, &ENTRIES, None, &[7, 8]), names(&["nr", "entries", "counters"]));
    let all = names(&["nr", "hw_idx", "entries", "counters"]);
    assert_eq!(parts(HW_INDEX | COUNTERS, &ENTRIES, Some(7), &[7, 8]), all);
}

#[test]
fn hw_idx_may_be_missing_without_branches() {
    assert_eq!(parts(HW_INDEX, &[], Some(7), &[]), names(&["nr", "hw_idx", "entries"]));
    assert_eq!(parts(HW_INDEX, &[], None, &[]), names(&["nr", "entries"]));
    assert_eq!(parts(HW_INDEX | COUNTERS, &[], None, &[]), names(&["nr", "entries"]));
}

#[test]
fn hw_idx_is_never_there_unasked() {
    assert_eq!(parts(NEITHER, &[], Some(7), &[]), None);
    assert_eq!(parts(COUNTERS, &[], Some(7), &[]), None);
}

#[test]
fn hw_idx_is_never_missing_with_branches() {
    assert_eq!(parts(HW_INDEX, &ENTRIES, None, &[]), None);
}

#[test]
fn counters_may_come_unasked_and_be_missing() {
    assert_eq!(parts(NEITHER, &ENTRIES, None, &[7, 8]), names(&["nr", "entries", "counters"]));
    assert_eq!(parts(COUNTERS, &ENTRIES, None, &[]), names(&["nr", "entries"]));
    assert_eq!(parts(HW_INDEX | COUNTERS, &ENTRIES, Some(7), &[]), names(&["nr", "hw_idx", "entries"]));
}

#[test]
fn counters_of_another_number_are_refused() {
    assert_eq!(parts(NEITHER, &ENTRIES, None, &[7]), None);
    assert_eq!(parts(COUNTERS, &ENTRIES, None, &[7, 8, 9]), None);
}

#[test]
fn first_refusal_is_the_one_reported() {
    let attr = attr(SampleType::BRANCH_STACK).with_branch_sample_type(COUNTERS);
    let record = start(RecordType::SAMPLE).words(&[1, 2, 3, 4, 5, 6]).finish();
    assert_eq!(decode(&record, &attr).unwrap_err().why, "8 bytes behind the last field");
}
