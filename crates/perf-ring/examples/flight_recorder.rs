//! A flight recorder of all CPUs. The kernel overwrites one small ring for each CPU; after an
//! incident, the last records of all are copied.
//!
//! The records are context switches. Usage: `flight_recorder [MILLISECONDS]`, the time before the
//! incident, 1000 by default. Needs root, `CAP_PERFMON`, or `perf_event_paranoid` of at most 0.

use std::cmp::Reverse;
use std::error::Error;
use std::thread;
use std::time::Duration;

use perf_ring::{
    Attr, AttrFlags, Event, Record, SampleLayout, SampleType, SnapshotRing, Software, Target, on_each_cpu,
};

/// A switch from one task to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    /// ns of the kernel's clock.
    pub(crate) time: u64,
    pub(crate) cpu: u32,
    /// The thread that left the CPU.
    pub(crate) tid: u32,
}

pub(crate) struct Recorder {
    cpus: Vec<u32>,
    /// A ring for each CPU.
    rings: Vec<SnapshotRing>,
    layout: SampleLayout,
}

impl Recorder {
    /// Starts recording on all CPUs, into rings of `bytes` bytes.
    pub(crate) fn start(bytes: usize) -> Result<Self, Box<dyn Error>> {
        let attr = Attr::software(Software::CONTEXT_SWITCHES)
            .with_period(1)
            .with_sample_type(SampleType::TID | SampleType::TIME)
            .with_flags(AttrFlags::WRITE_BACKWARD);
        let mut rings = Vec::new();
        for (cpu, event) in on_each_cpu(|cpu| Event::open(&attr, Target::cpu(cpu)))? {
            rings.push((cpu, SnapshotRing::map_bytes(event, bytes)?));
        }
        let (cpus, rings) = rings.into_iter().unzip();
        Ok(Self { cpus, rings, layout: SampleLayout::new(&attr) })
    }

    /// Returns the last `wanted` switches of all CPUs, newest first. Recording continues.
    pub(crate) fn last(&mut self, wanted: usize) -> Result<Vec<Switch>, Box<dyn Error>> {
        let mut last = Vec::new();
        // All rings are paused at once, and one wait of milliseconds is enough for all.
        let snapshots = SnapshotRing::snapshot_all(&mut self.rings)?;
        for (cpu, mut snapshot) in self.cpus.iter().zip(snapshots) {
            // A ring is read from its newest record, so its older records are not among the last.
            for record in snapshot.records()?.take(wanted) {
                let Record::Sample(sample) = record?.decode(&self.layout)? else { continue };
                if let (Some(time), Some(tid)) = (sample.time(), sample.tid()) {
                    last.push(Switch { time, cpu: *cpu, tid });
                }
            }
        }
        last.sort_by_key(|switch| Reverse(switch.time));
        last.truncate(wanted);
        Ok(last)
    }
}

fn main() -> Result<(), perf_ring::Report> {
    let milliseconds = match std::env::args().nth(1) {
        Some(text) => text.parse().map_err(|error| format!("MILLISECONDS: {text}: {error}"))?,
        None => 1000,
    };
    let mut recorder = Recorder::start(1 << 16)?;
    thread::sleep(Duration::from_millis(milliseconds));
    for Switch { time, cpu, tid } in recorder.last(20)? {
        println!("{:>12}.{:06} ms  cpu {cpu:>3}  thread {tid}", time / 1_000_000, time % 1_000_000);
    }
    Ok(())
}
