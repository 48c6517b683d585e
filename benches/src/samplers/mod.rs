//! The libraries that sample: each opens an event with a ring and reads its records as its own
//! documentation says.

use std::time::Duration;

use rustix::thread::Pid;

use crate::{Result, Sum, Touch};

mod ours;
mod perf_event2;
mod perf_event_open;

pub use ours::Ours;
pub use perf_event_open::PerfEventOpen;
pub use perf_event2::PerfEvent2;

/// What to sample of the [stream](crate::stream), the same for all.
#[derive(Clone, Copy)]
pub struct Setup {
    /// The thread that makes the faults.
    pub thread: Pid,
    /// The ring has two to the power of this pages.
    pub ring: u8,
    /// Bytes that the ring calls at.
    pub watermark: u32,
}

impl Setup {
    /// Bytes of the ring.
    pub fn bytes(&self) -> usize {
        rustix::param::page_size() << self.ring
    }
}

/// What a sampler found.
#[derive(Default)]
pub struct Found {
    /// Samples.
    pub samples: u64,
    /// How many the ring says it has lost.
    pub lost: u64,
    /// The sum of what every event on the same faults must tell.
    pub sum: Sum,
    /// The sum of the times, which differ from event to event.
    pub times: Sum,
}

impl Found {
    /// Adds a sample: its ip and its time, and pid, tid, addr, cpu and period if all is to be read.
    #[inline(always)]
    fn sample<T: Touch>(
        &mut self,
        ip: Option<u64>,
        time: Option<u64>,
        rest: impl FnOnce() -> [Option<u64>; 5],
    ) {
        self.samples += 1;
        self.sum.add_some(ip);
        self.times.add_some(time);
        if T::ALL {
            rest().into_iter().for_each(|value| self.sum.add_some(value));
        }
    }
}

/// An event on the stream with its ring, not enabled yet.
pub trait Sampler {
    /// Lets samples come.
    fn enable(&mut self);
    /// Lets no more come.
    fn disable(&mut self);
    /// Reads what is there.
    fn drain(&mut self, found: &mut Found);
    /// Waits until the ring calls, reads all that is there, and returns whether there was anything.
    fn wait_and_drain(&mut self, timeout: Duration, found: &mut Found) -> bool;
    /// How many faults the event has counted, sampled or lost.
    fn count(&mut self) -> u64;
}

/// How a sampler is opened.
pub type Open = fn(&Setup) -> Result<Box<dyn Sampler>>;

/// The libraries, in the order of [`samplers`].
pub const NAMES: [&str; 3] = ["ours", "perf-event2", "perf-event-open"];

/// Ours and the peers, reading this much of each sample: ip and time, or all.
pub fn samplers<T: Touch + 'static>() -> [Open; 3] {
    [
        |setup| Ok(Box::new(Ours::<T>::open(setup)?)),
        |setup| Ok(Box::new(PerfEvent2::<T>::open(setup)?)),
        |setup| Ok(Box::new(PerfEventOpen::<T>::open(setup)?)),
    ]
}

#[cfg(test)]
mod tests;
