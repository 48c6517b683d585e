//! The open events of a recording, and the state that all its parts share.

mod described;
mod losses;
mod pass;
mod recording;
mod snapshot;
mod threads;
mod wakeups;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::process::{Child, Command};
use std::time::Duration;

use perf_file::writer::{Features, RecordedEvent};
use perf_session::ring::decode::LostCounts;
use perf_session::ring::{Attr, AttrFlags, RawRecord, RecordType, SampleLayout, WaitResult};
use perf_session::{
    EventSet, EventSetError, FileError, LossLedger, ObservedTasks, Refreshed, RingKey, SampleRepair, System,
};

use crate::RecordError;
use crate::synthesize::{LoadedProgram, Missing, Synthesizer};
use described::Described;
use losses::Losses;
use wakeups::WakeupFilter;

pub use losses::Lost;
pub use recording::{Recorded, Recording};
pub use snapshot::Snapshot;
pub use wakeups::WAKEUPS;

/// Flags of the side-band event that request more records of the state before the recording.
/// `BUILD_ID` is not among them, because a reader decodes records without an id by the first event,
/// which decides the form of their `MMAP2`. The build ids are in their own section as well.
const DESCRIBED: AttrFlags = AttrFlags::MMAP_DATA
    .union(AttrFlags::NAMESPACES)
    .union(AttrFlags::CGROUP)
    .union(AttrFlags::KSYMBOL)
    .union(AttrFlags::BPF_EVENT);

/// Records an [`EventSet`] into one `perf.data` file, or into several in sequence.
///
/// Records are written as they are in the rings, without decoding, except:
///
/// - A sample to which the kernel gave the id of another program's event gets back the id of its
///   event. If several events may have written it, it is removed and counted as lost (kernel
///   errata, "Id and time of another software event").
/// - Losses are counted by event, exactly: the samples and the losses of an event sum to its count.
///   `LOST` records, which name the wrong event, stay as the times of losses with a count of 0.
///   Before Linux 6.0 they are the only source, and stay unchanged.
/// - A set of tasks may have one [system-wide](perf_session::EventSpec::system_wide) event, the
///   tracepoint [`WAKEUPS`]. Only its hits about the tasks are written.
///
/// All events need the same sample fields up to `TIME`, with `IDENTIFIER`, and the flag
/// `SAMPLE_ID_ALL`, so that a reader finds the event of each record. One of them needs the flags of
/// side-band records. [`recorded`](crate::recorded) adds all of these.
///
/// Only the recorder reads the set. Its events may use any clock; with
/// [`Clock::MONOTONIC`](perf_session::ring::Clock::MONOTONIC) the recording has the wall clock too.
pub struct Recorder {
    set: EventSet,
    described: Described,
    losses: Losses,
    /// Restores the ids of this recording in samples of software events that others sample, too.
    repair: SampleRepair,
    /// Chooses wakeups of recorded tasks.
    wakeups: Option<WakeupFilter>,
    /// Tasks that are recorded now; `None` if all tasks of CPUs are recorded.
    tasks: Option<ObservedTasks>,
    /// Attr of the first event, with the [`DESCRIBED`] flags that any event has. Synthesized
    /// records have its trailer.
    attr: Attr,
    /// Layout of the first event. The times of all events are at the same offset.
    layout: SampleLayout,
    system: System,
    /// Sections that are known before the first record. They are read once.
    features: Option<Features>,
    /// Facts that are missing from the features.
    missing: Vec<Missing>,
    /// Whether recordings have the states of the threads that were there before.
    has_threads: bool,
    programs: Box<dyn FnMut() -> io::Result<Vec<LoadedProgram>> + Send>,
    /// Head of the last snapshot of each overwritten ring, in bytes.
    heads: HashMap<RingKey, u64>,
    copy: Vec<u64>,
}

impl Recorder {
    /// Creates a recorder of open events with rings. The events may be disabled or enabled.
    ///
    /// # Errors
    ///
    /// [`RecordError::Events`] if the id of an event cannot be read, and [`RecordError::Tracefs`]
    /// if the set has a system-wide event but the format of [`WAKEUPS`] cannot be read.
    pub fn new(set: EventSet, system: &System) -> Result<Self, RecordError> {
        let described = Described::new(&set)?;
        let attrs = || described.events.iter().map(|event| event.attr);
        let first = attrs().next().unwrap_or_default();
        let attr = first.with_flags(DESCRIBED.intersection(attrs().map(|attr| attr.flags).collect()));
        let is_of_task = |scope: perf_session::Scope| !scope.is_system_wide() && scope.thread_id().is_some();
        let has_tasks = set.events().any(|open| is_of_task(open.scope));
        Ok(Self {
            losses: Losses::new(&set),
            repair: set.sample_repair()?,
            wakeups: WakeupFilter::new(&set, system)?,
            tasks: has_tasks.then(|| set.observed_tasks(system)),
            layout: SampleLayout::new(&first),
            system: system.clone(),
            features: None,
            missing: Vec::new(),
            has_threads: false,
            programs: Box::new(|| Ok(Vec::new())),
            heads: HashMap::new(),
            copy: Vec::new(),
            set,
            described,
            attr,
        })
    }

