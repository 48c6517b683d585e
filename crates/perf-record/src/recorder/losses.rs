//! The losses of each event, in the recording.
//!
//! The kernel's `LOST` records are not enough. Their id names the event whose record was written
//! next, not the event that lost records, and losses after the last of them are never reported. The
//! events themselves count exactly, so the recording gets `LOST_SAMPLES` records with these counts,
//! after the first `LOST` record and at the end. The `LOST` records stay in place with a count of
//! 0, because readers need the times of losses. Kernels before Linux 6.0 do not count, so their
//! `LOST` records stay unchanged.

use std::collections::HashMap;

use perf_session::ring::decode::LostCounts;
use perf_session::{EventSet, EventSetError, LossLedger};

use super::described::Described;

/// Number of records of one event that the kernel dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Index of the event in [`Recorder::events`](super::Recorder::events).
    pub event: usize,
    /// Id of the event on one CPU or thread.
    pub id: u64,
    /// Number of records.
    pub count: u64,
}

/// The losses of each event that are in the recording.
#[derive(Debug)]
pub(super) struct Losses {
    /// Whether the events count their losses.
    pub(super) are_counted: bool,
    /// Number of lost records up to the last call of `take`, by the id of the event.
    known: HashMap<u64, u64>,
    /// Samples removed since the last call of [`take`](Self::take) because their event is unknown.
    unattributed: u64,
}

impl Losses {
    pub(super) fn new(set: &EventSet) -> Self {
        Self { are_counted: set.reads_lost(), known: HashMap::new(), unattributed: 0 }
    }

    /// Returns the losses as the recording has them. If the events count losses, the same record
    /// also counts samples that were lost otherwise, so the sum is in records.
    pub(super) fn recorded(&self, ledger: &LossLedger) -> LostCounts {
        let lost = ledger.lost();
        if self.are_counted { LostCounts::new(lost.total(), 0) } else { lost }
    }

    /// Adds samples that were removed because several events may have written them.
    pub(super) fn add_unattributed(&mut self, samples: u64) {
        self.unattributed = self.unattributed.saturating_add(samples);
    }

    /// Returns the losses of each event since the last call; before Linux 6.0 only removed samples.
    pub(super) fn take(&mut self, set: &EventSet, described: &Described) -> Result<Vec<Lost>, EventSetError> {
        let mut new = Vec::new();
        // Attributed to an arbitrary event, because a reader needs one.
        let first = described.events.first().and_then(|event| event.ids.first());
        if let Some(&id) = first.filter(|_| self.unattributed > 0) {
            new.push(Lost { event: 0, id, count: std::mem::take(&mut self.unattributed) });
        }
        if !self.are_counted {
            return Ok(new);
        }
        for event in set.lost_by_event()? {
            let Some(index) = described.index_of(event.id) else { continue };
            let known = self.known.entry(event.id).or_default();
            let lost = event.lost.saturating_sub(*known);
            *known = event.lost;
            new.push(Lost { event: index, id: event.id, count: lost });
        }
        Ok(new)
    }
}
