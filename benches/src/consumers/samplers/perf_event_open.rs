//! perf-event-open 0.7.0: a [`Sampler`](perf_event_open::sample::Sampler) and its iterator of
//! decoded records.

use std::marker::PhantomData;

use perf_event_open::config::{Cpu, Opts, Proc, SampleOn};
use perf_event_open::count::Counter;
use perf_event_open::event::sw::Software;
use perf_event_open::sample::record::Record;

use super::{Found, Sampler};
use crate::Result;
use crate::consumers::Touch;

pub struct PerfEventOpen<T> {
    counter: Counter,
    sampler: perf_event_open::sample::Sampler,
    touch: PhantomData<T>,
}

impl<T: Touch> PerfEventOpen<T> {
    pub fn open(ring: u8) -> Result<Self> {
        let mut opts = Opts::default();
        opts.exclude.kernel = true;
        opts.exclude.hv = true;
        opts.sample_on = SampleOn::Count(1);
        opts.sample_format.code_addr = true;
        opts.sample_format.data_addr = true;
        opts.sample_format.period = true;
        opts.record_id_format.task = true;
        opts.record_id_format.time = true;
        opts.record_id_format.cpu = true;
        let counter = Counter::new(Software::PageFault, (Proc::CURRENT, Cpu::ALL), &opts)?;
        Ok(Self { sampler: counter.sampler(ring)?, counter, touch: PhantomData })
    }
}

impl<T: Touch> Sampler for PerfEventOpen<T> {
    fn enable(&mut self) {
        self.counter.enable().expect("the event is ours");
    }

    fn disable(&mut self) {
        self.counter.disable().expect("the event is ours");
    }

    fn drain(&mut self, found: &mut Found) {
        for (_, record) in self.sampler.iter().expect("no other iterator lives") {
            match record {
                Record::Sample(sample) => {
                    let ip = sample.code_addr.map(|(ip, _)| ip);
                    found.sample::<T>(ip, sample.record_id.time, || {
                        let task = sample.record_id.task.as_ref();
                        let halves =
                            [task.map(|task| task.pid), task.map(|task| task.tid), sample.record_id.cpu];
                        let [pid, tid, cpu] = halves.map(|half| half.map(u64::from));
                        [pid, tid, sample.data_addr, cpu, sample.period]
                    });
                }
                Record::LostRecords(lost) => found.lost += lost.lost_records,
                _ => found.sum.refused(),
            }
        }
    }

    fn count(&mut self) -> u64 {
        self.counter.stat().expect("a count").count
    }
}
