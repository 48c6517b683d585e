//! Counts of read and lost records.

use core::ops::AddAssign;
use std::sync::Arc;
use std::time::{Duration, Instant};

use perf_ring::Event;
use perf_session::{CpuList, LossLedger, Scope};

use super::PerfBuffer;
use super::slot::Slot;
use crate::error::Error;

/// The records of one CPU, or of all, since the reader was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PerfBufferCounts {
    /// Samples that were read.
    pub samples: u64,
    /// Records that programs could not write because the ring was full, as the kernel counts them
    /// (since Linux 6.0, before that as [`reported_lost`](Self::reported_lost)).
    ///
    /// The kernel's count ends with the event in the slot. So for a slot that another reader has
    /// taken over and for a CPU that went offline, it is the larger one of the last count that was
    /// read and of the records that were reported.
    pub lost: u64,
    /// The part of them that the records in the ring have reported so far.
    pub reported_lost: u64,
    /// Records of a kind other than samples and losses.
    pub unknown: u64,
    /// Samples shorter than [`payload_size`](super::PerfBufferOptions::payload_size).
    pub truncated: u64,
    /// Malformed records, each with the unread bytes after it if no record could be found there.
    pub damaged: u64,
}

impl AddAssign for PerfBufferCounts {
    fn add_assign(&mut self, other: Self) {
        self.samples += other.samples;
        self.lost += other.lost;
        self.reported_lost += other.reported_lost;
        self.unknown += other.unknown;
        self.truncated += other.truncated;
        self.damaged += other.damaged;
    }
}

/// # Counts
impl PerfBuffer {
    /// Returns the counts of each CPU, ascending, also of those that went offline. It reads each
    /// event for the losses that no record has reported yet.
    ///
    /// # Errors
    ///
    /// An event cannot be read.
    #[doc(alias = "Stats")]
    pub fn counts(&self) -> Result<Vec<(u32, PerfBufferCounts)>, Error> {
        let mut all = self.closed.clone();
        for cpu in &self.cpus {
            all.push((cpu.cpu, cpu.read_counts()?));
        }
        all.sort_by_key(|(cpu, _)| *cpu);
        let mut sums: Vec<(u32, PerfBufferCounts)> = Vec::new();
        for (cpu, counts) in all {
            match sums.last_mut() {
                Some((last, sum)) if *last == cpu => *sum += counts,
                _ => sums.push((cpu, counts)),
            }
        }
        Ok(sums)
    }

    /// Returns the sum of the [`counts`](Self::counts) of all CPUs.
    ///
    /// # Errors
    ///
    /// The errors of [`counts`](Self::counts).
    pub fn total(&self) -> Result<PerfBufferCounts, Error> {
        let mut total = PerfBufferCounts::default();
        self.counts()?.into_iter().for_each(|(_, counts)| total += counts);
        Ok(total)
    }

    /// Adds the lost records of each CPU to the ledger of a set. Call it again for later losses.
    ///
    /// # Errors
    ///
    /// The errors of [`counts`](Self::counts).
    pub fn note_losses(&self, ledger: &mut LossLedger) -> Result<(), Error> {
        for (cpu, counts) in self.counts()? {
            ledger.note_read_lost(Scope::cpu(cpu), "bpf-output".into(), counts.lost);
        }
        Ok(())
    }

    /// Returns whether the kernel counts the lost records of each event. Since Linux 6.0.
    pub const fn reads_lost(&self) -> bool {
        self.reads_lost
    }

    /// Returns the CPUs of the reader that have lost records.
    ///
    /// # Errors
    ///
    /// The errors of [`counts`](Self::counts).
    pub fn lossy_cpus(&self) -> Result<CpuList, Error> {
        Ok(self.counts()?.into_iter().filter(|(_, counts)| counts.lost != 0).map(|(cpu, _)| cpu).collect())
    }
}

/// The time in which an event that counts must advance its time enabled. The kernel updates it in
/// every read; the slowest clock that perf uses ticks every 10 ms.
const PULSE: Duration = Duration::from_millis(30);

/// The event and the ring of one CPU.
#[derive(Debug)]
pub(super) struct CpuRing {
    /// The key of the ring in the set. Ascending, never reused.
    pub(super) key: usize,
    pub(super) cpu: u32,
    /// The event of the ring, whose group has the event in the slot.
    pub(super) event: Arc<Event>,
    /// `None` until the slot is filled.
    pub(super) slot: Option<Slot>,
    /// Lost records of the events that were in the slot before.
    pub(super) lost_before: u64,
    pub(super) counts: PerfBufferCounts,
    /// Cleared when the CPU was found to be offline, or to have been offline in between.
    pub(super) is_live: bool,
}

impl CpuRing {
    /// Returns whether the event's time enabled still advances, which ends when its CPU goes
    /// offline.
    pub(super) fn is_counting(&self) -> perf_ring::Result<bool> {
        let (first, begin) = (self.read_group()?.0, Instant::now());
        loop {
            // Check the clock first, so that a final read happens after the deadline.
            let is_over = begin.elapsed() > PULSE;
            if self.read_group()?.0 != first {
                return Ok(true);
            }
            if is_over {
                return Ok(false);
            }
        }
    }

    /// Returns the counts, with the lost records as the kernel counts them.
    pub(super) fn read_counts(&self) -> perf_ring::Result<PerfBufferCounts> {
        let (_, lost) = self.read_group()?;
        Ok(PerfBufferCounts { lost: lost.unwrap_or(0).max(self.counts.reported_lost), ..self.counts })
    }
}
