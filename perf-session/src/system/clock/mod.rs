//! The clocks of events, and conversions between their times.

use std::fmt;

use perf_sys::{Attr, Clock, Error, EventType};

mod line;
mod pair;
mod perf;
mod source;
#[cfg(test)]
mod tests;

pub use line::ClockLine;
pub use pair::ClockPair;
pub use perf::PerfClock;
pub use source::TimeSource;

/// The clocks that every event takes.
const IN_NMI: &[Clock] = &[Clock::MONOTONIC, Clock::MONOTONIC_RAW];
const ALL: &[Clock] = &[Clock::MONOTONIC, Clock::MONOTONIC_RAW, Clock::REALTIME, Clock::BOOTTIME, Clock::TAI];

/// Returns the clocks that the kernel accepts for this event.
///
/// Events that can overflow in a non-maskable interrupt (hardware, tracepoints, breakpoints, and
/// most other PMUs) take `MONOTONIC` and `MONOTONIC_RAW`. Software events take all five. Since Linux 4.1;
/// older kernels have none but their own clock.
pub fn clocks_of(attr: &Attr) -> &'static [Clock] {
    if attr.kind == EventType::SOFTWARE { ALL } else { IN_NMI }
}

/// Returns the first of the wanted clocks that the kernel accepts for all of these events, because events
/// that share a ring must have one clock. `None` if there is no such clock: then use `MONOTONIC`, and
/// convert its times by a [`ClockPair`].
///
/// ```
/// use perf_session::choose_clock;
/// use perf_session::sys::{Attr, Clock, Hardware, Software};
///
/// let wanted = [Clock::TAI, Clock::MONOTONIC_RAW];
/// let clock = Attr::software(Software::CPU_CLOCK);
/// assert_eq!(choose_clock([&clock], &wanted), Some(Clock::TAI));
/// let cycles = Attr::hardware(Hardware::CPU_CYCLES);
/// assert_eq!(choose_clock([&clock, &cycles], &wanted), Some(Clock::MONOTONIC_RAW));
/// ```
pub fn choose_clock<'a>(attrs: impl IntoIterator<Item = &'a Attr>, wanted: &[Clock]) -> Option<Clock> {
    let mut allowed = ALL;
    for attr in attrs {
        if clocks_of(attr).len() < allowed.len() {
            allowed = clocks_of(attr); // a part of `ALL`
        }
    }
    wanted.iter().copied().find(|clock| allowed.contains(clock))
}

/// The reason why clocks could not be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockError {
    /// The clock cannot be read: a counter that this architecture does not have, or a time before 1970.
    NotReadable(TimeSource),
    /// The clock went backward during each of the readings: it is being set.
    Unsteady(TimeSource),
    /// The kernel wrote no record with the clock's time: the event is of another thread.
    NoRecord,
    /// The event of the clock failed.
    Event(Error),
}

impl fmt::Display for ClockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReadable(source) => write!(f, "{source}: not readable here"),
            Self::Unsteady(source) => write!(f, "{source}: goes backward, it is being set"),
            Self::NoRecord => f.write_str(
                "clock of perf: expected a COMM record, found none: use it in the thread that opened it",
            ),
            Self::Event(error) => write!(f, "clock of perf: {error}"),
        }
    }
}

impl std::error::Error for ClockError {}

impl From<Error> for ClockError {
    fn from(error: Error) -> Self {
        Self::Event(error)
    }
}
