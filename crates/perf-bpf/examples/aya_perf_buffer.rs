//! The interface of aya's `PerfEventArrayBuffer` (0.14) on these crates: no unsafe code, and a
//! sample that wraps at the end of the ring is in one piece.
//!
//! ```sh
//! cargo run -p perf-bpf --example aya_perf_buffer
//! ```

#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use perf_bpf::ring::{Attr, ConstantLayout, Event, Record, Ring, SampleLayout, SampleType, Software, Target};
use perf_bpf::{Error, EventArray, Link};

mod program;

const ATTR: Attr = Attr::software(Software::BPF_OUTPUT)
    .with_sample_type(SampleType::RAW)
    .with_period(1)
    .with_wakeup_events(1);

/// The constant layout of [`ATTR`], which lets the compiler skip the fields that samples do not
/// have.
#[derive(Clone, Copy)]
struct Output;

impl ConstantLayout for Output {
    const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);
}

/// An event read from a perf event array buffer.
#[derive(Debug)]
pub enum PerfEvent<'a> {
    /// A sample emitted by `bpf_perf_event_output()`, with the padding that follows the payload.
    Sample(&'a [u8]),
    /// Samples were dropped because the ring was full.
    Lost {
        /// Number of dropped samples.
        count: u64,
    },
}

/// The ring of one CPU.
#[derive(Debug)]
pub struct PerfBuffer(Ring);

impl PerfBuffer {
    /// Opens and maps the ring of a CPU, with `page_count` data pages, a power of two, and fills
    /// its slot.
    pub fn open(array: &mut EventArray, cpu: u32, page_count: usize) -> Result<Self, Error> {
        let ring =
            Ring::map(Event::open(&ATTR, Target::cpu(cpu))?, page_count).map_err(|error| error.error)?;
        ring.event().enable()?;
        array.insert(cpu, ring.event())?;
        Ok(Self(ring))
    }

    /// Returns whether there are events that were not read.
    pub fn readable(&self) -> bool {
        self.0.has_records()
    }

    /// Calls `f` with each available event, until it breaks. The events are released at once at the
    /// end.
    pub fn try_fold<B, C>(
        &mut self,
        init: C,
        mut f: impl FnMut(C, PerfEvent<'_>) -> ControlFlow<B, C>,
    ) -> ControlFlow<B, C> {
        let Ok(mut batch) = self.0.batch() else { return ControlFlow::Continue(init) };
        // Malformed records are skipped; `Ring::damage` counts them.
        batch.records().flatten().try_fold(init, |state, record| match record.decode(Output) {
            Ok(Record::Sample(sample)) => f(state, PerfEvent::Sample(sample.raw().unwrap_or_default())),
            Ok(Record::Lost(lost)) => f(state, PerfEvent::Lost { count: lost.lost() }),
            _ => ControlFlow::Continue(state),
        })
    }

    /// Calls `f` with each available event, and returns the last state.
    pub fn fold<C>(&mut self, init: C, mut f: impl FnMut(C, PerfEvent<'_>) -> C) -> C {
        let ControlFlow::Continue(state) =
            self.try_fold::<Infallible, _>(init, |state, event| ControlFlow::Continue(f(state, event)));
        state
    }

    /// Calls `f` with each available event.
    pub fn for_each(&mut self, mut f: impl FnMut(PerfEvent<'_>)) {
        self.fold((), |(), event| f(event));
    }
}

impl AsRawFd for PerfBuffer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

fn main() -> Result<(), perf_bpf::Report> {
    for bytes in read(0, 20)? {
        println!("{bytes:x?}");
    }
    Ok(())
}

/// Reads at least `count` samples of one CPU.
pub(crate) fn read(cpu: u32, count: usize) -> Result<Vec<Vec<u8>>, Error> {
    let mut array = EventArray::create("events".parse()?)?;
    let program = program::for_array(&array)?;
    let mut buffer = PerfBuffer::open(&mut array, cpu, 2)?;
    let _link = Link::raw_tracepoint(c"sched_switch", &program, 0)?;
    let mut samples = Vec::new();
    while samples.len() < count {
        buffer.0.wait(Some(Duration::from_millis(100)))?;
        buffer.for_each(|event| match event {
            PerfEvent::Sample(bytes) => samples.push(bytes.to_vec()),
            PerfEvent::Lost { count } => eprintln!("{count} samples lost"),
        });
    }
    Ok(samples)
}
