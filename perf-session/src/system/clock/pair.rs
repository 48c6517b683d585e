use super::{ClockError, TimeSource};

/// The times of two clocks at the same moment.
///
/// ```
/// use perf_session::sys::Clock;
/// use perf_session::{ClockPair, TimeSource};
///
/// # fn main() -> Result<(), perf_session::ClockError> {
/// let monotonic = TimeSource::Clock(Clock::MONOTONIC);
/// let pair = ClockPair::measure(monotonic, TimeSource::Clock(Clock::REALTIME))?;
/// let start = monotonic.now().unwrap();
/// println!("{:?} ns since 1970, at most {} ns off", pair.convert(start), pair.error_at(start));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockPair {
    from: u64,
    to: u64,
    error: u64,
}

/// Readings of which the shortest counts.
const ROUNDS: u32 = 16;

/// Limit of the difference between two clocks of one counter, in millionths: the kernel adjusts each
/// by at most 500.
const DRIFT: u64 = 1000;

impl ClockPair {
    /// Returns the pair of two times that were read elsewhere: when the first clock showed `from`, the
    /// second showed `to`, give or take `error`.
    pub const fn new(from: u64, to: u64, error: u64) -> Self {
        Self { from, to, error }
    }

    /// Reads `from` between two readings of `to`, some times, and returns the pair of the shortest.
    ///
    /// # Errors
    ///
    /// [`ClockError::NotReadable`], and [`ClockError::Unsteady`] if `to` went backward each time.
    pub fn measure(from: TimeSource, to: TimeSource) -> Result<Self, ClockError> {
        let reordering = from.reordering() + to.reordering();
        let mut best: Option<Self> = None;
        for _ in 0..ROUNDS {
            let before = to.now().ok_or(ClockError::NotReadable(to))?;
            let at = from.now().ok_or(ClockError::NotReadable(from))?;
            let after = to.now().ok_or(ClockError::NotReadable(to))?;
            if let Some(pair) = Self::between(at, before, after) {
                let pair = Self { error: pair.error.saturating_add(reordering), ..pair };
                best = best.filter(|best| best.error <= pair.error).or(Some(pair));
            }
        }
        best.ok_or(ClockError::Unsteady(to))
    }

    /// Returns the pair of a time that was read between two times of the other clock.
    pub(super) fn between(from: u64, before: u64, after: u64) -> Option<Self> {
        let length = after.checked_sub(before)?;
        // One unit more, because a clock shows whole ones.
        Some(Self { from, to: before + length / 2, error: length.div_ceil(2) + 1 })
    }

    /// Returns the time of the first clock.
    pub const fn from(&self) -> u64 {
        self.from
    }

    /// Returns the time of the second clock.
    pub const fn to(&self) -> u64 {
        self.to
    }

    /// Returns the largest error of [`to`](Self::to), in the unit of the second clock.
    pub const fn error(&self) -> u64 {
        self.error
    }

    /// Returns the time of the second clock when the first shows `time`, as if both advanced at one rate.
    /// `None` if it is below 0 or above [`u64::MAX`].
    ///
    /// Both clocks must be in ns: for [`TimeSource::Cycles`] use a [`ClockLine`](crate::ClockLine).
    pub fn convert(&self, time: u64) -> Option<u64> {
        let distance = i128::from(time) - i128::from(self.from);
        u64::try_from(i128::from(self.to) + distance).ok()
    }

    /// Returns the largest error of [`convert`](Self::convert) for `time`: the error of the pair, and a
    /// thousandth of the time since, because the kernel adjusts the rate of a clock by at most 500 millionths.
    ///
    /// It does not hold across a step of the clock (`REALTIME` and `TAI` are set), nor across a suspend
    /// between `BOOTTIME` and the others.
    pub fn error_at(&self, time: u64) -> u64 {
        let distance = u128::from(time.abs_diff(self.from));
        let drift = (distance * u128::from(DRIFT)).div_ceil(1_000_000);
        self.error.saturating_add(u64::try_from(drift).unwrap_or(u64::MAX))
    }

    /// Returns the pair of the second clock to the first, for clocks of one unit.
    #[must_use]
    pub const fn inverse(self) -> Self {
        Self { from: self.to, to: self.from, error: self.error }
    }
}
