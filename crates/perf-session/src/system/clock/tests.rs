//! Clocks of made-up events and of this machine.

use perf_ring::{Hardware, Software};
use proptest::prelude::*;
use rustix::time::Timespec;

use super::*;

#[test]
fn only_software_events_take_all_clocks() {
    assert_eq!(clocks_of(&Attr::software(Software::CPU_CLOCK)).len(), 5);
    let others = [
        Attr::hardware(Hardware::CPU_CYCLES),
        Attr::tracepoint(1),
        Attr::breakpoint_execute(0),
        Attr::raw(1),
    ];
    for attr in others {
        assert_eq!(clocks_of(&attr), [Clock::MONOTONIC, Clock::MONOTONIC_RAW]);
    }
}

#[test]
fn first_clock_that_all_events_take_is_chosen() {
    let (software, hardware) = (Attr::software(Software::DUMMY), Attr::hardware(Hardware::CPU_CYCLES));
    let wanted = [Clock::BOOTTIME, Clock::TAI, Clock::MONOTONIC];
    assert_eq!(choose_clock([&software, &software], &wanted), Some(Clock::BOOTTIME));
    assert_eq!(choose_clock([&software, &hardware], &wanted), Some(Clock::MONOTONIC));
    assert_eq!(choose_clock([&hardware, &software], &wanted[..2]), None);
    assert_eq!(choose_clock([], &[Clock(2)]), None, "a clock that no event takes");
}

#[test]
fn error_is_half_of_the_measurement_and_the_resolution() {
    assert_eq!(ClockPair::between(7, 100, 110), Some(ClockPair::new(7, 105, 6)));
    assert_eq!(ClockPair::between(7, 100, 111), Some(ClockPair::new(7, 105, 7)));
    assert_eq!(ClockPair::between(7, 100, 100), Some(ClockPair::new(7, 100, 1)));
    assert_eq!(ClockPair::between(7, 100, 99), None, "the clock was set");
    assert_eq!(ClockPair::between(7, 0, u64::MAX).map(|pair| pair.to), Some(u64::MAX / 2));
}

#[test]
fn pair_converts_by_its_distance() {
    let pair = ClockPair::new(1_000, 50, 5);
    assert_eq!((pair.convert(1_000), pair.convert(1_010), pair.convert(950)), (Some(50), Some(60), Some(0)));
    assert_eq!((pair.convert(949), pair.convert(u64::MAX)), (None, Some(u64::MAX - 950)));
    assert_eq!(ClockPair::new(0, 1, 0).convert(u64::MAX), None);
    assert_eq!(pair.inverse().convert(60), Some(1_010));
    assert_eq!((pair.error_at(1_000), pair.error_at(2_000), pair.error_at(1_001)), (5, 6, 6));
    assert_eq!(ClockPair::new(0, 0, u64::MAX).error_at(u64::MAX), u64::MAX);
}

#[test]
fn line_needs_two_moments() {
    let (first, second) = (ClockPair::new(10, 10, 1), ClockPair::new(20, 30, 2));
    assert!(ClockLine::new(first, second).is_some());
    assert_eq!(ClockLine::new(first, first), None);
    assert_eq!(ClockLine::new(second, first), None);
    assert_eq!(ClockLine::new(first, ClockPair::new(20, 9, 1)), None, "the second clock was set back");
}

#[test]
fn line_interpolates_and_extrapolates() {
    let line = ClockLine::new(ClockPair::new(10, 100, 1), ClockPair::new(20, 130, 2)).unwrap();
    let converted = [10, 11, 15, 20, 30, 0].map(|time| line.convert(time));
    assert_eq!(converted, [100, 103, 115, 130, 160, 70].map(Some));
    assert_eq!((line.error_at(10), line.error_at(15), line.error_at(20)), (3, 3, 3));
    assert_eq!((line.error_at(30), line.error_at(0)), (6, 6), "one more distance, both errors");
    let early = ClockLine::new(ClockPair::new(10, 5, 0), ClockPair::new(20, 35, 0)).unwrap();
    assert_eq!((early.convert(0), early.convert(9)), (None, Some(2)), "before the clock's start");
    let flat = ClockLine::new(ClockPair::new(10, 100, 0), ClockPair::new(13, 101, 0)).unwrap();
    assert_eq!(
        [7, 8, 9, 11, 12].map(|time| flat.convert(time)),
        [99, 99, 99, 100, 100].map(Some),
        "rounded down"
    );
    let steep = ClockLine::new(ClockPair::new(0, 0, 0), ClockPair::new(1, u64::MAX, 0)).unwrap();
    assert_eq!((steep.convert(1), steep.convert(2), steep.convert(u64::MAX)), (Some(u64::MAX), None, None));
}

#[test]
fn time_before_1970_is_no_time() {
    let at = |tv_sec, tv_nsec| nanoseconds(Timespec { tv_sec, tv_nsec });
    assert_eq!((at(1, 5), at(0, 0)), (Some(1_000_000_005), Some(0)));
    assert_eq!((at(-1, 999_999_999), at(i64::MAX, 0)), (None, None));
}

#[test]
fn clock_without_a_number_is_an_error() {
    let unknown = TimeSource::Clock(Clock(77));
    let known = TimeSource::Clock(Clock::MONOTONIC);
    assert_eq!(ClockPair::measure(unknown, known), Err(ClockError::NotReadable(unknown)));
    let error = ClockPair::measure(known, unknown).unwrap_err();
    assert!(error.to_string().contains("not readable"), "{error}");
}

proptest! {
    #[test]
    fn line_through_two_pairs_meets_both(a in any::<u32>(), b in 1..u32::MAX, c in any::<u32>(), d in any::<u32>()) {
        let (a, b, c, d) = (u64::from(a), u64::from(b), u64::from(c), u64::from(d));
        let line = ClockLine::new(ClockPair::new(a, c, 3), ClockPair::new(a + b, c + d, 4)).unwrap();
        prop_assert_eq!(line.convert(a), Some(c));
        prop_assert_eq!(line.convert(a + b), Some(c + d));
        let middle = line.convert(a + b / 2).unwrap();
        prop_assert!(c <= middle && middle <= c + d);
        prop_assert!(line.error_at(a + b / 2) == 5 && line.error_at(a + 2 * b) > 5);
    }
}
