use super::ClockPair;

/// The conversion between two clocks of different rates, by two measurements.
///
/// Between the measurements the times are interpolated, so that the rate need not be known: measure one
/// pair at the start of a recording and one at its end.
///
/// ```
/// use perf_session::{ClockLine, ClockPair};
///
/// // 3 cycles a nanosecond, each time within 10 ns.
/// let line = ClockLine::new(ClockPair::new(3_000, 1_000, 10), ClockPair::new(9_000, 3_000, 10)).unwrap();
/// assert_eq!(line.convert(6_000), Some(2_000));
/// assert_eq!(line.error_at(6_000), 11);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockLine {
    first: ClockPair,
    second: ClockPair,
}

impl ClockLine {
    /// Returns the conversion by two pairs of the same clocks. `None` unless the first clock advanced
    /// between them and the second did not go backward.
    pub const fn new(first: ClockPair, second: ClockPair) -> Option<Self> {
        if first.from() < second.from() && first.to() <= second.to() {
            Some(Self { first, second })
        } else {
            None
        }
    }

    /// Returns the time of the second clock when the first shows `time`, rounded down. `None` if it is
    /// below 0 or above [`u64::MAX`].
    pub fn convert(&self, time: u64) -> Option<u64> {
        let (rise, run) = (self.second.to() - self.first.to(), self.second.from() - self.first.from());
        let distance = i128::from(time) - i128::from(self.first.from());
        // At most 2^64 * 2^64, which an i128 does not hold.
        let product = distance.unsigned_abs().checked_mul(u128::from(rise))?;
        let offset = if distance < 0 {
            -i128::try_from(product.div_ceil(u128::from(run))).ok()?
        } else {
            i128::try_from(product / u128::from(run)).ok()?
        };
        u64::try_from(i128::from(self.first.to()).checked_add(offset)?).ok()
    }

    /// Returns the largest error of [`convert`](Self::convert) for `time`, in the unit of the second clock,
    /// if both clocks had a constant rate. Between the measurements it is the larger of their errors;
    /// outside it grows with the distance.
    pub fn error_at(&self, time: u64) -> u64 {
        let (first, second) = (self.first, self.second);
        let outside = first.from().saturating_sub(time).max(time.saturating_sub(second.from()));
        let sum = u128::from(first.error()) + u128::from(second.error());
        let run = u128::from(second.from() - first.from());
        let growth = u128::from(outside).saturating_mul(sum).div_ceil(run);
        let growth = u64::try_from(growth).unwrap_or(u64::MAX);
        first.error().max(second.error()).saturating_add(growth).saturating_add(1)
    }

    /// Returns the pair of the first measurement.
    pub const fn first(&self) -> ClockPair {
        self.first
    }

    /// Returns the pair of the second measurement.
    pub const fn second(&self) -> ClockPair {
        self.second
    }
}
