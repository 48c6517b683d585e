//! The records that consumers read, with the layouts for them.

use std::hint::black_box;

use perf_decode::{SampleLayout, Scratch, Window};
use zerocopy::IntoBytes;

use super::{Plan, linux_perf_event_reader, perf_event_open};
use crate::workloads::{Random, Workload};

/// A ring's data area full of records, with each decoder's layout or configuration.
pub struct Input {
    words: Vec<u64>,
    used: usize,
    records: usize,
    layout: SampleLayout,
    scratch: Box<Scratch>,
    pub plan: Plan,
    pub reader: linux_perf_event_reader::Config,
    pub parser: perf_event_open::Config,
}

impl Input {
    /// Fills an area of `bytes`, a power of two, with as many whole records of a workload as fit.
    pub fn new<W: Workload>(bytes: usize) -> Self {
        let mut random = Random::new(bytes as u64);
        let mut words = Vec::with_capacity(bytes / 8);
        let mut records = 0;
        loop {
            let record = W::record(&mut random);
            if words.len() + record.len() > bytes / 8 {
                break;
            }
            words.extend(record);
            records += 1;
        }
        let used = words.len();
        words.resize(bytes / 8, 0);
        // Hides the attr from the compiler, so that only the constant layout is known to it.
        let attr = black_box(W::ATTR);
        Self {
            words,
            used,
            records,
            layout: SampleLayout::new(&attr),
            scratch: Box::new(Scratch::new()),
            plan: Plan::new(&attr),
            reader: linux_perf_event_reader::Config::new(&attr),
            parser: perf_event_open::Config::new(&attr),
        }
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Returns the records' words, without the unused end of the area.
    pub fn words(&self) -> &[u64] {
        &self.words[..self.used]
    }

    pub fn bytes(&self) -> &[u8] {
        self.words().as_bytes()
    }

    /// Returns the arguments of perf-decode: the ring's window, the layout made at run time, and a
    /// scratch buffer.
    pub fn window(&mut self) -> (Window<'_>, &SampleLayout, &mut Scratch) {
        let window = Window::new(&self.words, 0, self.used as u64 * 8).expect("a ring of a power of two");
        (window, &self.layout, &mut self.scratch)
    }
}
