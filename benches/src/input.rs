use std::hint::black_box;

use perf_abi::Attr;
use perf_decode::{SampleLayout, Scratch, Window};
use perfkit_benches_readers::linux_perf_event_reader::LinuxPerfEventReader;
use perfkit_benches_readers::perf_event_data::PerfEventData;
use perfkit_benches_readers::perf_event_open::PerfEventOpen;
use perfkit_benches_readers::{Peer, Random, Workload};

/// A ring's data area full of records, and each decoder's layout or configuration for them.
pub struct Input {
    words: Vec<u64>,
    used: usize,
    records: usize,
    attr: Attr,
    layout: SampleLayout,
    scratch: Box<Scratch>,
    reader: <LinuxPerfEventReader as Peer>::Config,
    data: <PerfEventData as Peer>::Config,
    open: <PerfEventOpen as Peer>::Config,
}

impl Input {
    /// Fills an area of `bytes`, a power of two, with records of a workload, as far as whole ones go.
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
        // Nothing of the attr may be known to the compiler where the layout is not a constant.
        let attr = black_box(W::ATTR);
        Self {
            words,
            used,
            records,
            attr,
            layout: SampleLayout::new(&attr),
            scratch: Box::new(Scratch::new()),
            reader: LinuxPerfEventReader::config(&attr),
            data: PerfEventData::config(&attr),
            open: PerfEventOpen::config(&attr),
        }
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        self.records
    }

    /// The attr of the event that wrote them.
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    /// The records' words, without the unused end of the area.
    pub fn words(&self) -> &[u64] {
        &self.words[..self.used]
    }

    /// The records' bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the same memory for as long, and any word is eight bytes.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.used * 8) }
    }

    /// What perf-decode reads: the ring's window, the layout made at run time, and a scratch.
    pub fn window(&mut self) -> (Window<'_>, &SampleLayout, &mut Scratch) {
        let window = Window::new(&self.words, 0, self.used as u64 * 8).expect("a ring of a power of two");
        (window, &self.layout, &mut self.scratch)
    }
}

/// A peer whose configuration is part of the input.
pub(crate) trait Configured: Peer {
    /// Returns the configuration.
    fn of(input: &Input) -> &Self::Config;
}

impl Configured for LinuxPerfEventReader {
    fn of(input: &Input) -> &Self::Config {
        &input.reader
    }
}

impl Configured for PerfEventData {
    fn of(input: &Input) -> &Self::Config {
        &input.data
    }
}

impl Configured for PerfEventOpen {
    fn of(input: &Input) -> &Self::Config {
        &input.open
    }
}
