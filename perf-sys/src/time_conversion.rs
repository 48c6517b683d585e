use core::num::NonZeroU32;

use crate::rdpmc;

/// How the CPU's clock and perf's time are converted into each other.
///
/// The cycles are those of the time-stamp counter on x86 and of the virtual counter-timer on arm64, as
/// AUX traces and programs themselves record them. The time is that of samples, in ns, of events
/// without [`USE_CLOCKID`](perf_abi::AttrFlags::USE_CLOCKID).
///
/// The factors come from a control page, by [`UserCounter::time_conversion`], or from the
/// `TIME_CONV` record of a `perf.data` file, by [`new`](Self::new).
///
/// [`UserCounter::time_conversion`]: crate::UserCounter::time_conversion
///
/// ```
/// use perf_sys::TimeConversion;
///
/// // 4 GHz: a quarter of a ns for each cycle, since 1000 ns.
/// let conversion = TimeConversion::new(1 << 30, 32, 1000).unwrap();
/// assert_eq!(conversion.time(400), 1100);
/// assert_eq!(conversion.cycles(1100), 400);
/// ```
///
/// # References
///
/// `perf_event_open(2)`, "MMAP layout", `time_zero`; `linux/perf_event.h`, `time_cycles`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeConversion {
    mult: NonZeroU32,
    /// At most [`MAX_SHIFT`].
    shift: u16,
    zero: u64,
    /// Where a short clock was; 0 of one that is not short.
    cycles: u64,
    /// The bits that a short clock has; all of one that is not short.
    mask: u64,
}

/// Kernels use 32 at most; up to here no product below can overflow.
const MAX_SHIFT: u16 = 63;

impl TimeConversion {
    /// `cycles * mult / 2^shift + zero` is the time, in ns.
    ///
    /// `None` if `mult` is 0 or `shift` above 63: no clock is like that.
    #[doc(alias = "time_mult")]
    #[doc(alias = "time_shift")]
    #[doc(alias = "time_zero")]
    pub const fn new(mult: u32, shift: u16, zero: u64) -> Option<Self> {
        match NonZeroU32::new(mult) {
            Some(mult) if shift <= MAX_SHIFT => Some(Self { mult, shift, zero, cycles: 0, mask: u64::MAX }),
            _ => None,
        }
    }

    /// For a clock that has only the bits of `mask` and wraps: at some time not long ago, its full value
    /// was `cycles`. Since Linux 5.9.
    #[must_use]
    #[doc(alias = "time_cycles")]
    #[doc(alias = "time_mask")]
    pub const fn with_short_clock(self, cycles: u64, mask: u64) -> Self {
        Self { cycles, mask, ..self }
    }

    /// The time of a clock value, in ns.
    pub const fn time(&self, cycles: u64) -> u64 {
        let cycles = self.cycles.wrapping_add(cycles.wrapping_sub(self.cycles) & self.mask);
        // Wider than 64 bits: the product of a machine that is up for long does not fit.
        let ns = (cycles as u128 * self.mult.get() as u128) >> self.shift;
        self.zero.wrapping_add(ns as u64)
    }

    /// The clock value of a time in ns: the last one before it, which [`time`](Self::time) may convert
    /// to less than the time, by no more than one cycle's length.
    pub const fn cycles(&self, time: u64) -> u64 {
        let ns = time.wrapping_sub(self.zero) as u128;
        ((ns << self.shift) / self.mult.get() as u128) as u64
    }

    /// The time at this moment, in ns, read from the CPU's clock without a system call.
    ///
    /// `None` where this crate cannot read the clock: on other architectures than x86 and arm64.
    pub fn now(&self) -> Option<u64> {
        rdpmc::clock().map(|cycles| self.time(cycles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of 3 cycles a ns, as the kernel rounds it.
    const SHIFT: u16 = 31;
    const MULT: u32 = (1 << SHIFT) / 3;

    #[test]
    fn conversion_agrees_with_quotient_and_remainder() {
        let conversion = TimeConversion::new(MULT, SHIFT, 77).unwrap();
        for cycles in [0, 1, 2, 3, (1 << SHIFT) - 1, 1 << SHIFT, 0x1234_5678_9abc_def0, u64::MAX] {
            let (quotient, remainder) = (cycles >> SHIFT, cycles & ((1 << SHIFT) - 1));
            let mult = u64::from(MULT);
            let expected = quotient.wrapping_mul(mult).wrapping_add((remainder * mult) >> SHIFT);
            assert_eq!(conversion.time(cycles), expected.wrapping_add(77), "{cycles}");
        }
    }

    #[test]
    fn there_and_back_loses_less_than_a_cycle() {
        let conversion = TimeConversion::new(MULT, SHIFT, 1_000).unwrap();
        for time in [1_000, 1_001, 123_456_789_012, 1 << 60] {
            let cycles = conversion.cycles(time);
            assert!(conversion.time(cycles) <= time && conversion.time(cycles + 1) >= time, "{time}");
        }
    }

    #[test]
    fn a_shift_of_32_takes_the_largest_factor() {
        let conversion = TimeConversion::new(u32::MAX, 32, 0).unwrap();
        assert_eq!(conversion.time(1 << 32), (1 << 32) - 1);
        assert_eq!(conversion.cycles((1 << 32) - 1), 1 << 32);
        assert_eq!(conversion.time(u64::MAX), u64::MAX - (1 << 32));
    }

    #[test]
    fn zero_may_be_before_the_clock_began() {
        let conversion = TimeConversion::new(1 << 10, 10, 5_u64.wrapping_neg()).unwrap();
        assert_eq!((conversion.time(7), conversion.cycles(2)), (2, 7));
    }

    #[test]
    fn a_short_clock_that_wrapped_goes_on() {
        let short = TimeConversion::new(1, 0, 0).unwrap().with_short_clock(0x1_00f0, 0xff);
        assert_eq!(short.time(0xf0), 0x1_00f0);
        assert_eq!(short.time(0xf8), 0x1_00f8);
        assert_eq!(short.time(0x08), 0x1_0108, "wrapped");
    }

    #[test]
    fn impossible_factors_are_refused() {
        assert_eq!(TimeConversion::new(0, 10, 0), None);
        assert_eq!(TimeConversion::new(1, 64, 0), None);
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn the_clock_goes_forward() {
        let conversion = TimeConversion::new(1, 0, 0).unwrap();
        assert!(conversion.now() <= conversion.now());
    }
}
