//! The losses of each event, in the recording.
//!
//! The kernel's `LOST` records are not enough: they have the id of the event whose record was written next, not of
//! those whose records were lost, and nothing reports what is lost after the last of them. The events themselves count
//! exactly. So the recording has `LOST_SAMPLES` records with these counts in place of the `LOST` records, as soon as
//! there is one and at the end. A kernel before Linux 6.0 does not count, and its `LOST` records are kept.

use std::collections::HashMap;
use std::fs::File;

use perf_file::writer::Writer;
use perf_session::EventSet;

use super::Failure;
use super::features::Described;

/// The losses of each event that are in the recording.
#[derive(Debug)]
pub(super) struct Losses {
    /// Whether the events count their losses.
    pub(super) are_counted: bool,
    /// By the id of the event.
    written: HashMap<u64, u64>,
}

impl Losses {
    pub(super) fn new(set: &EventSet) -> Self {
        Self { are_counted: set.reads_lost(), written: HashMap::new() }
    }

    /// Writes what the events have lost since the last call. `time` is that of the records, in ns of the clock of
    /// the events.
    pub(super) fn write(
        &mut self,
        set: &EventSet,
        described: &Described,
        writer: &mut Writer<File>,
        time: u64,
    ) -> Result<(), Failure> {
        if !self.are_counted {
            return Ok(());
        }
        for event in set.lost_by_event()? {
            let Some(index) = described.index_of(event.id) else { continue };
            let written = self.written.entry(event.id).or_default();
            writer.write_lost_samples(index, event.id, event.lost.saturating_sub(*written), time)?;
            *written = event.lost;
        }
        Ok(())
    }
}
