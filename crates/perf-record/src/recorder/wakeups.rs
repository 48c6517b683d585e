//! The wakeups of the recorded tasks, among those of all CPUs.

use perf_session::ring::decode::Window;
use perf_session::ring::{Record, RecordType, SampleLayout};
use perf_session::tracepoint::{FormatError, IntegerField};
use perf_session::{EventSet, ObservedTasks, System, Tracefs, TracefsError};

/// The tracepoint of wakeups: its category, its name, and its field with the woken thread. From its time on, the kernel counts
/// that the thread waits for a CPU.
pub const WAKEUPS: [&str; 3] = ["sched", "sched_wakeup", "pid"];

/// Chooses records of the event with the times of wakeups.
#[derive(Debug)]
pub(super) struct WakeupFilter {
    layout: SampleLayout,
    /// The woken thread, in the payload of a sample.
    woken: IntegerField,
    kept: Vec<u64>,
}

impl WakeupFilter {
    /// Makes the filter of the system-wide event of a set; `None` without such an event.
    pub(super) fn new(set: &EventSet, system: &System) -> Result<Option<Self>, TracefsError> {
        let Some(open) = set.events().find(|open| open.scope.is_system_wide()) else { return Ok(None) };
        let layout = SampleLayout::new(open.event.attr());
        let [category, name, field] = WAKEUPS;
        let tracepoint = Tracefs::find(system)?.tracepoint(category, name)?;
        let woken = tracepoint.format().and_then(|format| format.integer(field));
        let malformed = |error: FormatError| TracefsError::Format { path: name.into(), error };
        Ok(Some(Self { layout, woken: woken.map_err(malformed)?, kept: Vec::new() }))
    }

    /// Removes the wakeups of tasks that are not recorded, whose names are in the payload, and the places of losses if they are
    /// counted elsewhere: a wait whose wakeup is lost has none. Without tasks, all are recorded. Returns whether there was a loss.
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
                // Its tasks are unknown.
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
