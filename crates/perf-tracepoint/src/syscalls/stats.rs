//! Statistics of the durations of calls.

/// Numbers and durations of calls.
///
/// Sums are integers, so they do not depend on the order, and parts can be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyscallStats {
    /// Calls that returned.
    pub calls: u64,
    /// Calls that returned an error.
    pub errors: u64,
    /// Calls whose start was seen too, so that their duration is known.
    pub timed: u64,
    /// Sum of the durations in ns.
    pub total: u64,
    /// Shortest duration in ns; 0 without durations.
    pub min: u64,
    /// Longest duration in ns.
    pub max: u64,
    /// Sum of the squares of the durations.
    squares: u128,
}

impl SyscallStats {
    pub(super) fn add(&mut self, duration: Option<u64>, is_error: bool) {
        let duration = duration.map_or(Self::default(), |ns| Self {
            timed: 1,
            total: ns,
            min: ns,
            max: ns,
            squares: u128::from(ns) * u128::from(ns),
            ..Self::default()
        });
        self.merge(&Self { calls: 1, errors: is_error.into(), ..duration });
    }

    /// Adds the calls of other statistics.
    pub fn merge(&mut self, other: &Self) {
        self.min = match (self.timed, other.timed) {
            (0, _) => other.min,
            (_, 0) => self.min,
            _ => self.min.min(other.min),
        };
        self.max = self.max.max(other.max);
        self.calls += other.calls;
        self.errors += other.errors;
        self.timed += other.timed;
        self.total = self.total.saturating_add(other.total);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Returns the mean duration in ns; 0 without durations.
    #[allow(clippy::cast_precision_loss)] // printed with few digits
    pub fn mean(&self) -> f64 {
        if self.timed == 0 { 0.0 } else { self.total as f64 / self.timed as f64 }
    }

    /// Returns the standard deviation of the durations in ns; 0 for fewer than two durations.
    #[allow(clippy::cast_precision_loss)] // printed with few digits
    pub fn deviation(&self) -> f64 {
        if self.timed < 2 {
            return 0.0;
        }
        let (count, total) = (u128::from(self.timed), u128::from(self.total));
        // The difference is exact up to 10^9 calls of a second each.
        let spread = match (count.checked_mul(self.squares), total.checked_mul(total)) {
            (Some(left), Some(right)) => left.saturating_sub(right) as f64,
            _ => (count as f64 * self.squares as f64 - (total as f64).powi(2)).max(0.0),
        };
        (spread / (count as f64 * (count - 1) as f64)).sqrt()
    }

    /// Returns the standard error of the mean in percent of the mean, as the perf tool prints it; 0
    /// for fewer than two durations.
    #[allow(clippy::cast_precision_loss)] // printed with few digits
    pub fn error_percent(&self) -> f64 {
        match self.mean() {
            mean if mean > 0.0 => 100.0 * self.deviation() / (self.timed as f64).sqrt() / mean,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[allow(clippy::cast_precision_loss)] // compared with a tolerance
    fn naive_deviation(durations: &[u64]) -> f64 {
        if durations.len() < 2 {
            return 0.0;
        }
        let mean = durations.iter().map(|ns| *ns as f64).sum::<f64>() / durations.len() as f64;
        let squares: f64 = durations.iter().map(|ns| (*ns as f64 - mean).powi(2)).sum();
        (squares / (durations.len() - 1) as f64).sqrt()
    }

    fn of(durations: &[u64]) -> SyscallStats {
        let mut stats = SyscallStats::default();
        for ns in durations {
            stats.add(Some(*ns), false);
        }
        stats
    }

    #[test]
    fn deviation_is_that_of_a_sample() {
        let stats = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((stats.calls, stats.total, stats.min, stats.max), (8, 40, 2, 9));
        assert!((stats.mean() - 5.0).abs() < 1e-12);
        assert!((stats.deviation() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((stats.error_percent() - 20.0 * (32.0_f64 / 7.0 / 8.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn calls_without_a_start_have_no_duration() {
        let mut stats = of(&[10]);
        stats.add(None, true);
        assert_eq!((stats.calls, stats.errors, stats.timed, stats.min), (2, 1, 1, 10));
        assert!(stats.deviation() == 0.0 && of(&[]).error_percent() == 0.0);
    }

    #[test]
    fn huge_durations_do_not_overflow() {
        assert!(of(&[u64::MAX, 0, u64::MAX]).deviation().is_finite());
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole(durations in proptest::collection::vec(0..u64::MAX >> 8, 0..50), at in 0_usize..50) {
            let at = at.min(durations.len());
            let mut parts = of(&durations[..at]);
            parts.merge(&of(&durations[at..]));
            prop_assert_eq!(parts, of(&durations));
            let naive = naive_deviation(&durations);
            prop_assert!((parts.deviation() - naive).abs() <= naive * 1e-6 + 1.0, "{} {naive}", parts.deviation());
        }
    }
}
