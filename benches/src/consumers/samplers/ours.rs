//! perf-ring, by each way to read a ring.

use std::marker::PhantomData;

use perf_decode::{RawRecord, Record, SampleLayout};
use perf_ring::{Count, Event, Ring, Target};

use super::{Found, Sampler};
use crate::consumers::Touch;
use crate::workloads::page_faults;

/// A [`Ring`] whose records are decoded in place.
pub struct Ours<T> {
    ring: Ring,
    layout: SampleLayout,
    way: Way,
    copy: Vec<u64>,
    touch: PhantomData<T>,
}

/// The method by which a ring is read.
#[derive(Clone, Copy)]
pub enum Way {
    /// [`Ring::batch`].
    Batch,
    /// [`Ring::next_record`].
    Cursor,
    /// [`Ring::copy_into`].
    Copy,
}

impl<T: Touch> Ours<T> {
    pub fn open(ring: u8, way: Way) -> perf_ring::Result<Self> {
        let attr = page_faults::attr(0);
        let ring = Ring::map(Event::open(&attr, Target::calling_thread())?, 1 << ring)?;
        Ok(Self { ring, layout: SampleLayout::new(&attr), way, copy: Vec::new(), touch: PhantomData })
    }

    fn read(&mut self, found: &mut Found) -> perf_ring::Result<()> {
        let Self { ring, layout, copy, .. } = self;
        match self.way {
            Way::Batch => {
                for record in ring.batch()?.records() {
                    add::<T>(found, record, layout);
                }
            }
            Way::Cursor => {
                while let Some(record) = ring.next_record()? {
                    add::<T>(found, Ok(record), layout);
                }
            }
            Way::Copy => {
                for record in ring.copy_into(copy)?.records(&mut []) {
                    add::<T>(found, record, layout);
                }
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn add<T: Touch>(found: &mut Found, record: perf_decode::Result<RawRecord<'_>>, layout: &SampleLayout) {
    match record.and_then(|record| record.decode(layout)) {
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

impl<T: Touch> Sampler for Ours<T> {
    fn enable(&mut self) {
        self.ring.event().enable().expect("the event is ours");
    }

    fn disable(&mut self) {
        self.ring.event().disable().expect("the event is ours");
    }

    fn drain(&mut self, found: &mut Found) {
        self.read(found).expect("the kernel's positions");
    }

    fn count(&mut self) -> u64 {
        Count::read(self.ring.event()).expect("a count").value
    }
}