    /// Names the BPF programs that were loaded before a recording. `programs` is called at the
    /// start of each recording and lists them by `bpf(2)`, as the crate `perf-bpf` does. By
    /// default, samples in such programs have no names.
    #[must_use]
    pub fn with_bpf_programs(
        mut self,
        programs: impl FnMut() -> io::Result<Vec<LoadedProgram>> + Send + 'static,
    ) -> Self {
        self.programs = Box::new(programs);
        self
    }

    /// Adds the threads that are there when a recording begins, and where they wait, as the section
    /// [`THREAD_STATES`](perf_file::format::Feature::THREAD_STATES): the observed threads, or all
    /// threads of the machine if the events are not for tasks. A thread that waits all the time
    /// writes no record.
    ///
    /// Use it for events with [`Clock::MONOTONIC`](perf_session::ring::Clock::MONOTONIC), which is
    /// the clock of its times. The pipe form has no such section.
    #[must_use]
    pub fn with_thread_states(self) -> Self {
        Self { has_threads: true, ..self }
    }

    /// Returns the set of open events.
    pub const fn set(&self) -> &EventSet {
        &self.set
    }

    /// Returns the set mutably, to wait for records, and to enable, disable and refresh the events.
    ///
    /// After you [refresh](EventSet::refresh) events, call [`learn_ids`](Self::learn_ids).
    pub const fn set_mut(&mut self) -> &mut EventSet {
        &mut self.set
    }

    /// Returns the events as a recording describes them: one for each PMU of a logical event, with
    /// the ids of all CPUs and threads.
    pub fn events(&self) -> &[RecordedEvent] {
        &self.described.events
    }

    /// Returns the tasks that are recorded now; `None` if all tasks of CPUs are recorded.
    pub const fn tasks(&self) -> Option<&ObservedTasks> {
        self.tasks.as_ref()
    }

    /// Returns whether the set has a system-wide event, which is open on all CPUs, whatever is
    /// recorded. If so, [refresh](EventSet::refresh) its CPUs.
    pub const fn has_wakeups(&self) -> bool {
        self.wakeups.is_some()
    }

    /// Returns the feature sections of each recording, without the sections that depend on its
    /// records. The first call, or else the start of the first recording, reads the description of
    /// the machine.
    ///
    /// The sections include the command line of this program.
    /// [`VERSION`](perf_file::format::Feature::VERSION) is the version of this crate, which a
    /// program replaces by its name and version.
    pub fn features_mut(&mut self) -> &mut Features {
        self.described().1
    }

