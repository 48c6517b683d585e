//! The libraries that sample: each opens an event with a ring and reads its records as its own
//! documentation says.

use std::time::Duration;

use rustix::thread::Pid;

use crate::decode::{Sum, Touch};
use crate::table::Result;

mod ours;
mod perf_event_open;

use ours::Ours;
use perf_event_open::PerfEventOpen;

/// The part of the [stream](super::stream) to sample, the same for all.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    /// The thread that makes the faults.
    pub(crate) thread: Pid,
    /// The ring has two to the power of this pages.
    pub(crate) ring: u8,
    /// Unread bytes at which the kernel wakes the reader.
    pub(crate) watermark: u32,
}

impl Setup {
    /// Bytes of the ring.
    pub(crate) fn bytes(&self) -> usize {
        rustix::param::page_size() << self.ring
    }
}

/// The samples that a sampler read.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) samples: u64,
    /// Lost samples, by the records of the ring.
    pub(crate) lost: u64,
    /// The sum of the values that are equal for every event on the same faults.
    pub(crate) sum: Sum,
    /// The sum of the times, which differ from event to event.
    pub(crate) times: Sum,
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
pub(crate) trait Sampler {
    fn enable(&mut self);
    fn disable(&mut self);
    /// Reads all unread records.
    fn drain(&mut self, found: &mut Found);
    /// Waits for a wakeup, reads all unread records, and returns whether there were some.
    fn wait_and_drain(&mut self, timeout: Duration, found: &mut Found) -> bool;
    /// Returns the number of faults, sampled or lost.
    fn count(&mut self) -> u64;
}

pub(crate) type Open = fn(&Setup) -> Result<Box<dyn Sampler>>;

/// The libraries, in the order of [`samplers`].
pub(crate) const NAMES: [&str; 2] = ["ours", "perf-event-open"];

/// Returns the functions that open the samplers; they read ip and time of each sample, or all fields.
pub(crate) fn samplers<T: Touch + 'static>() -> [Open; 2] {
    [|setup| Ok(Box::new(Ours::<T>::open(setup)?)), |setup| Ok(Box::new(PerfEventOpen::<T>::open(setup)?))]
}

#[cfg(test)]
mod tests;
