//! The losses of each event, in the recording.
//!
//! The kernel's `LOST` records are not enough: they have the id of the event whose record was written next, not of
//! those whose records were lost, and nothing reports what is lost after the last of them. The events themselves count
//! exactly. So the recording has `LOST_SAMPLES` records with these counts in place of the `LOST` records, as soon as
//! there is one and at the end. A kernel before Linux 6.0 does not count, and its `LOST` records are kept.

use std::collections::HashMap;
use std::fs::File;

use perf_events::{Place, Set};
use perf_file::writer::Writer;

use super::Failure;
use super::features::{Described, EventKey};

/// The losses of each event that are in the recording.
#[derive(Debug)]
pub(super) struct Losses {
    /// Whether the events count their losses.
    pub(super) are_counted: bool,
    /// The latest descriptor of an event at a place, and the losses of the event there that are in the recording.
    written: HashMap<(EventKey, Place), Written>,
}

#[derive(Debug, Default)]
struct Written {
    id: u64,
    lost: u64,
}

impl Losses {
    pub(super) fn new(set: &Set) -> Self {
        Self { are_counted: set.reads_lost(), written: HashMap::new() }
    }

    /// Writes what the events have lost since the last call. `time` is that of the records, in ns of the clock of
    /// the events.
    pub(super) fn write(
        &mut self,
        set: &mut Set,
        described: &Described,
        writer: &mut Writer<File>,
        time: u64,
    ) -> Result<(), Failure> {
        if !self.are_counted {
            return Ok(());
        }
        let counts = set.counts()?;
        for opened in set.events() {
            let key = (EventKey::of(&opened), opened.place);
            self.written.entry(key).or_default().id = opened.event.id()?;
        }
        for (index, event) in counts.iter().enumerate() {
            for place in event.places() {
                let key = EventKey { index, pmu: place.pmu.as_deref().map(str::to_owned) };
                let (Some(lost), Some(at)) = (place.count.lost, described.index_of(&key)) else { continue };
                // An event that was closed before the first loss has no entry, and any id of it will do.
                let written = self
                    .written
                    .entry((key, place.place))
                    .or_insert_with(|| Written { id: described.any_id(at), lost: 0 });
                writer.write_lost_samples(at, written.id, lost.saturating_sub(written.lost), time)?;
                written.lost = lost;
            }
        }
        Ok(())
    }
}
