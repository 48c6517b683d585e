//! Types of the fields of an attr: clock, rate of samples, skid, size of the sampled stack.

use core::fmt;

use crate::{Attr, AttrFlags};

open_enum! {
    /// `CLOCK_*`—the clock of an event's times, for [`Attr::with_clock`](crate::Attr::with_clock).
    ///
    /// Hardware events, tracepoints and breakpoints can overflow in a non-maskable interrupt, where
    /// the kernel can read only `MONOTONIC` and `MONOTONIC_RAW`. Software events, cpu-clock and
    /// task-clock take all five. The kernel fails with `EINVAL` for every other clock.
    ///
    /// All events of a group, and all that write to one ring, must have the same clock.
    ///
    /// # References
    ///  - [`clock_gettime(2)`](https://man7.org/linux/man-pages/man2/clock_gettime.2.html)
    pub struct Clock(i32) {
        /// Wall-clock time, which is set and adjusted; software events only. Since Linux 4.1.
        "CLOCK_REALTIME" REALTIME = 0;
        /// Time since boot without suspend, adjusted by NTP. Since Linux 4.1.
        "CLOCK_MONOTONIC" MONOTONIC = 1;
        /// Time since boot without suspend, not adjusted. Since Linux 4.1.
        "CLOCK_MONOTONIC_RAW" MONOTONIC_RAW = 4;
        /// Time since boot with suspend; software events only. Since Linux 4.1.
        "CLOCK_BOOTTIME" BOOTTIME = 7;
        /// International atomic time; software events only. Since Linux 4.1.
        "CLOCK_TAI" TAI = 11;
    }
}

/// When an event writes a sample: what `sample_period` and [`AttrFlags::FREQ`] mean together.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Sampling {
    /// Never: the event only counts.
    None,
    /// After this number of events, of ns for the clocks: see [`Attr::with_period`].
    Period(u64),
    /// About this many times a second: see [`Attr::with_frequency`].
    #[doc(alias = "sample_freq")]
    Frequency(u64),
}

impl Attr {
    /// Returns when the event writes a sample.
    ///
    /// ```
    /// use perf_abi::{Attr, Sampling, Software};
    ///
    /// let attr = Attr::software(Software::CPU_CLOCK);
    /// assert_eq!(attr.sampling(), Sampling::None);
    /// assert_eq!(attr.with_frequency(99).sampling(), Sampling::Frequency(99));
    /// ```
    pub const fn sampling(&self) -> Sampling {
        match self.sample_period {
            0 => Sampling::None,
            hertz if self.flags.contains(AttrFlags::FREQ) => Sampling::Frequency(hertz),
            events => Sampling::Period(events),
        }
    }
}

/// `precise_ip`—the skid that a sampled instruction pointer may have. Since Linux 2.6.35.
///
/// Skid is the number of instructions between the one that overflowed the event and the one that
/// the kernel reports. Hardware events only: software events ignore the level. A PMU fails with
/// `EOPNOTSUPP` for a level above the one in its `caps/max_precise`, on x86 with `EINVAL` for a
/// level above `ARBITRARY` on an event that only counts.
///
/// The attr has two bits for it, so the four constants are all values.
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), `precise_ip`
#[doc(alias = "precise_ip")]
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Skid(pub(super) u8);

impl Skid {
    /// Arbitrary skid.
    pub const ARBITRARY: Self = Self(0);
    /// Constant skid.
    pub const CONSTANT: Self = Self(1);
    /// Requests zero skid; samples without [`Misc::EXACT_IP`](crate::Misc::EXACT_IP) have some.
    pub const REQUESTED_ZERO: Self = Self(2);
    /// Zero skid.
    pub const ZERO: Self = Self(3);

    /// Every level, from arbitrary to zero skid.
    pub const ALL: &'static [Self] = &[Self::ARBITRARY, Self::CONSTANT, Self::REQUESTED_ZERO, Self::ZERO];

