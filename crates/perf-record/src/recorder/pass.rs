//! One reading of all rings, and the records that it writes.

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

/// One reading of all rings.
pub(super) struct Pass<'p, W: Write> {
    pub(super) writer: &'p mut Writer<W>,
    pub(super) inventory: &'p mut Inventory,
    pub(super) described: &'p Described,
    pub(super) losses: &'p mut Losses,
    pub(super) repair: &'p mut SampleRepair,
    pub(super) tasks: &'p mut Option<ObservedTasks>,
    pub(super) layout: &'p SampleLayout,
    pub(super) ledger: &'p mut LossLedger,
    /// Whether nothing was written.
    pub(super) is_empty: bool,
    /// Whether something was lost that the events count.
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

    /// Writes the copied wakeups of all CPUs that are about the recorded tasks, after the records of the tasks: their starts are
    /// known then.
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
        // Before Linux 6.0, the losses are these records alone.
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

/// Writes the records of a window. Those of kind `LOST` count 0: they are where the losses were, which are counted by event.
fn write_with_places_of_losses<W: Write>(
    writer: &mut Writer<W>,
    window: Window<'_>,
) -> perf_file::Result<()> {
    // A copied window does not wrap.
    for record in window.records(&mut []).map_while(Result::ok) {
        if record.kind() == RecordType::LOST {
            let mut place = record.bytes().to_vec();
            // After the header and the id.
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

/// Returns the name of the event of a record that reports a loss of this event.
fn event_of(described: &Described, record: RawRecord<'_>, layout: &SampleLayout) -> Option<Arc<str>> {
    let kinds = [RecordType::THROTTLE, RecordType::UNTHROTTLE, RecordType::LOST_SAMPLES];
    if !kinds.contains(&record.kind()) {
        return None;
    }
    described.name_of(record.id(layout)?).map(Arc::from)
}
