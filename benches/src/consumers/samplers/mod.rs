//! Libraries that sample. Each opens an event on the [page faults](page_faults) of the calling
//! thread with a ring, and reads its records as its documentation recommends.

use rustix::param::page_size;

use super::{Sum, Touch};
use crate::Result;
use crate::workloads::page_faults;

mod ours;
mod perf_event_open;

use ours::{Ours, Way};
use perf_event_open::PerfEventOpen;

/// Checksum of the samples that a sampler read.
#[derive(Default)]
pub struct Found {
    pub samples: u64,
    /// Lost samples, by the records of the ring.
    pub lost: u64,
    /// Sum of the values that are equal for every event on the same faults.
    pub sum: Sum,
    /// Sum of the times, which differ between events.
    pub times: Sum,
}

impl Found {
    /// Adds a sample: its ip and its time, and with [`Touch::ALL`] also pid, tid, addr, cpu and
    /// period.
    #[inline(always)]
    pub fn sample<T: Touch>(
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

/// An event with its ring, not enabled yet.
pub trait Sampler {
    fn enable(&mut self);
    fn disable(&mut self);
    /// Reads all unread records.
    fn drain(&mut self, found: &mut Found);
    /// Returns the number of faults, sampled or lost.
    fn count(&mut self) -> u64;
}

/// Returns the number of samples that fit in a ring of two to the power of `ring` pages.
pub fn capacity(ring: u8) -> usize {
    (page_size() << ring) / page_faults::SAMPLE
}

/// Opens all samplers, with a ring of two to the power of `ring` pages. They read ip and time of
/// each sample, or all fields.
///
/// # Errors
///
/// The error of the kernel or of a library.
pub fn samplers<T: Touch + 'static>(ring: u8) -> Result<Vec<(&'static str, Box<dyn Sampler>)>> {
    Ok(vec![
        ("batch", Box::new(Ours::<T>::open(ring, Way::Batch)?)),
        ("cursor", Box::new(Ours::<T>::open(ring, Way::Cursor)?)),
        ("copy", Box::new(Ours::<T>::open(ring, Way::Copy)?)),
        ("perf-event-open", Box::new(PerfEventOpen::<T>::open(ring)?)),
    ])
}
