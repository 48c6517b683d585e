//! Conversion between the CPU's clock and perf's time.

use core::num::NonZeroU32;

use super::rdpmc;

/// The conversion between the CPU's clock and perf's time.
///
/// The clock is the time-stamp counter on x86 and the virtual counter-timer on arm64, in cycles, as
/// AUX traces and programs record them. The time, in ns, is the one in samples of events without
/// [`USE_CLOCKID`](perf_abi::AttrFlags::USE_CLOCKID).
///
/// The parameters come from a control page ([`CounterPage::time_conversion`]) or from the
/// `TIME_CONV` record of a `perf.data` file ([`new`](Self::new)).
///
/// [`CounterPage::time_conversion`]: crate::CounterPage::time_conversion
///
/// ```
/// use perf_sys::TimeConversion;
///
/// // 4 GHz, 0.25 ns a cycle; the clock was 0 at 1000 ns.
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
    /// A full value of a short clock; 0 for a clock of 64 bits.
    cycles: u64,
    /// The bits of a short clock; all for a clock of 64 bits.
    mask: u64,
}

/// Kernels use at most 32. No product below overflows up to this.
const MAX_SHIFT: u16 = 63;

impl TimeConversion {
    /// Returns the conversion by which the time in ns is `cycles * mult / 2^shift + zero`.
    ///
    /// Returns `None` if `mult` is 0 or `shift` is above 63, which no clock has.
    #[doc(alias = "time_mult")]
    #[doc(alias = "time_shift")]
    #[doc(alias = "time_zero")]
    pub const fn new(mult: u32, shift: u16, zero: u64) -> Option<Self> {
        match NonZeroU32::new(mult) {
            Some(mult) if shift <= MAX_SHIFT => Some(Self { mult, shift, zero, cycles: 0, mask: u64::MAX }),
            _ => None,
        }
    }

    /// Sets the parameters of a short clock, which has only the bits of `mask` and wraps. `cycles`
    /// is a full clock value, less than one wrap in the past. Since Linux 5.9.
    #[must_use]
    #[doc(alias = "time_cycles")]
    #[doc(alias = "time_mask")]
    pub const fn with_short_clock(self, cycles: u64, mask: u64) -> Self {
        Self { cycles, mask, ..self }
    }

    /// Returns the time in ns of a clock value in cycles.
    pub const fn time(&self, cycles: u64) -> u64 {
        let cycles = self.cycles.wrapping_add(cycles.wrapping_sub(self.cycles) & self.mask);
        // 128 bits, because the product exceeds 64 bits after some seconds of uptime.
        let ns = (cycles as u128 * self.mult.get() as u128) >> self.shift;
        self.zero.wrapping_add(ns as u64)
    }

    /// Returns the clock value in cycles of a time in ns, rounded down: [`time`](Self::time) of the
    /// result is at most one cycle before `time`.
    pub const fn cycles(&self, time: u64) -> u64 {
        let ns = time.wrapping_sub(self.zero) as u128;
        ((ns << self.shift) / self.mult.get() as u128) as u64
    }

    /// Returns the current time in ns, by the CPU's clock and without a system call.
    ///
    /// Returns `None` on architectures other than x86 and arm64.
    pub fn now(&self) -> Option<u64> {
        rdpmc::clock().map(|cycles| self.time(cycles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 cycles a ns, rounded as the kernel does.
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
    fn conversion_there_and_back_loses_less_than_a_cycle() {
        let conversion = TimeConversion::new(MULT, SHIFT, 1_000).unwrap();
        for time in [1_000, 1_001, 123_456_789_012, 1 << 60] {
            let cycles = conversion.cycles(time);
            assert!(conversion.time(cycles) <= time && conversion.time(cycles + 1) >= time, "{time}");
        }
    }

    #[test]
    fn shift_of_32_takes_the_largest_factor() {
        let conversion = TimeConversion::new(u32::MAX, 32, 0).unwrap();
        assert_eq!(conversion.time(1 << 32), (1 << 32) - 1);
        assert_eq!(conversion.cycles((1 << 32) - 1), 1 << 32);
        assert_eq!(conversion.time(u64::MAX), u64::MAX - (1 << 32));
    }

    #[test]
    fn zero_may_be_before_the_start_of_the_clock() {
        let conversion = TimeConversion::new(1 << 10, 10, 5_u64.wrapping_neg()).unwrap();
        assert_eq!((conversion.time(7), conversion.cycles(2)), (2, 7));
    }

    #[test]
    fn short_clock_continues_after_its_wrap() {
        let short = TimeConversion::new(1, 0, 0).unwrap().with_short_clock(0x1_00f0, 0xff);
        assert_eq!(short.time(0xf0), 0x1_00f0);
        assert_eq!(short.time(0xf8), 0x1_00f8);
        assert_eq!(short.time(0x08), 0x1_0108, "wrapped");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        assert_eq!(TimeConversion::new(0, 10, 0), None);
        assert_eq!(TimeConversion::new(1, 64, 0), None);
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn clock_increases_monotonically() {
        let conversion = TimeConversion::new(1, 0, 0).unwrap();
        let first = conversion.now().unwrap();
        assert!(first > 1, "{first}");
        assert!(conversion.now() >= Some(first));
    }
}
