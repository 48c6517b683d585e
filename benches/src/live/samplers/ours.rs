use std::marker::PhantomData;
use std::time::Duration;

use perf_decode::{Record, SampleLayout};
use perf_ring::{Count, Event, Ring, Target, WaitResult};

use super::{Found, Sampler, Setup};
use crate::decode::Touch;
use crate::live::stream;

/// A [`Ring`], whose records are decoded in place.
pub(crate) struct Ours<T> {
    ring: Ring,
    layout: SampleLayout,
    touch: PhantomData<T>,
}

impl<T: Touch> Ours<T> {
    pub(crate) fn open(setup: &Setup) -> perf_ring::Result<Self> {
        let attr = stream::attr(setup.watermark);
        let ring = Ring::map(
            Event::open(&attr, Target::thread(setup.thread.as_raw_nonzero().get().unsigned_abs()))?,
            1 << setup.ring,
        )?;
        Ok(Self { ring, layout: SampleLayout::new(&attr), touch: PhantomData })
    }
}

impl<T: Touch> Sampler for Ours<T> {
    fn enable(&mut self) {
        self.ring.event().enable().expect("the event is ours");
    }

    fn disable(&mut self) {
        self.ring.event().disable().expect("the event is ours");
    }

    fn drain(&mut self, found: &mut Found) {
        let mut batch = self.ring.batch().expect("the kernel's positions");
        for record in batch.records() {
            match record.and_then(|record| record.decode(&self.layout)) {
                Ok(Record::Sample(sample)) => {
                    found.sample::<T>(sample.ip(), sample.time(), || {
                        let halves = [sample.pid(), sample.tid(), sample.cpu()];
                        let [pid, tid, cpu] = halves.map(|half| half.map(u64::from));
                        [pid, tid, sample.addr(), cpu, sample.period()]
                    });
                }
                Ok(Record::Lost(lost)) => found.lost += lost.lost(),
                _ => found.sum.refused(),
            }
        }
    }

    fn wait_and_drain(&mut self, timeout: Duration, found: &mut Found) -> bool {
        let answer = self.ring.wait(Some(timeout)).expect("memory for a poll");
        self.drain(found);
        answer == WaitResult::Readable
    }

    fn count(&mut self) -> u64 {
        Count::read(self.ring.event()).expect("a count").value
    }
}
