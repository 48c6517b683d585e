//! Sums and quantiles of durations in bounded memory.

use std::collections::BTreeMap;

/// Buckets of one power of two. A quantile is at most one part in this number too long.
const BUCKETS: u64 = 64;

/// Durations in ns: their number, sum, maximum and quantiles.
///
/// Memory grows with the different magnitudes, not with the number of durations: at most 3776
/// buckets.
///
/// ```
/// let mut waits = perf_profile::Durations::default();
/// (1..=200).for_each(|ms| waits.add(ms * 1_000_000, 0));
/// assert_eq!((waits.count(), waits.max()), (200, 200_000_000));
/// let p99 = waits.quantile(0.99).unwrap();
/// assert!((198_000_000..=198_000_000 * 65 / 64).contains(&p99));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    count: u64,
    total: u64,
    max: u64,
    max_end: u64,
    /// Number of durations by the index of their bucket.
    buckets: BTreeMap<u16, u64>,
}

impl Durations {
    /// Adds a duration that ended at a time. Both are in ns.
    pub fn add(&mut self, duration: u64, end: u64) {
        if self.count == 0 || duration > self.max {
            (self.max, self.max_end) = (duration, end);
        }
        self.count = self.count.saturating_add(1);
        self.total = self.total.saturating_add(duration);
        let bucket = self.buckets.entry(bucket(duration)).or_default();
        *bucket = bucket.saturating_add(1);
    }

    /// Adds the durations of another one.
    pub fn merge(&mut self, other: &Self) {
        if self.count == 0 || other.max > self.max {
            (self.max, self.max_end) = (other.max, other.max_end);
        }
        self.count = self.count.saturating_add(other.count);
        self.total = self.total.saturating_add(other.total);
        for (&index, &count) in &other.buckets {
            let bucket = self.buckets.entry(index).or_default();
            *bucket = bucket.saturating_add(count);
        }
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum in ns; `u64::MAX` if it does not fit.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the longest duration in ns, 0 without durations.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns when the longest duration ended, in ns of the events' clock, 0 without durations.
    pub fn max_end(&self) -> u64 {
        self.max_end
    }

    /// Returns the average in ns; `None` without durations.
    #[allow(clippy::cast_precision_loss, reason = "an average is not exact")]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total as f64 / self.count as f64)
    }

    /// Returns the duration in ns that this part of the durations, from 0 to 1, does not exceed;
    /// `None` without durations. It is up to 1/64 longer than the exact one, and never longer than
    /// the longest.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank among more than 2^53 durations is not exact"
    )]
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let rank = (part.clamp(0.0, 1.0) * self.count as f64).ceil() as u64;
        let mut before = 0u64;
        for (&index, &count) in &self.buckets {
            before = before.saturating_add(count);
            if before >= rank {
                return Some(longest(index).min(self.max));
            }
        }
        None
    }
}

/// Returns the bucket of a duration: one each below 128 ns, then 64 for each power of two.
fn bucket(duration: u64) -> u16 {
    let bits = u64::from(u64::BITS - duration.leading_zeros());
    // The number of low bits that a bucket leaves out.
    let shift = bits.saturating_sub(7);
    (shift * BUCKETS + (duration >> shift)) as u16
}

/// Returns the longest duration of a bucket.
fn longest(index: u16) -> u64 {
    let index = u64::from(index);
    let shift = (index / BUCKETS).saturating_sub(1);
    // Of the last bucket, the next one would begin at 2^64.
    ((index - shift * BUCKETS + 1) << shift).wrapping_sub(1)
}

#[cfg(test)]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are small"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_contiguous() {
        let mut next = 0;
        for index in 0..=bucket(u64::MAX) {
            assert_eq!(bucket(next), index);
            assert_eq!(bucket(longest(index)), index);
            next = longest(index).wrapping_add(1);
        }
        assert_eq!(next, 0);
    }

    #[test]
    fn sums_of_hostile_times_saturate() {
        let mut durations = Durations::default();
        assert_eq!((durations.quantile(0.5), durations.mean()), (None, None));
        (0..3).for_each(|_| durations.add(u64::MAX, 7));
        assert_eq!((durations.count(), durations.total(), durations.max_end()), (3, u64::MAX, 7));
        assert_eq!(durations.quantile(f64::NAN), Some(u64::MAX));
    }

    proptest! {
        #[test]
        fn quantile_is_of_its_rank_or_a_64th_longer(
            mut values in prop::collection::vec((0u64..=63, any::<u64>()), 1..200),
            part in 0.0f64..=1.0,
        ) {
            let mut durations = Durations::default();
            let mut values: Vec<u64> = values.drain(..).map(|(shift, value)| value >> shift).collect();
            for &value in &values {
                durations.add(value, 0);
            }
            values.sort_unstable();
            let rank = (part * values.len() as f64).ceil() as usize;
            let exact = values[rank.saturating_sub(1)];
            let found = durations.quantile(part).unwrap();
            let mut halves = [Durations::default(), Durations::default()];
            for (&value, half) in values.iter().zip((0..2).cycle()) {
                halves[half].add(value, 0);
            }
            let [mut merged, other] = halves;
            merged.merge(&other);
            prop_assert_eq!(&merged, &durations);
            prop_assert!(exact <= found && found - exact <= exact / 64, "{} {}", exact, found);
        }
    }
}
