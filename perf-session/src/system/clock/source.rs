use std::fmt;

use perf_sys::{Clock, TimeConversion};
use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime_dynamic};

/// A clock that a program can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSource {
    /// A clock of `clock_gettime(2)`, in ns.
    Clock(Clock),
    /// The CPU's counter, in its own unit: the time-stamp counter on x86, the virtual counter-timer on
    /// arm64.
    Cycles,
    /// The clock of perf, in ns, by the CPU's counter and the parameters that the kernel offers
    /// ([`RdpmcCounter::time_conversion`](perf_sys::RdpmcCounter::time_conversion)). Where it offers none,
    /// use [`PerfClock`](crate::PerfClock).
    Perf(TimeConversion),
}

impl TimeSource {
    /// Returns the time, `None` if the clock cannot be read here, has no constant in [`Clock`], or is before
    /// 1970.
    pub fn now(self) -> Option<u64> {
        match self {
            Self::Clock(clock) => nanoseconds(clock_gettime_dynamic(id_of(clock)?).ok()?),
            // A conversion by which a cycle is a nanosecond.
            Self::Cycles => TimeConversion::new(1, 0, 0)?.now(),
            Self::Perf(conversion) => conversion.now(),
        }
    }

    /// Returns the ns by which a CPU may read the clock before the instruction is due.
    pub(super) fn reordering(self) -> u64 {
        match self {
            Self::Clock(_) => 0, // the C library's function has a barrier
            Self::Cycles | Self::Perf(_) => 100,
        }
    }
}

fn id_of(clock: Clock) -> Option<DynamicClockId<'static>> {
    match clock {
        Clock::REALTIME => Some(DynamicClockId::Known(ClockId::Realtime)),
        Clock::MONOTONIC => Some(DynamicClockId::Known(ClockId::Monotonic)),
        Clock::MONOTONIC_RAW => Some(DynamicClockId::Known(ClockId::MonotonicRaw)),
        Clock::BOOTTIME => Some(DynamicClockId::Boottime),
        Clock::TAI => Some(DynamicClockId::Tai),
        _ => None,
    }
}

pub(super) fn nanoseconds(time: Timespec) -> Option<u64> {
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let rest = u64::try_from(time.tv_nsec).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(rest)
}

impl fmt::Display for TimeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(clock) => write!(f, "CLOCK_{clock}"),
            Self::Cycles => f.write_str("counter of the CPU"),
            Self::Perf(_) => f.write_str("clock of perf"),
        }
    }
}
