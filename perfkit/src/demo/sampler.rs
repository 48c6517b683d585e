//! The events and rings of a run: one ring for each CPU, all read as one stream in order of time.
//!
//! An inherited event needs a ring per CPU: the kernel refuses to map one that runs on any CPU,
//! because its copies would write into the ring at the same time.

use std::io;
use std::time::Duration;

use perf_file::writer::RecordedEvent;
use perf_ring::{Count, Error, RingSet};
use perf_session::{CpuList, System};

use super::failure::Failure;
use super::kept::Kept;
use super::open::{self, Opened};
use super::plan::Plan;
use super::stopwatch::Stopwatch;
use super::tally::Tally;

/// Open events that start when a child of the calling thread executes a program.
#[derive(Debug)]
pub(crate) struct Sampler {
    plan: Plan,
    /// The rings by CPU number.
    rings: RingSet<u32>,
    /// Data pages of all rings.
    pages: usize,
    /// Time between two rounds over the rings.
    round: Duration,
    /// The plans before this one, with their errors.
    failed: Vec<(Plan, Error)>,
    /// The records that were read.
    words: Vec<u64>,
}

impl Sampler {
    /// Opens the first of `plans` that the kernel accepts, to read its rings once each `round`.
    pub(crate) fn open(plans: &[Plan], round: Duration) -> Result<Self, Failure> {
        let cpus = CpuList::affinity(&System::new()).map_err(Failure::Cpus)?;
        let mut failed = Vec::new();
        for &plan in plans {
            match open::rings(&cpus, plan) {
                Ok(Opened { mut rings, pages }) => {
                    // Records that are kept for their order make a wait end after the delay.
                    rings.set_sort_delay(round);
                    return Ok(Self { plan, rings, pages, round, failed, words: Vec::new() });
                }
                Err(error) => failed.push((plan, error)),
            }
        }
        Err(Failure::Plans(failed))
    }

    pub(crate) fn plan(&self) -> Plan {
        self.plan
    }

    /// Returns the plans before this one that sample another event or another scope, with their
    /// errors.
    pub(crate) fn failed(&self) -> impl Iterator<Item = &(Plan, Error)> {
        let differs = |plan: &Plan| (plan.source, plan.scope) != (self.plan.source, self.plan.scope);
        self.failed.iter().filter(move |(plan, _)| differs(plan))
    }

    /// Returns the number of rings and of their data pages in total.
    pub(crate) fn rings(&self) -> (usize, usize) {
        (self.rings.len(), self.pages)
    }

    /// Waits until the next round is due or a ring is half full.
    pub(crate) fn wait(&mut self) -> io::Result<()> {
        if self.rings.wait(Some(self.round))?.is_final() {
            // The next wait would return at once, but the workload still runs.
            std::thread::sleep(self.round);
        }
        Ok(())
    }

    /// Reads the records whose order is certain; later ones stay in their rings.
    pub(crate) fn drain(&mut self, tally: &mut Tally) -> io::Result<()> {
        let start = Stopwatch::start();
        let words = &mut self.words;
        self.rings.drain_sorted(|record| {
            words.extend_from_slice(record.raw().words());
            tally.record(record.raw(), record.decode());
        })?;
        tally.spent += start.elapsed();
        Ok(())
    }

    /// Reads all remaining records, then the counts. The workload must have exited.
    pub(crate) fn finish(mut self, tally: &mut Tally) -> io::Result<Kept> {
        let start = Stopwatch::start();
        let mut words = self.words;
        self.rings.flush_sorted(|record| {
            words.extend_from_slice(record.raw().words());
            tally.record(record.raw(), record.decode());
        })?;
        tally.spent += start.elapsed();
        tally.late = self.rings.late();
        tally.skipped_bytes = self.rings.damage().bytes;
        let attr = self.plan.samples();
        let mut sampling = RecordedEvent::new(attr, self.plan.event_name());
        let mut other = RecordedEvent::new(self.plan.side_band(), "dummy");
        for (_, ring) in self.rings.iter() {
            let (samples, side_band) = (Count::read(ring.event())?, ring.redirected());
            let mut lost = samples.lost;
            sampling.ids.push(ring.event().id()?);
            for event in side_band {
                other.ids.push(event.id()?);
                lost = add(lost, Count::read(event)?.lost);
            }
            let before = tally.count.take().map(|(count, _)| count);
            tally.count = Some((sum(samples, before), self.plan.source.unit()));
            tally.lost_by_count = add(lost, Some(tally.lost_by_count.unwrap_or(0)));
        }
        Ok(Kept::new(attr, vec![sampling, other], words))
    }
}

/// Adds the counts of one event on two CPUs.
fn sum(mut count: Count, other: Option<Count>) -> Count {
    let Some(other) = other else { return count };
    count.value = count.value.wrapping_add(other.value);
    count.lost = add(count.lost, other.lost);
    count
}

fn add(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.wrapping_add(other?))
}
