//! A lower bound of the events' clock.

use core::time::Duration;
use std::time::Instant;

/// A lower bound of the events' clock, from the times of records.
///
/// A program cannot read the kernel's default clock. But a record that is found was written before,
/// so the clock has passed its time, and continues as fast as the program's clock.
#[derive(Debug, Default)]
pub(super) struct Clock {
    /// The time of a record, and an instant after which the record was in its ring.
    seen: Option<(u64, Instant)>,
}

/// Age of the bound from which it is worth another pass over the unread records.
const OLD: Duration = Duration::from_secs(1);
/// The part of the elapsed time by which the program's clock may be faster, as a shift: about 0.1
/// %, twice the most by which NTP changes the speed of a clock.
const DRIFT: u32 = 10;

impl Clock {
    /// Notes that a record with this time was in its ring at `at`.
    pub(super) fn note(&mut self, time: u64, at: Instant) {
        // 0 is the time before the first record that has one.
        if time != 0 && self.bound(at).is_none_or(|bound| bound < time) {
            self.seen = Some((time, at));
        }
    }

    /// Returns a time that the clock had passed at `at`; `None` before the first record.
    pub(super) fn bound(&self, at: Instant) -> Option<u64> {
        let (time, seen) = self.seen?;
        let elapsed = nanoseconds(at.saturating_duration_since(seen));
        Some(time.saturating_add(elapsed - (elapsed >> DRIFT)))
    }

    /// Returns whether the bound is worse than the time of a record, or old.
    pub(super) fn lags(&self, time: u64, at: Instant) -> bool {
        let is_old = self.seen.is_none_or(|(_, seen)| at.saturating_duration_since(seen) >= OLD);
        is_old || self.bound(at).is_some_and(|bound| bound < time)
    }

    /// Returns the latest time of a record that is older than `delay` for certain.
    pub(super) fn ripe(&self, delay: Duration, at: Instant) -> Option<u64> {
        self.bound(at)?.checked_sub(nanoseconds(delay))
    }
}

/// Returns how long after the sight of a record it is older than `delay` for certain.
pub(super) fn until_ripe(delay: Duration) -> Duration {
    delay.saturating_add(delay / (1 << (DRIFT - 1)))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn bound_is_the_latest_time_that_was_seen_and_continues_slightly_slower() {
        let begin = Instant::now();
        let mut clock = Clock::default();
        clock.note(0, begin);
        assert_eq!((clock.bound(begin), clock.ripe(MS, begin)), (None, None), "no record has a time yet");
        clock.note(5_000_000, begin);
        clock.note(4_000_000, begin);
        assert_eq!((clock.bound(begin), clock.ripe(MS, begin)), (Some(5_000_000), Some(4_000_000)));
        assert_eq!(clock.ripe(6 * MS, begin), None, "before the clock began");
        assert_eq!(clock.bound(begin + Duration::from_nanos(1024)), Some(5_001_023));
        clock.note(5_500_000, begin + MS);
        assert_eq!(clock.bound(begin + MS), Some(5_999_024), "the earlier record gives the better bound");
    }

    #[test]
    fn bound_lags_if_a_record_is_later_or_it_is_old() {
        let begin = Instant::now();
        let mut clock = Clock::default();
        assert!(clock.lags(0, begin));
        clock.note(5_000_000, begin);
        assert!(!clock.lags(5_000_000, begin) && clock.lags(5_000_001, begin));
        assert!(!clock.lags(5_500_000, begin + MS) && clock.lags(0, begin + OLD));
    }

    #[test]
    fn record_is_ripe_when_the_next_round_is_due() {
        let begin = Instant::now();
        for delay in [Duration::ZERO, Duration::from_nanos(511), 10 * MS, Duration::from_secs(3600)] {
            let mut clock = Clock::default();
            clock.note(77, begin);
            assert!(
                clock.ripe(delay, begin + until_ripe(delay)).is_some_and(|until| until >= 77),
                "{delay:?}"
            );
        }
        assert_eq!(until_ripe(Duration::MAX), Duration::MAX);
    }
}
