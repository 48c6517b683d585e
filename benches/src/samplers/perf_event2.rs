//! perf-event2 0.7.4: a [`Sampler`](perf_event::Sampler) whose records are decoded by `parse_record`.

use std::io::Result;
use std::marker::PhantomData;
use std::time::Duration;

use perf_event::data::Record;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag};

use super::{Found, Sampler, Setup};
use crate::{Touch, stream};

/// Its sampler.
pub struct PerfEvent2<T> {
    sampler: perf_event::Sampler,
    touch: PhantomData<T>,
}

impl<T: Touch> PerfEvent2<T> {
    /// Opens the event, of the same attr as ours, and maps its ring.
    pub fn open(setup: &Setup) -> Result<Self> {
        let attr = stream::attr(setup.watermark);
        // It leaves out the kernel and the hypervisor, and starts disabled, by itself.
        let counter = Builder::new(Software::PAGE_FAULTS)
            .observe_pid(setup.thread.as_raw_nonzero().get())
            .sample(SampleFlag::from_bits_retain(attr.sample_type.bits()))
            .sample_period(1)
            .wakeup_watermark(setup.watermark as usize)
            .build()?;
        Ok(Self { sampler: counter.sampled(setup.bytes())?, touch: PhantomData })
    }
}

#[inline(always)]
fn read<T: Touch>(record: &perf_event::Record<'_>, found: &mut Found) {
    match record.parse_record() {
        Ok(Record::Sample(sample)) => {
            found.sample::<T>(sample.ip(), sample.time(), || {
                let halves = [sample.pid(), sample.tid(), sample.cpu()];
                let [pid, tid, cpu] = halves.map(|half| half.map(u64::from));
                [pid, tid, sample.addr(), cpu, sample.period()]
            });
        }
        Ok(Record::Lost(lost)) => found.lost += lost.lost,
        _ => found.sum.refused(),
    }
}

impl<T: Touch> Sampler for PerfEvent2<T> {
    fn enable(&mut self) {
        self.sampler.enable().expect("the event is ours");
    }

    fn disable(&mut self) {
        self.sampler.disable().expect("the event is ours");
    }

    fn drain(&mut self, found: &mut Found) {
        while let Some(record) = self.sampler.next_record() {
            read::<T>(&record, found);
        }
    }

    fn wait_and_drain(&mut self, timeout: Duration, found: &mut Found) -> bool {
        let Some(record) = self.sampler.next_blocking(Some(timeout)) else { return false };
        read::<T>(&record, found);
        drop(record);
        self.drain(found);
        true
    }

    fn count(&mut self) -> u64 {
        self.sampler.read().expect("a count")
    }
}
