//! Samples all CPUs and prints which threads ran, faulted and switched, from one stream of records
//! in time order.
//!
//! Each online CPU has one ring, into which three events write. `RingSet::drain_sorted` reads the
//! records of all rings.
//!
//! Usage: `system_wide [MILLISECONDS]`, 1000 by default. Needs root, `CAP_PERFMON`, or
//! `perf_event_paranoid` of at most 0.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use perf_ring::{
    Attr, AttrFlags, Event, Record, Ring, RingSet, SampleType, Software, SortedRecord, Target, decode,
    on_each_cpu,
};

/// The events of each CPU, with their periods: ns of the clock, or occurrences.
const EVENTS: [(Software, u64); 3] =
    [(Software::CPU_CLOCK, 1_000_000), (Software::PAGE_FAULTS, 1), (Software::CONTEXT_SWITCHES, 1)];

/// The result of a run.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Samples by event and thread.
    pub(crate) samples: BTreeMap<(Software, u32), u64>,
    /// Records that the kernel dropped because a ring was full.
    pub(crate) lost: u64,
    /// Records that were delivered after one with a later time.
    pub(crate) late: u64,
    /// Samples with the id of an event that has no ring here. Linux 6.18 writes the id of one event
    /// into the samples of all software events of its kind, also of other users.
    pub(crate) unknown: u64,
    /// Side-band records.
    pub(crate) other: u64,
}

impl Summary {
    fn add<K>(&mut self, record: &SortedRecord<'_, K>) -> Result<(), decode::Error> {
        self.late += u64::from(record.is_late());
        let Some(event) = record.event() else {
            self.unknown += 1;
            return Ok(());
        };
        match record.decode()? {
            Record::Sample(sample) => {
                if let Some(tid) = sample.tid() {
                    *self.samples.entry((Software(event.attr().config), tid)).or_default() += 1;
                }
            }
            Record::Lost(lost) => self.lost += lost.lost(),
            _ => self.other += 1,
        }
        Ok(())
    }
}

/// A line for each event with its three most active threads; thread 0 is the idle task.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (event, _) in EVENTS {
            let threads = self.samples.range((event, 0)..=(event, u32::MAX));
            let mut threads: Vec<_> = threads.map(|((_, tid), count)| (count, tid)).collect();
            threads.sort_by(|one, other| other.cmp(one));
            let total: u64 = threads.iter().map(|(count, _)| *count).sum();
            write!(f, "{event:<16} {total:>8} samples")?;
            for (count, tid) in threads.iter().take(3) {
                write!(f, "  {count} of thread {tid}")?;
            }
            writeln!(f)?;
        }
        let Self { lost, late, unknown, other, .. } = self;
        write!(f, "{lost} lost, {late} late, {unknown} of unknown events, {other} of other kinds")
    }
}

/// Maps a ring for CPU `cpu`, into which all events write.
fn open(cpu: u32) -> Result<Ring, perf_ring::Error> {
    let [first, second, third] = EVENTS.map(|(event, period)| {
        let attr = Attr::software(event)
            .with_period(period)
            .with_sample_type(SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME)
            .with_flags(AttrFlags::SAMPLE_ID_ALL);
        Event::open(&attr, Target::cpu(cpu))
    });
    let mut ring = Ring::map_bytes(first?, 1 << 19)?;
    ring.redirect(second?)?;
    ring.redirect(third?)?;
    Ok(ring)
}

/// Samples all CPUs for `time`.
pub(crate) fn sample(time: Duration) -> Result<Summary, Box<dyn Error>> {
    let mut set = RingSet::new()?;
    for (cpu, ring) in on_each_cpu(open)? {
        set.add(cpu, ring)?;
    }
    let (mut summary, end) = (Summary::default(), Instant::now() + time);
    while Instant::now() < end {
        set.wait(Some(end - Instant::now()))?;
        let (_, flow) = set.try_drain_sorted(|record| match summary.add(&record) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        })?;
        if let ControlFlow::Break(error) = flow {
            return Err(error.into());
        }
    }
    set.disable()?;
    let mut flushed = Ok(());
    set.flush_sorted(|record| {
        if flushed.is_ok() {
            flushed = summary.add(&record);
        }
    })?;
    flushed?;
    Ok(summary)
}

fn main() -> Result<(), perf_ring::Report> {
    let milliseconds = match std::env::args().nth(1) {
        Some(text) => text.parse().map_err(|error| format!("MILLISECONDS: {text}: {error}"))?,
        None => 1000,
    };
    println!("{}", sample(Duration::from_millis(milliseconds))?);
    Ok(())
}
