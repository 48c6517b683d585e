//! Branch stacks: the exact reading first, then the attr's, then the other.

use super::*;
const HW_INDEX: BranchSampleType = BranchSampleType::HW_INDEX;
const COUNTERS: BranchSampleType = BranchSampleType::COUNTERS;
const NEITHER: BranchSampleType = BranchSampleType::ANY;
const ENTRIES: [[u64; 3]; 2] = [[1, 2, 3], [4, 5, 6]];

/// Returns the names of the parts and the number of trailing bytes; `DATA_SRC` follows the stack.
fn parts(
    asked: BranchSampleType,
    entries: &[[u64; 3]],
    hw_idx: Option<u64>,
    counters: &[u64],
) -> Option<(Vec<String>, usize)> {
    let attr = attr(SampleType::BRANCH_STACK | SampleType::DATA_SRC).with_branch_sample_type(asked);
    let sample = SampleBuilder::new(&attr).branches(entries, hw_idx, counters).data_src(9).finish();
    let tree = decode(&sample, &attr).ok()?;
    assert!(tree.trailing > 0 || tree.field("data_src") == Some(&Value::U64(9)));
    let Some(Value::Map(parts)) = tree.field("branches") else {
        return None;
    };
    assert_eq!(parts[0].1, Value::U64(entries.len() as u64));
    Some((parts.iter().map(|(name, _)| name.clone()).collect(), tree.trailing))
}

/// Returns the parts of a sample without trailing bytes.
fn names(names: &[&str]) -> Option<(Vec<String>, usize)> {
    trailing(names, 0)
}

fn trailing(names: &[&str], trailing: usize) -> Option<(Vec<String>, usize)> {
    let names = names.iter().map(|name| Some(String::from(*name))).collect::<Option<_>>()?;
    Some((names, trailing))
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
fn unasked_hw_idx_is_taken_for_the_next_field() {
    assert_eq!(parts(NEITHER, &[], Some(7), &[]), trailing(&["nr", "entries"], 8));
    assert_eq!(parts(COUNTERS, &[], Some(7), &[]), trailing(&["nr", "entries"], 8));
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
fn attr_decides_on_counters_if_neither_reading_is_exact() {
    assert_eq!(parts(NEITHER, &ENTRIES, None, &[7]), trailing(&["nr", "entries"], 8));
    assert_eq!(parts(COUNTERS, &ENTRIES, None, &[7, 8, 9]), trailing(&["nr", "entries", "counters"], 8));
}

#[test]
fn first_error_is_the_one_reported() {
    let attr = attr(SampleType::BRANCH_STACK | SampleType::AUX).with_branch_sample_type(HW_INDEX);
    // The AUX size is 3 with the index and 5 without it.
    let record = start(RecordType::SAMPLE).words(&[0, 5, 3]).finish();
    assert_eq!(decode(&record, &attr).unwrap_err().why, "size 3 is not a multiple of 8");
}
