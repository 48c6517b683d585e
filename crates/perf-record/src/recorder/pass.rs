//! One pass over all rings, and the records that it writes.

use std::io::Write;
use std::sync::Arc;

use perf_file::writer::{Inventory, Writer};
use perf_session::ring::decode::Window;
use perf_session::ring::{RawRecord, RecordType, SampleLayout};
use perf_session::{LossLedger, ObservedTasks, RingKey, SampleRepair};

use super::described::Described;
use super::losses::Losses;
use super::wakeups::WakeupFilter;
use crate::RecordError;

/// One pass over all rings.
pub(super) struct Pass<'p, W: Write> {
    pub(super) writer: &'p mut Writer<W>,
    pub(super) inventory: &'p mut Inventory,
    pub(super) described: &'p Described,
    pub(super) losses: &'p mut Losses,
    pub(super) repair: &'p mut SampleRepair,
    pub(super) tasks: &'p mut Option<ObservedTasks>,
    pub(super) layout: &'p SampleLayout,
    pub(super) ledger: &'p mut LossLedger,
    /// Whether nothing was written yet.
    pub(super) is_empty: bool,
    /// Whether there was a loss that the events count.
    pub(super) has_lost: bool,
}

impl<W: Write> Pass<'_, W> {
    /// Writes the copied records of a ring.
    pub(super) fn write(&mut self, ring: RingKey, words: &mut Vec<u64>) -> Result<(), RecordError> {
        self.repair(ring, words);
        let window = Window::from_slices(words, &[]);
        let mut window_has_lost = false;
        self.inventory.note_with(window, |record| {
            window_has_lost |= record.kind() == RecordType::LOST;
            let event = event_of(self.described, record, self.layout);
            self.ledger.note_record(ring, record, self.layout, event);
            if let Some(tasks) = &mut self.tasks {
                tasks.note_record(record, self.layout);
            }
        });
        if window_has_lost && self.losses.are_counted {
            self.has_lost = true;
            write_with_places_of_losses(self.writer, window)?;
        } else {
            self.writer.write_window(window)?;
        }
        self.is_empty = false;
        Ok(())
    }

    /// Writes the copied wakeups of all CPUs that are about the recorded tasks. It runs after the
    /// records of the tasks are written, when their starts are known.
    pub(super) fn write_wakeups(
        &mut self,
        ring: RingKey,
        words: &mut Vec<u64>,
        filter: &mut WakeupFilter,
    ) -> Result<(), RecordError> {
        self.repair(ring, words);
        for record in Window::from_slices(words, &[]).records(&mut []).map_while(Result::ok) {
            self.ledger.note_record(ring, record, self.layout, None);
        }
        // Before Linux 6.0, these records are the only account of losses.
        let keeps_losses = !self.losses.are_counted;
        self.has_lost |= filter.choose(words, self.tasks.as_ref(), keeps_losses);
        let window = Window::from_slices(words, &[]);
        self.inventory.note(window);
        self.writer.write_window(window)?;
        self.is_empty &= words.is_empty();
        Ok(())
    }

    fn repair(&mut self, ring: RingKey, words: &mut Vec<u64>) {
        let removed = self.repair.repair(ring, words).removed;
        self.ledger.note_unattributed(ring, removed);
        self.losses.add_unattributed(removed);
        self.has_lost |= removed > 0;
    }
}

/// Writes the records of a window. A `LOST` record gets a count of 0, because it only marks the
/// place of a loss; the losses are counted by event.
fn write_with_places_of_losses<W: Write>(
    writer: &mut Writer<W>,
    window: Window<'_>,
) -> perf_file::Result<()> {
    // A copied window does not wrap.
    for record in window.records(&mut []).map_while(Result::ok) {
        if record.kind() == RecordType::LOST {
            let mut place = record.bytes().to_vec();
            // The count follows the header and the id.
            if let Some(lost) = place.get_mut(16..24) {
                lost.fill(0);
            }
            writer.write_records(&place)?;
        } else {
            writer.write_records(record.bytes())?;
        }
    }
    Ok(())
}

/// Returns the name of the event whose loss or throttling the record reports; `None` for other
/// records.
fn event_of(described: &Described, record: RawRecord<'_>, layout: &SampleLayout) -> Option<Arc<str>> {
    let kinds = [RecordType::THROTTLE, RecordType::UNTHROTTLE, RecordType::LOST_SAMPLES];
    if !kinds.contains(&record.kind()) {
        return None;
    }
    described.name_of(record.id(layout)?).map(Arc::from)
}
