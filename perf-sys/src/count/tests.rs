use perf_abi::{Attr, Hardware};

use super::*;

const TIMES: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);

fn cycles(value: u64, times: Option<(u64, u64)>) -> Count {
    let (time_enabled, time_running) = times.unzip();
    let label = Label::of(&Attr::hardware(Hardware::CPU_CYCLES));
    Count { label, value, time_enabled, time_running, id: None, lost: None }
}

#[test]
fn empty_read_is_a_pinned_event_in_error_state() {
    assert_eq!(values_of(&[], ReadFormat::empty()), Err(Error::PinnedFailed));
    assert_eq!(values_of(&[], ReadFormat::GROUP), Err(Error::PinnedFailed));
}

#[test]
fn short_read_reports_both_lengths() {
    assert_eq!(values_of(&[1, 2], TIMES), Err(Error::ReadLength { needed: 24, found: 16 }));
    assert_eq!(values_of(&[3, 1, 1], ReadFormat::GROUP), Err(Error::ReadLength { needed: 32, found: 24 }));
}

#[test]
fn long_read_reports_both_lengths() {
    assert_eq!(values_of(&[1, 2, 3, 4], TIMES), Err(Error::ReadLength { needed: 24, found: 32 }));
}

#[test]
fn coverage_is_the_ratio_of_time_running_to_time_enabled() {
    assert_eq!(cycles(1, Some((80, 40))).coverage(), Some(0.5));
    assert_eq!(cycles(1, Some((80, 0))).coverage(), Some(0.0));
    assert_eq!(cycles(1, Some((80, 81))).coverage(), Some(1.0));
}

#[test]
fn count_without_times_is_unscaled() {
    assert_eq!((cycles(7, None).coverage(), cycles(7, None).scaled()), (None, Scaled::Unscaled(7)));
    assert_eq!(cycles(0, Some((0, 0))).coverage(), None);
}

#[test]
fn difference_covers_times_and_losses_but_not_the_id() {
    let before = Count { id: Some(21), lost: Some(2), ..cycles(100, Some((50, 50))) };
    let now = Count { id: Some(21), lost: Some(5), ..cycles(300, Some((150, 75))) };
    let found = now.since(&before);
    assert_eq!(found, Count { id: Some(21), lost: Some(3), ..cycles(200, Some((100, 25))) });
    assert_eq!(found.scaled(), Scaled::Estimate(800));
}

#[test]
fn difference_has_only_the_times_that_both_counts_have() {
    let with_times = |value| Count { lost: Some(1), ..cycles(value, Some((1_000, 500))) };
    for (now, before) in [(with_times(200), cycles(100, None)), (cycles(200, None), with_times(100))] {
        let found = now.since(&before);
        assert_eq!(found, cycles(100, None));
        assert_eq!((found.scaled(), found.coverage()), (Scaled::Unscaled(100), None));
    }
    let enabled_only = Count { time_running: None, ..with_times(100) };
    let found = with_times(200).since(&enabled_only);
    assert_eq!((found.time_enabled, found.time_running, found.lost), (Some(0), None, Some(0)));
}

#[test]
fn line_marks_estimates_and_unknown_values() {
    assert_eq!(cycles(7, None).to_string(), "7  CPU_CYCLES");
    assert_eq!(cycles(7, Some((80, 80))).to_string(), "7  CPU_CYCLES  ran 100.0 %");
    assert_eq!(cycles(0, Some((80, 0))).to_string(), "-  CPU_CYCLES  ran   0.0 %");
    assert_eq!(cycles(0, Some((0, 0))).to_string(), "-  CPU_CYCLES  ran     - %");
}
