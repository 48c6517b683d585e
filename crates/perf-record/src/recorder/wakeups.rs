//! Selects the wakeups of the recorded tasks from the wakeups on all CPUs.

use perf_session::ring::decode::Window;
use perf_session::ring::{Record, RecordType, SampleLayout};
use perf_session::tracepoint::{FormatError, IntegerField};
use perf_session::{EventSet, ObservedTasks, System, Tracefs, TracefsError};

/// The tracepoint of wakeups: its category, its name, and its field with the woken thread. It marks
/// the time from which the thread waits for a CPU.
pub const WAKEUPS: [&str; 3] = ["sched", "sched_wakeup", "pid"];

/// Selects records of the event with the times of wakeups.
#[derive(Debug)]
pub(super) struct WakeupFilter {
    layout: SampleLayout,
    /// Field of the woken thread in the payload of a sample.
    woken: IntegerField,
    kept: Vec<u64>,
}

impl WakeupFilter {
    /// Creates the filter for the system-wide event of a set; `None` without such an event.
    pub(super) fn new(set: &EventSet, system: &System) -> Result<Option<Self>, TracefsError> {
        let Some(open) = set.events().find(|open| open.scope.is_system_wide()) else { return Ok(None) };
        let layout = SampleLayout::new(open.event.attr());
        let [category, name, field] = WAKEUPS;
        let tracepoint = Tracefs::find(system)?.tracepoint(category, name)?;
        let woken = tracepoint.format().and_then(|format| format.integer(field));
        let malformed = |error: FormatError| TracefsError::Format { path: name.into(), error };
        Ok(Some(Self { layout, woken: woken.map_err(malformed)?, kept: Vec::new() }))
    }

    /// Removes the wakeups of tasks that are not recorded, because their payload names those tasks.
    /// If losses are counted elsewhere, also removes the `LOST` records; a wait whose wakeup was
    /// lost then lacks it. With `None`, all tasks are recorded. Returns whether there was a loss.
    pub(super) fn choose(
        &mut self,
        words: &mut Vec<u64>,
        tasks: Option<&ObservedTasks>,
        keeps_losses: bool,
    ) -> bool {
        let mut has_lost = false;
        self.kept.clear();
        for record in Window::from_slices(words, &[]).records(&mut []).map_while(Result::ok) {
            let is_kept = match record.decode(&self.layout) {
                Ok(Record::Sample(_)) if tasks.is_none() => true,
                Ok(Record::Sample(sample)) => {
                    let woken = sample.raw().and_then(|payload| self.woken.read_u64(payload));
                    woken.zip(tasks).is_some_and(|(tid, tasks)| tasks.contains(tid as u32))
                }
                Ok(Record::Lost(_)) => {
                    has_lost = true;
                    keeps_losses
                }
                // The tasks of a malformed sample are unknown.
                Err(_) => record.kind() != RecordType::SAMPLE,
                Ok(_) => true,
            };
            if is_kept {
                self.kept.extend_from_slice(record.words());
            }
        }
        std::mem::swap(words, &mut self.kept);
        has_lost
    }
}
