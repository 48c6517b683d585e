//! The losses of each event, in the recording.
//!
//! The kernel's `LOST` records are not enough: they have the id of the event whose record was written next, not of
//! those whose records were lost, and nothing reports what is lost after the last of them. The events themselves count
//! exactly. So the recording has `LOST_SAMPLES` records with these counts, as soon as there is one `LOST` record and at
//! the end. The `LOST` records stay where they are, with a count of 0: readers need the times of losses. A kernel before
//! Linux 6.0 does not count, and its `LOST` records are kept as they are.

use std::collections::HashMap;

use perf_session::ring::decode::LostCounts;
use perf_session::{EventSet, EventSetError, LossLedger};

use super::described::Described;

/// The records of an event that the kernel dropped.
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
    /// By the id of the event.
    known: HashMap<u64, u64>,
    /// Samples that were removed since the last call of [`take`](Self::take), because their event is unknown.
    unattributed: u64,
}

impl Losses {
    pub(super) fn new(set: &EventSet) -> Self {
        Self { are_counted: set.reads_lost(), known: HashMap::new(), unattributed: 0 }
    }

    /// Returns the losses as they are in the recording: if the events count them, the records for these counts have samples that
    /// were lost otherwise, too, so that all are only known to be records.
    pub(super) fn recorded(&self, ledger: &LossLedger) -> LostCounts {
        let lost = ledger.lost();
        if self.are_counted { LostCounts::new(lost.total(), 0) } else { lost }
    }

    /// Adds samples that were removed because several events may have written them.
    pub(super) fn add_unattributed(&mut self, samples: u64) {
        self.unattributed = self.unattributed.saturating_add(samples);
    }

    /// Returns what the events have lost since the last call; before Linux 6.0 only samples that were removed.
    pub(super) fn take(&mut self, set: &EventSet, described: &Described) -> Result<Vec<Lost>, EventSetError> {
        let mut new = Vec::new();
        // Of any event: a reader needs one.
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