    /// Returns the facts that are missing from the [features](Self::features_mut), and so from each
    /// recording.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    fn described(&mut self) -> (&[RecordedEvent], &mut Features) {
        let Self { features, described, system, missing, .. } = self;
        let features = features.get_or_insert_with(|| described.features(system, missing));
        (&described.events, features)
    }

    /// Returns the records of the state before a recording, or before a later part of it, and the
    /// list of what cannot be read. For programs that use the records directly; a [`Recording`]
    /// begins with them.
    ///
    /// # Errors
    ///
    /// [`FileError`] if `/proc` cannot be read.
    pub fn synthesize(&mut self) -> Result<(Synthesizer, Vec<Missing>), FileError> {
        let (mut synthesizer, mut missing) = (Synthesizer::new(&self.system, &self.attr), Vec::new());
        if self.attr.flags.contains(AttrFlags::CGROUP) {
            missing.extend(synthesizer.cgroups().err().map(Missing::Cgroups));
        }
        let mut events = self.described.events.iter();
        let has_kernel = events.any(|event| !event.attr.flags.contains(AttrFlags::EXCLUDE_KERNEL));
        let processes = self.tasks.as_ref().map(ObservedTasks::processes);
        missing.extend(synthesizer.running(processes.as_ref(), has_kernel, &mut self.programs)?);
        Ok((synthesizer, missing))
    }

    /// Starts the command of a set whose target is a
    /// [command](perf_session::EventSetTarget::command), as [`EventSet::spawn`] does.
    ///
    /// # Errors
    ///
    /// The errors of [`EventSet::spawn`].
    pub fn spawn(&mut self, command: &mut Command) -> Result<Child, EventSetError> {
        let child = self.set.spawn(command)?;
        self.add_process(child.id());
        Ok(child)
    }

    /// Notes the process of a command that was started by [`EventSet::spawn`], because later parts
    /// of the recording and the filter of wakeups need it. Does nothing for a set of CPUs.
    pub fn add_process(&mut self, pid: u32) {
        if let Some(tasks) = &mut self.tasks {
            tasks.add(pid, pid);
        }
    }

    /// Reads the ids of the events that were opened since the start or the last call. Returns the
    /// new ids, with the index of the event in [`events`](Self::events). Pass them to
    /// [`Recording::add_ids`].
    ///
    /// # Errors
    ///
    /// [`EventSetError`] if the id of an event cannot be read.
    pub fn learn_ids(&mut self) -> Result<Vec<(usize, Vec<u64>)>, EventSetError> {
        self.repair.update(&self.set)?;
        self.described.add_new_ids(&self.set)
    }

    /// Opens the events of CPUs that came online, as [`EventSet::refresh`] does, and adds their ids
    /// to the recording.
    ///
    /// # Errors
    ///
    /// The errors of [`EventSet::refresh`], and [`RecordError::Write`].
    pub fn refresh<W: io::Write>(&mut self, recording: &mut Recording<W>) -> Result<Refreshed, RecordError> {
        let refreshed = self.set.refresh()?;
        for (event, ids) in self.learn_ids()? {
            recording.add_ids(event, &ids)?;
        }
        Ok(refreshed)
    }

    /// Waits for records for at most `timeout`, and writes them into the recording.
    ///
    /// # Errors
    ///
    /// The errors of [`EventSet::wait`] and of [`drain`](Self::drain).
    pub fn wait_and_drain<W: io::Write>(
        &mut self,
        recording: &mut Recording<W>,
        timeout: Duration,
    ) -> Result<WaitResult, RecordError> {
        let readiness = self.set.wait(Some(timeout))?;
        self.drain(recording)?;
        Ok(readiness)
    }

    /// Takes the unread records of all rings in time order, for a program that uses them directly
    /// instead of a [`Recording`]. Samples have the ids of their events. If the events count their
    /// losses, `LOST` records are left out; [`take_lost`](Self::take_lost) returns the counts.
    ///
    /// # Errors
    ///
    /// The errors of [`EventSet::flush_sorted`].
    pub fn flush_sorted(&mut self, mut f: impl FnMut(RawRecord<'_>)) -> Result<(), EventSetError> {
        let Self { set, losses, repair, copy, .. } = self;
        let mut removed = Vec::new();
        set.flush_sorted(|record| match record.raw().kind() {
            RecordType::LOST if losses.are_counted => {}
            RecordType::SAMPLE => {
                copy.clear();
                copy.extend_from_slice(record.raw().words());
                if !repair.attribute(record.key(), copy) {
                    removed.push(record.key());
                } else if let Ok(record) = RawRecord::from_words(copy) {
                    f(record);
                }
            }
            _ => f(record.raw()),
        })?;
        losses.add_unattributed(removed.len() as u64);
        let (_, ledger) = set.rings_and_ledger()?;
        for ring in removed {
            ledger.note_unattributed(ring, 1);
        }
        Ok(())
    }

    /// Returns the losses of each event since the last call, or since the end of the last
    /// [`Recording`], for a program that uses the records directly. Before Linux 6.0 events do not
    /// count their losses, so the result has only removed samples.
    ///
    /// # Errors
    ///
    /// [`EventSetError`] if an event cannot be read.
    pub fn take_lost(&mut self) -> Result<Vec<Lost>, EventSetError> {
        self.losses.take(&self.set, &self.described)
    }

    /// Closes the events, and returns each loss by CPU or thread and event, with the sum as the
    /// recording has it.
    pub fn close(self) -> (LossLedger, LostCounts) {
        let known = self.set.ledger().clone();
        // If an event cannot be read, the losses since the last read are missing.
        let ledger = self.set.close().unwrap_or(known);
        let lost = self.losses.recorded(&ledger);
        (ledger, lost)
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("set", &self.set).field("tasks", &self.tasks).finish_non_exhaustive()
    }
}
