//! Counts with their multiplexing correction.

/// A count with its multiplexing correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaled {
    /// The event ran the whole time that it was enabled: the value is exact.
    Exact(u64),
    /// The event was multiplexed: the value times time enabled over time running, saturated.
    Estimate(u64),
    /// The event never ran: the count is unknown, which is not the same as zero.
    NeverRan,
    /// The format lacks one of the two times: the value as it is.
    Unscaled(u64),
}

impl Scaled {
    /// Scales `value` by time enabled over time running, in the same unit.
    #[must_use]
    pub fn new(value: u64, enabled: u64, running: u64) -> Self {
        if running == 0 {
            Self::NeverRan
        } else if running >= enabled {
            Self::Exact(value)
        } else {
            let estimate = u128::from(value) * u128::from(enabled) / u128::from(running);
            Self::Estimate(u64::try_from(estimate).unwrap_or(u64::MAX))
        }
    }

    /// Returns the number; `None` if the event never ran.
    #[must_use]
    pub const fn value(self) -> Option<u64> {
        match self {
            Self::Exact(value) | Self::Estimate(value) | Self::Unscaled(value) => Some(value),
            Self::NeverRan => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_that_never_ran_is_not_zero() {
        for (value, enabled) in [(0, 100), (7, 100), (0, 0), (7, 0), (u64::MAX, u64::MAX)] {
            let scaled = Scaled::new(value, enabled, 0);
            assert_eq!((scaled, scaled.value()), (Scaled::NeverRan, None), "{value}, {enabled}");
        }
        assert_eq!(Scaled::new(0, 100, 100), Scaled::Exact(0));
    }

    #[test]
    fn event_that_ran_longer_than_it_was_enabled_is_exact() {
        assert_eq!(Scaled::new(7, 100, 101), Scaled::Exact(7));
        assert_eq!(Scaled::new(7, 0, u64::MAX), Scaled::Exact(7));
        assert_eq!(Scaled::new(7, 100, 99), Scaled::Estimate(7));
    }

    #[test]
    fn scaling_is_exact_beyond_53_bits() {
        // A double has 53 bits of precision.
        let value = (1 << 60) + 1;
        assert_eq!(Scaled::new(value, 9, 3), Scaled::Estimate(3 * value));
        assert_eq!(Scaled::new(value, 3, 2), Scaled::Estimate(value + value / 2));
        assert_eq!(Scaled::new(1_234_567_890_123_456_789, 7, 5), Scaled::Estimate(1_728_395_046_172_839_504));
    }

    #[test]
    fn estimate_saturates() {
        assert_eq!(Scaled::new(u64::MAX / 2, u64::MAX, u64::MAX / 2), Scaled::Estimate(u64::MAX));
        assert_eq!(Scaled::new(1 << 60, 3 << 40, 1 << 40), Scaled::Estimate(3 << 60));
    }
}
