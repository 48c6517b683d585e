//! The clocks of events, and conversions between their times.

use std::fmt;
use std::marker::PhantomData;

use perf_ring::{
    Attr, AttrFlags, Clock, Error, Event, EventType, Record, Ring, SampleLayout, SampleType, Software,
    Target, TimeConversion,
};
use rustix::thread::{name, set_name};
use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime_dynamic};

#[cfg(test)]
mod tests;

// Hardware events sample in a non-maskable interrupt, which must not wait for the lock of a clock that is being set:
// the kernel refuses the clocks for them that it cannot read there.

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
/// use perf_session::ring::{Attr, Clock, Hardware, Software};
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

/// A clock that a program can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeSource {
    /// A clock of `clock_gettime(2)`, in ns.
    Clock(Clock),
    /// The CPU's counter, in its own unit: the time-stamp counter on x86, the virtual counter-timer on
    /// arm64.
    Cycles,
    /// The clock of perf, in ns, by the CPU's counter and the parameters that the kernel offers
    /// ([`RdpmcCounter::time_conversion`](perf_ring::RdpmcCounter::time_conversion)). Where it offers none,
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
    fn reordering(self) -> u64 {
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

fn nanoseconds(time: Timespec) -> Option<u64> {
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

/// The times of two clocks at the same moment.
///
/// ```
/// use perf_session::ring::Clock;
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
#[non_exhaustive]
pub struct ClockPair {
    /// The time of the first clock.
    pub from: u64,
    /// The time of the second clock.
    pub to: u64,
    /// The largest error of [`to`](Self::to), in the unit of the second clock.
    pub error: u64,
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
    fn between(from: u64, before: u64, after: u64) -> Option<Self> {
        let length = after.checked_sub(before)?;
        // One unit more, because a clock shows whole ones.
        Some(Self { from, to: before + length / 2, error: length.div_ceil(2) + 1 })
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
        if first.from < second.from && first.to <= second.to { Some(Self { first, second }) } else { None }
    }

    /// Returns the time of the second clock when the first shows `time`, rounded down. `None` if it is
    /// below 0 or above [`u64::MAX`].
    pub fn convert(&self, time: u64) -> Option<u64> {
        let (rise, run) = (self.second.to - self.first.to, self.second.from - self.first.from);
        let distance = i128::from(time) - i128::from(self.first.from);
        // At most 2^64 * 2^64, which an i128 does not hold.
        let product = distance.unsigned_abs().checked_mul(u128::from(rise))?;
        let offset = if distance < 0 {
            -i128::try_from(product.div_ceil(u128::from(run))).ok()?
        } else {
            i128::try_from(product / u128::from(run)).ok()?
        };
        u64::try_from(i128::from(self.first.to).checked_add(offset)?).ok()
    }

    /// Returns the largest error of [`convert`](Self::convert) for `time`, in the unit of the second clock,
    /// if both clocks had a constant rate. Between the measurements it is the larger of their errors;
    /// outside it grows with the distance.
    pub fn error_at(&self, time: u64) -> u64 {
        let (first, second) = (self.first, self.second);
        let outside = first.from.saturating_sub(time).max(time.saturating_sub(second.from));
        let sum = u128::from(first.error) + u128::from(second.error);
        let run = u128::from(second.from - first.from);
        let growth = u128::from(outside).saturating_mul(sum).div_ceil(run);
        let growth = u64::try_from(growth).unwrap_or(u64::MAX);
        first.error.max(second.error).saturating_add(growth).saturating_add(1)
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

/// The clock of perf, which stamps the records of events without
/// [`USE_CLOCKID`](AttrFlags::USE_CLOCKID), read on any machine.
///
/// Only some kernels and CPUs offer the parameters of this clock to programs
/// ([`RdpmcCounter::time_conversion`](perf_ring::RdpmcCounter::time_conversion)), virtual machines rarely. This
/// type reads it from the record that the kernel writes when a thread sets its name. The thread's name is
/// set to the one that it has.
///
/// It takes a ring of one page, and needs no permission. Only the thread that opened it can use it.
///
/// ```
/// use perf_session::ring::Clock;
/// use perf_session::{PerfClock, TimeSource};
///
/// # fn main() -> Result<(), perf_session::ClockError> {
/// # let Ok(mut perf) = PerfClock::open() else { return Ok(()) };
/// let pair = perf.pair(TimeSource::Clock(Clock::REALTIME))?;
/// println!("perf time {} is {} ns since 1970, at most {} ns off", pair.from, pair.to, pair.error);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PerfClock {
    ring: Ring,
    // The event is of the thread that opened it: another one would wait for records that never come.
    not_send: PhantomData<*mut ()>,
}

const ATTR: Attr =
    Attr::software(Software::DUMMY).with_sample_type(SampleType::TIME.union(SampleType::TID)).with_flags(
        AttrFlags::COMM
            .union(AttrFlags::SAMPLE_ID_ALL)
            .union(AttrFlags::EXCLUDE_KERNEL)
            .union(AttrFlags::EXCLUDE_HV),
    );

const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);

impl PerfClock {
    /// Opens the event of the calling thread, and maps its ring.
    ///
    /// # Errors
    ///
    /// [`ClockError::Event`] with the error of the call.
    pub fn open() -> Result<Self, ClockError> {
        let event = Event::open(&ATTR, Target::calling_thread()).map_err(Error::from)?;
        let ring = Ring::map(event, 1).map_err(Error::from)?;
        Ok(Self { ring, not_send: PhantomData })
    }

    /// Returns the times of perf and of another clock at the same moment. The error is half the time of
    /// the shortest of some system calls that set the thread's name.
    ///
    /// # Errors
    ///
    /// [`ClockError::Event`] if the ring is damaged, [`ClockError::NotReadable`] or [`ClockError::Unsteady`] for the other
    /// clock, and [`ClockError::NoRecord`] if the kernel wrote no record.
    pub fn pair(&mut self, to: TimeSource) -> Result<ClockPair, ClockError> {
        let mut best: Option<ClockPair> = None;
        for _ in 0..ROUNDS {
            // Records of earlier rounds, and of other names that the thread set.
            self.ring.batch()?.discard();
            let own = name().map_err(|_| ClockError::NoRecord)?;
            let before = to.now().ok_or(ClockError::NotReadable(to))?;
            set_name(&own).map_err(|_| ClockError::NoRecord)?;
            let after = to.now().ok_or(ClockError::NotReadable(to))?;
            let at = self.time()?.ok_or(ClockError::NoRecord)?;
            if let Some(pair) = ClockPair::between(at, before, after) {
                best = best.filter(|best| best.error <= pair.error).or(Some(pair));
            }
        }
        best.ok_or(ClockError::Unsteady(to))
    }

    /// Returns the time of the COMM record in the ring.
    fn time(&mut self) -> Result<Option<u64>, ClockError> {
        let mut batch = self.ring.batch()?;
        let mut times = batch.records().filter_map(|record| match record.ok()?.decode(&LAYOUT).ok()? {
            Record::Comm(comm) => comm.time(),
            _ => None,
        });
        Ok(times.next())
    }
}
