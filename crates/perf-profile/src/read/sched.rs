//! The scheduling of threads and CPUs in a recording.

use std::error::Error;
use std::{fmt, io};

use perf_abi::AttrFlags;
use perf_decode::Record;
use rustc_hash::FxHashSet;

use super::{Damage, Filter, Metadata, Progress, Recording};
use crate::sched::{SchedEvent, SchedSummary};

/// Sums up how long threads run, sleep and wait for a CPU in a recording: of `perf sched record`,
/// of the tracepoint `sched:sched_switch` on all CPUs, or with less detail of context switches.
///
/// ```no_run
/// use perf_profile::read::{Recording, SchedReader};
///
/// fn main() -> std::io::Result<()> {
///     let read = SchedReader::new(Recording::open("perf.data")?)?.read();
///     for (tid, thread) in read.summary.threads() {
///         let waits = &thread.waits;
///         println!("{tid} waited {} ns for a CPU, {} ns at once", waits.total(), waits.max());
///     }
///     read.finish()
/// }
/// ```
pub struct SchedReader {
    recording: Recording,
    /// Events by their index in the file.
    events: Vec<Option<SchedEvent>>,
    filter: Filter,
    ancestors: FxHashSet<u32>,
    progress: Option<Box<dyn FnMut(Progress)>>,
}

impl fmt::Debug for SchedReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedReader").field("recording", &self.recording).finish_non_exhaustive()
    }
}

/// The reason why the scheduling of threads is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchedError {
    /// The recording has no switches of threads.
    NoSwitches,
}

impl fmt::Display for SchedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSwitches => f.write_str(
                "the recording has no switches of threads; `perf sched record`, or \
                 `perfkit record -a -e sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new` make one that has",
            ),
        }
    }
}

impl Error for SchedError {}

impl From<SchedError> for io::Error {
    fn from(error: SchedError) -> Self {
        Self::other(error)
    }
}

/// The scheduling of threads, with the metadata of its recording. Call [`finish`](Self::finish)
/// after use.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadSched {
    /// The metadata of the recording.
    pub metadata: Metadata,
    /// The sums of threads and CPUs.
    pub summary: SchedSummary,
    /// The processes that were [asked for](SchedReader::with_ancestors), and their descendants.
    pub processes: FxHashSet<u32>,
    /// True if wakeups were recorded. Without them, a sleep includes the wait for a CPU after it.
    pub has_wakeups: bool,
    /// True if the switches are from `sched:sched_switch`.
    pub has_switches: bool,
    /// Records that came after a record of a later time.
    pub late: u64,
    name: String,
    damage: Damage,
}

impl SchedReader {
    /// Finds the events in a recording. Of `sched:sched_wakeup` and `sched:sched_waking`, the first
    /// one is used if there are both, because the second one may be of some threads alone.
    ///
    /// # Errors
    ///
    /// [`SchedError::NoSwitches`] as the inner error.
    pub fn new(recording: Recording) -> io::Result<Self> {
        let about = recording.metadata();
        let tracepoints = about.tracepoints();
        let find = |attr| SchedEvent::new(attr, tracepoints.find(attr)?);
        let mut events: Vec<_> = about.events().map(|(_, attr)| find(attr)).collect();
        let has =
            |events: &[Option<SchedEvent>], is: fn(&SchedEvent) -> bool| events.iter().flatten().any(is);
        let has_switch_records =
            about.events().any(|(_, attr)| attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
        if !has_switch_records && !has(&events, SchedEvent::is_switch) {
            return Err(SchedError::NoSwitches.into());
        }
        if has(&events, SchedEvent::is_wakeup) {
            for event in &mut events {
                *event = event.filter(|event| !event.is_waking());
            }
        }
        let (filter, ancestors) = (Filter::default(), FxHashSet::default());
        Ok(Self { recording, events, filter, ancestors, progress: None })
    }

    /// Leaves out the records at times that the filter rejects. Its other parts are ignored: choose
    /// among the threads of the summary.
    #[must_use]
    pub fn with_times(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Follows the descendants of these processes, for [`ReadSched::processes`].
    #[must_use]
    pub fn with_ancestors(self, pids: impl IntoIterator<Item = u32>) -> Self {
        Self { ancestors: pids.into_iter().collect(), ..self }
    }

    /// Calls `report` while records are read.
    #[must_use]
    pub fn on_progress(self, report: impl FnMut(Progress) + 'static) -> Self {
        Self { progress: Some(Box::new(report)), ..self }
    }

    /// Reads the recording. Damage does not fail, because the other records are used;
    /// [`ReadSched::finish`] returns it.
    pub fn read(self) -> ReadSched {
        let Self { recording, events, filter, ancestors: mut processes, progress } = self;
        let has = |is: fn(&SchedEvent) -> bool| events.iter().flatten().any(is);
        let (has_switches, counts_migrations) = (has(SchedEvent::is_switch), has(SchedEvent::is_migration));
        let has_wakeups = has(SchedEvent::is_wakeup) || has(SchedEvent::is_waking);
        let mut summary = SchedSummary::new(counts_migrations);
        let (metadata, mut records) = recording.in_time_order();
        if let Some(report) = progress {
            records.on_progress(report);
        }
        let mut damaged = None;
        loop {
            if let Some(error) = damaged.take() {
                records.skip(&error);
            }
            let Some(record) = records.next() else { break };
            if record.kernel().is_none() {
                continue;
            }
            let decoded = match record.decode() {
                Ok(decoded) => decoded,
                Err(error) => {
                    damaged = Some(error);
                    continue;
                }
            };
            if let Record::Fork(fork) = &decoded
                && processes.contains(&fork.ppid())
            {
                processes.insert(fork.pid());
            }
            // Names and processes are needed whenever they were recorded.
            let is_event =
                matches!(decoded, Record::Sample(_) | Record::Switch(_) | Record::SwitchCpuWide(_));
            if is_event && !filter.by_time(decoded.time().unwrap_or(0)) {
                continue;
            }
            let event = || events.get(record.event().ok()?.0)?.as_ref();
            match &decoded {
                Record::LostSamples(lost) if event().is_some_and(|event| !event.is_switch()) => {
                    summary.note_lost_wakeups(lost.lost());
                }
                _ => summary.update(&decoded, has_switches),
            }
            if let Record::Sample(sample) = &decoded
                && let Some(event) = event()
            {
                summary.add(event, sample);
            }
        }
        let end = metadata.sample_time.map_or(0, |time| time.last);
        summary.finish(if filter.needs_time() { 0 } else { end });
        let late = records.late();
        let (name, damage) = records.into_damage();
        ReadSched { metadata, summary, processes, has_wakeups, has_switches, late, name, damage }
    }
}

impl ReadSched {
    /// Returns an error if the recording is damaged, so that the sums are incomplete.
    ///
    /// # Errors
    ///
    /// One line with the name of the file, the first damage, and the number of errors.
    pub fn finish(self) -> io::Result<()> {
        self.damage.into_result(&self.name)
    }
}
