use std::marker::PhantomData;

use perf_sys::{Attr, AttrFlags, Event, Record, Ring, SampleLayout, SampleType, Software, Target};
use rustix::thread::{name, set_name};

use super::{ClockError, ClockPair, TimeSource};

/// The clock of perf, which stamps the records of events without
/// [`USE_CLOCKID`](AttrFlags::USE_CLOCKID), read on any machine.
///
/// Only some kernels and CPUs offer the parameters of this clock to programs
/// ([`RdpmcCounter::time_conversion`](perf_sys::RdpmcCounter::time_conversion)), virtual machines rarely. This
/// type reads it from the record that the kernel writes when a thread sets its name. The thread's name is
/// set to the one that it has.
///
/// It takes a ring of one page, and needs no permission. Only the thread that opened it can use it.
///
/// ```
/// use perf_session::sys::Clock;
/// use perf_session::{PerfClock, TimeSource};
///
/// # fn main() -> Result<(), perf_session::ClockError> {
/// # let Ok(mut perf) = PerfClock::open() else { return Ok(()) };
/// let pair = perf.pair(TimeSource::Clock(Clock::REALTIME))?;
/// println!("perf time {} is {} ns since 1970, at most {} ns off", pair.from(), pair.to(), pair.error());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PerfClock {
    ring: Ring,
    not_send: PhantomData<*mut ()>,
}

/// Readings of which the shortest counts.
const ROUNDS: u32 = 16;

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
        let event = Event::open(&ATTR, Target::calling_thread())?;
        let ring = Ring::map(event, 1).map_err(perf_sys::Error::from)?;
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
            self.ring.batch()?.discard();
            let own = name().map_err(|_| ClockError::NoRecord)?;
            let before = to.now().ok_or(ClockError::NotReadable(to))?;
            set_name(&own).map_err(|_| ClockError::NoRecord)?;
            let after = to.now().ok_or(ClockError::NotReadable(to))?;
            let at = self.time()?.ok_or(ClockError::NoRecord)?;
            if let Some(pair) = ClockPair::between(at, before, after) {
                best = best.filter(|best| best.error() <= pair.error()).or(Some(pair));
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
