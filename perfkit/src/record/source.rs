//! The events of a recording and what they have lost.

use std::sync::Arc;

use perf_session::ring::{Attr, RawRecord, RecordType, SampleLayout};
use perf_session::{EventSet, EventSetError, LossLedger, ObservedTasks, SampleRepair};

use super::Failure;
use super::features::Described;
use super::losses::Losses;
use super::wakeups::WakeupFilter;

/// The open events, whose records an output takes.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) set: EventSet,
    pub(super) described: Described,
    pub(super) losses: Losses,
    /// Gives the samples of software events that others sample, too, the ids of this recording.
    pub(super) repair: SampleRepair,
    /// Chooses wakeups of recorded tasks.
    pub(super) wakeups: Option<WakeupFilter>,
    /// The tasks that are recorded now; `None` if all tasks of CPUs are.
    pub(super) tasks: Option<ObservedTasks>,
    /// The attr of the first event, which writes the side-band records.
    pub(super) attr: Attr,
    /// The layout of the first event. The times of all events are at the same place.
    pub(super) layout: SampleLayout,
}

/// The output of a recording.
pub(super) trait Sink {
    /// Takes the unread records of all rings.
    fn drain(&mut self, source: &mut Source) -> Result<(), Failure>;

    /// Learns the ids of events that were opened.
    fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<(), Failure>;

    /// Returns whether what was written is as large as the user wants one part.
    fn is_full(&self) -> bool;

    /// Ends a part of the output and begins the next. Each record is in one of them.
    fn switch(&mut self, source: &mut Source) -> Result<(), Failure>;

    /// Ends the output.
    fn finish(&mut self, source: &mut Source) -> Result<(), Failure>;
}

impl Source {
    pub(super) fn new(
        set: EventSet,
        described: Described,
        tasks: Option<ObservedTasks>,
        wakeups: Option<WakeupFilter>,
    ) -> Result<Self, EventSetError> {
        let attr = described.events.first().map(|event| event.attr).unwrap_or_default();
        let (losses, layout) = (Losses::new(&set), SampleLayout::new(&attr));
        let repair = set.sample_repair()?;
        Ok(Self { set, described, losses, repair, wakeups, tasks, attr, layout })
    }

    /// Closes the events, and returns what was lost.
    pub(super) fn close(self) -> LossLedger {
        let known = self.set.ledger().clone();
        // Without the last losses if an event cannot be read.
        self.set.close().unwrap_or(known)
    }
}

/// Returns the name of the event of a record that reports a loss of this event.
pub(super) fn event_of(
    described: &Described,
    record: RawRecord<'_>,
    layout: &SampleLayout,
) -> Option<Arc<str>> {
    let kinds = [RecordType::THROTTLE, RecordType::UNTHROTTLE, RecordType::LOST_SAMPLES];
    if !kinds.contains(&record.kind()) {
        return None;
    }
    described.name_of(record.id(layout)?).map(Arc::from)
}
