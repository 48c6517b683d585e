//! The waits for locks in a recording.

use std::error::Error;
use std::{fmt, io};

use perf_decode::Record;
use perf_symbols::FileFinder;

use super::{Damage, Filter, Metadata, Progress, Recording, resolver};
use crate::collect::Collector;
use crate::locks::{LockEvent, Locks};
use crate::profile::{Profile, ProfileBuilder, StackId};

/// Sums up how long threads wait for locks in a recording of `syscalls:sys_enter_futex` and
/// `sys_exit_futex`, of `lock:contention_begin` and `contention_end`, or of both; with callchains,
/// where they wait.
///
/// ```no_run
/// use perf_profile::read::{LocksReader, Recording};
///
/// fn main() -> std::io::Result<()> {
///     let read = LocksReader::new(Recording::open("perf.data")?)?.read()?;
///     for (lock, stack, waits) in read.locks.waits() {
///         let innermost = read.profile.stack(stack).next();
///         println!("{lock:?} {innermost:?}: {} ns", waits.waits.total());
///     }
///     read.finish()
/// }
/// ```
pub struct LocksReader {
    recording: Recording,
    /// Events by their index in the file.
    events: Vec<Option<LockEvent>>,
    filter: Filter,
    finder: Option<FileFinder>,
    max_frames: Option<usize>,
    progress: Option<Box<dyn FnMut(Progress)>>,
}

impl fmt::Debug for LocksReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocksReader").field("recording", &self.recording).finish_non_exhaustive()
    }
}

/// The reason why the waits for locks are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocksError {
    /// The recording has no events of locks.
    NoLocks,
}

impl fmt::Display for LocksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLocks => f.write_str(
                "the recording has no events of locks; `perfkit locks -o FILE CMD`, `perf lock record`, or \
                 `perfkit record -g -e syscalls:sys_enter_futex,syscalls:sys_exit_futex` make one that has",
            ),
        }
    }
}

impl Error for LocksError {}

impl From<LocksError> for io::Error {
    fn from(error: LocksError) -> Self {
        Self::other(error)
    }
}

/// The waits for locks, with the metadata of their recording. Call [`finish`](Self::finish) after
/// use.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadLocks {
    /// The metadata of the recording.
    pub metadata: Metadata,
    /// The waits, with their stacks in [`profile`](Self::profile).
    pub locks: Locks<Option<StackId>>,
    /// The stacks with their names, what they lack, and no samples.
    pub profile: Profile,
    /// True if futexes were recorded.
    pub has_user: bool,
    /// True if locks of the kernel were recorded.
    pub has_kernel: bool,
    /// Records that came after a record of a later time.
    pub late: u64,
    name: String,
    damage: Damage,
}

impl LocksReader {
    /// Finds the events in a recording.
    ///
    /// # Errors
    ///
    /// [`LocksError::NoLocks`] as the inner error.
    pub fn new(recording: Recording) -> io::Result<Self> {
        let about = recording.metadata();
        let tracepoints = about.tracepoints();
        let find = |attr| LockEvent::new(attr, tracepoints.find(attr)?);
        let events: Vec<_> = about.events().map(|(_, attr)| find(attr)).collect();
        if events.iter().flatten().next().is_none() {
            return Err(LocksError::NoLocks.into());
        }
        let filter = Filter::default();
        Ok(Self { recording, events, filter, finder: None, max_frames: None, progress: None })
    }

    /// Returns the metadata of the recording.
    pub fn metadata(&self) -> &Metadata {
        self.recording.metadata()
    }

    /// Leaves out the samples that the filter rejects.
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// Finds the mapped files by this finder instead of [`Metadata::finder`].
    #[must_use]
    pub fn with_finder(self, finder: FileFinder) -> Self {
        Self { finder: Some(finder), ..self }
    }

    /// Follows at most this many user frames of a stack copy, 1024 by default.
    #[must_use]
    pub fn with_max_frames(self, frames: usize) -> Self {
        Self { max_frames: Some(frames), ..self }
    }

    /// Calls `report` while records are read, and before functions are named.
    #[must_use]
    pub fn on_progress(self, report: impl FnMut(Progress) + 'static) -> Self {
        Self { progress: Some(Box::new(report)), ..self }
    }

    /// Reads the recording. Damage does not fail, because the other records are used;
    /// [`ReadLocks::finish`] returns it.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the system cannot start a thread.
    pub fn read(self) -> io::Result<ReadLocks> {
        let Self { recording, events, filter, finder, max_frames, progress } = self;
        let (metadata, mut records) = recording.in_time_order();
        let finder = finder.unwrap_or_else(|| metadata.finder());
        let mut resolver = resolver(&metadata, finder, true)?.with_missing_callers();
        if let Some(frames) = max_frames {
            resolver.unwinder_mut().set_max_frames(frames);
        }
        let mut collector = Collector::new(resolver, ProfileBuilder::new());
        let mut locks = Locks::new();
        if let Some(report) = progress {
            records.on_progress(report);
        }
        while let Some(next) = records.next_decoded(collector.spaces_mut()) {
            let Some((record, decoded)) = next else { continue };
            collector.update(&decoded);
            locks.update(&decoded);
            if let Record::Sample(sample) = &decoded
                && let Ok((index, _)) = record.event()
                && let Some(event) = events.get(index).and_then(Option::as_ref)
                && (filter.is_empty() || filter.matches(collector.spaces(), sample))
            {
                locks.add(event, sample, || collector.stack(sample));
            }
        }
        let end = metadata.sample_time.map_or(0, |time| time.last);
        locks.finish(if filter.needs_time() { 0 } else { end });
        let late = records.late();
        records.report(Progress::Naming);
        let profile = collector.finish();
        let is_user = |wanted| events.iter().flatten().any(|event| event.is_user() == wanted);
        let (has_user, has_kernel) = (is_user(true), is_user(false));
        let (name, damage) = records.into_damage();
        Ok(ReadLocks { metadata, locks, profile, has_user, has_kernel, late, name, damage })
    }
}

impl ReadLocks {
    /// Returns an error if the recording is damaged, so that the sums are incomplete.
    ///
    /// # Errors
    ///
    /// One line with the name of the file, the first damage, and the number of errors.
    pub fn finish(self) -> io::Result<()> {
        self.damage.into_result(&self.name)
    }
}
