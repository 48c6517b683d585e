use rustix::time::{ClockId, clock_gettime};

use crate::set::Scope;

/// A time in which a CPU of a set had no events, because it was offline.
///
/// The times are in ns of `CLOCK_MONOTONIC`. They enclose the gap: `from` is the last time at which the
/// events were known to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The CPU.
    pub scope: Scope,
    /// The last time at which the events were known to count, or the CPU to be offline.
    pub from: u64,
    /// The time after which the events count again, or `None` while the CPU is without them.
    pub to: Option<u64>,
}

/// Returns the time of `CLOCK_MONOTONIC` in ns.
pub(in crate::set) fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Neither is negative on this clock.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