    /// Returns the skid of a `precise_ip` level; `None` above 3.
    pub const fn from_level(level: u8) -> Option<Self> {
        if level <= Self::ZERO.0 { Some(Self(level)) } else { None }
    }

    /// Returns the `precise_ip` level, 0 to 3.
    pub const fn level(self) -> u8 {
        self.0
    }

    /// Returns the name of the constant.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ARBITRARY => "ARBITRARY",
            Self::CONSTANT => "CONSTANT",
            Self::REQUESTED_ZERO => "REQUESTED_ZERO",
            _ => "ZERO",
        }
    }
}

impl fmt::Debug for Skid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Skid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The size of a sampled user stack that the kernel accepts: a multiple of 8 from 8 to 65528 bytes.
///
/// ```
/// use perf_abi::StackSize;
///
/// assert_eq!(StackSize::new(16384).map(StackSize::bytes), Some(16384));
/// assert_eq!(StackSize::new(100), None);
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StackSize(u16);

impl StackSize {
    /// 8192 bytes, the size that `perf record --call-graph dwarf` samples by default.
    pub const DEFAULT: Self = Self(8192);

    /// 65528 bytes, the most that a record can have; the kernel samples less where the other fields
    /// of the record need the space.
    pub const MAX: Self = Self(u16::MAX - u16::MAX % 8);

    /// Returns the size; `None` if `bytes` is 0, above [`MAX`](Self::MAX) or not a multiple of 8.
    ///
    /// The kernel fails with `EINVAL` for the latter two. It accepts 0, but then writes one word
    /// more than it reserves, so the last 8 bytes of the sample are lost.
    pub const fn new(bytes: u32) -> Option<Self> {
        if bytes == 0 || bytes > Self::MAX.bytes() || bytes % 8 != 0 {
            return None;
        }
        Some(Self(bytes as u16))
    }

    /// Returns the size in bytes.
    pub const fn bytes(self) -> u32 {
        self.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::vec::Vec;

    use super::*;
    use crate::Software;

    #[test]
    fn sampling_is_a_period_a_frequency_or_none() {
        let attr = Attr::software(Software::PAGE_FAULTS);
        assert_eq!(attr.with_period(0).sampling(), Sampling::None);
        assert_eq!(attr.with_frequency(0).sampling(), Sampling::None);
        assert_eq!(attr.with_frequency(5).with_period(7).sampling(), Sampling::Period(7));
        assert_eq!(attr.with_period(7).with_frequency(5).sampling(), Sampling::Frequency(5));
    }

    #[test]
    fn levels_are_those_of_the_manual_page() {
        let levels = [Skid::ARBITRARY, Skid::CONSTANT, Skid::REQUESTED_ZERO, Skid::ZERO].map(Skid::level);
        assert_eq!(levels, [0, 1, 2, 3]);
        assert!((0..4).filter_map(Skid::from_level).eq(Skid::ALL.iter().copied()));
        assert_eq!(Skid::from_level(4), None);
    }

    #[test]
    fn a_skid_prints_its_name() {
        let names: Vec<_> = Skid::ALL.iter().map(|skid| format!("{skid}")).collect();
        assert_eq!(names, ["ARBITRARY", "CONSTANT", "REQUESTED_ZERO", "ZERO"]);
        assert_eq!(format!("{:>5?}", Skid::ZERO), " ZERO");
    }

    #[test]
    fn sizes_are_the_multiples_of_eight_that_the_kernel_accepts() {
        let accepted = (0..=1 << 17).filter(|&bytes| StackSize::new(bytes).is_some());
        assert!(accepted.eq((8..=65528).step_by(8)));
        assert_eq!(StackSize::new(1 << 16 | 8), None);
        assert_eq!((StackSize::MAX.bytes(), StackSize::DEFAULT.bytes()), (65528, 8192));
    }
}
