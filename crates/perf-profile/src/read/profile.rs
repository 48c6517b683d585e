//! The profile of a recording.

use std::path::Path;
use std::{fmt, io};

use perf_abi::regs::Architecture;
use perf_decode::Record;
use perf_symbols::FileFinder;

use super::off_cpu::{Finished, OffCpuPlan};
use super::{Damage, Filter, Members, Metadata, Payloads, Progress, Recording};
use crate::collect::{Collector, Resolver, Split};
use crate::profile::{Event, Profile, ProfileBuilder};
use crate::view::{Column, TableSums};

/// Reads a recording into a profile.
///
/// ```no_run
/// use perf_profile::Folded;
/// use perf_profile::read::ProfileReader;
///
/// fn main() -> std::io::Result<()> {
///     let read = ProfileReader::open("perf.data")?.read()?;
///     for (event, _) in read.profile.event_ids() {
///         Folded::new(event).write(&read.profile, &mut std::io::stdout())?;
///     }
///     read.profile.losses().lines().iter().for_each(|loss| eprintln!("{loss}"));
///     read.finish()
/// }
/// ```
pub struct ProfileReader {
    recording: Recording,
    filter: Filter,
    finder: Option<FileFinder>,
    has_lines: bool,
    max_frames: Option<usize>,
    waits: Option<OffCpuPlan>,
    /// Chosen events, by their index in `event_names`.
    chosen: Option<Vec<bool>>,
    builder: ProfileBuilder,
    /// Columns of the table that is kept instead of the stacks.
    columns: Option<Vec<Column>>,
    split: Split,
    has_payloads: bool,
    progress: Option<Box<dyn FnMut(Progress)>>,
}

impl fmt::Debug for ProfileReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProfileReader").field("recording", &self.recording).finish_non_exhaustive()
    }
}

/// A profile with the metadata of its recording. Call [`finish`](Self::finish) after use.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadProfile {
    /// The metadata of the recording.
    pub metadata: Metadata,
    /// Samples of the chosen events, which are in the order of the metadata. With
    /// [waits](ProfileReader::with_waits), the events of waits replace the switches.
    pub profile: Profile,
    /// The table, if [requested](ProfileReader::with_table).
    pub table: Option<TableSums>,
    /// Payloads of tracepoints, if [requested](ProfileReader::with_payloads).
    pub payloads: Payloads,
    /// Notes about unknown parts of waits, one sentence each.
    pub notes: Vec<String>,
    name: String,
    damage: Damage,
}

impl ProfileReader {
    /// Opens a recording: see [`Recording::open`].
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the file cannot be opened or is not a recording.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Recording::open(path).map(Self::new)
    }

    /// Reads an opened recording.
    pub fn new(recording: Recording) -> Self {
        Self {
            recording,
            filter: Filter::default(),
            finder: None,
            has_lines: true,
            max_frames: None,
            waits: None,
            chosen: None,
            builder: ProfileBuilder::new(),
            columns: None,
            split: Split::default(),
            has_payloads: false,
            progress: None,
        }
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

    /// Leaves out inlined functions and source lines, which takes less time and memory.
    #[must_use]
    pub fn without_lines(self) -> Self {
        Self { has_lines: false, ..self }
    }

    /// Follows at most this many user frames of a stack copy, 1024 by default.
    #[must_use]
    pub fn with_max_frames(self, frames: usize) -> Self {
        Self { max_frames: Some(frames), ..self }
    }

    /// Adds the samples to a builder without samples, such as one with
    /// [times](ProfileBuilder::with_times).
    #[must_use]
    pub fn with_builder(self, builder: ProfileBuilder) -> Self {
        Self { builder, columns: None, ..self }
    }

    /// Keeps the sums of a table instead of the stacks: see [`Collector::with_table`]. Do not
    /// combine it with [waits](Self::with_waits), which need the stacks.
    #[must_use]
    pub fn with_table(self, columns: &[Column]) -> Self {
        Self { columns: Some(columns.to_vec()), ..self }
    }

    /// Splits threads by properties of their samples, for tables and stacks by these.
    #[must_use]
    pub fn with_split(self, split: Split) -> Self {
        Self { split, ..self }
    }

    /// Keeps the payloads of the samples of tracepoints, too.
    #[must_use]
    pub fn with_payloads(self) -> Self {
        Self { has_payloads: true, ..self }
    }

    /// Computes how long threads wait, instead of samples of switches, and with `has_wakers` also
    /// the stacks of the wakers: see [`Waits`](crate::Waits). A file is read twice. If the recorder
    /// has computed the waits, the recording is read unchanged.
    ///
    /// # Errors
    ///
    /// [`OffCpuError::NoSwitches`](super::OffCpuError::NoSwitches) or
    /// [`NoWakers`](super::OffCpuError::NoWakers) as the inner error if the recording lacks them,
    /// or [`io::Error`] if it cannot be read again.
    pub fn with_waits(self, has_wakers: bool) -> io::Result<Self> {
        Ok(Self { waits: OffCpuPlan::new(&self.recording, has_wakers)?, ..self })
    }

    /// Makes a profile of the whole time of threads, with the one event
    /// [`WallTime::EVENT`](crate::WallTime::EVENT). The samples of the first chosen event that
    /// counts while threads run show where they ran. The recording is read twice, like a profile of
    /// [waits](Self::with_waits).
    ///
    /// # Errors
    ///
    /// [`OffCpuError::NoSwitchRecords`](super::OffCpuError::NoSwitchRecords) as the inner error if
    /// the recording lacks them, or [`io::Error`] if it cannot be read again.
    pub fn with_wall_time(self) -> io::Result<Self> {
        Ok(Self { waits: Some(OffCpuPlan::of_wall_time(&self.recording)?), ..self })
    }

    /// Returns the names of the profile's events, including the events of
    /// [waits](Self::with_waits).
    pub fn event_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.metadata().events().map(|(name, _)| name).collect();
        if let Some(waits) = &self.waits {
            names.extend(waits.names());
        }
        names
    }

    /// Chooses events by their index in [`event_names`](Self::event_names), by default all.
    #[must_use]
    pub fn with_events(self, is_chosen: Vec<bool>) -> Self {
        Self { chosen: Some(is_chosen), ..self }
    }

    /// Calls `report` while records are read, and before functions are named.
    #[must_use]
    pub fn on_progress(self, report: impl FnMut(Progress) + 'static) -> Self {
        Self { progress: Some(Box::new(report)), ..self }
    }

    /// Reads the recording. Damage does not fail, because the other records are used;
    /// [`ReadProfile::finish`] returns it.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the system cannot start a thread, and as its inner error
    /// [`OffCpuError::NoEnds`](super::OffCpuError::NoEnds) if the end of every wait is unknown, and
    /// [`OffCpuError::OfCpu`](super::OffCpuError::OfCpu) for a filter of CPUs and the wall time.
    pub fn read(self) -> io::Result<ReadProfile> {
        let names = self.event_names().len();
        let is_chosen = self.chosen.unwrap_or_else(|| vec![true; names]);
        let Self { filter, waits, .. } = self;
        let has_waits = waits.is_some();
        waits.as_ref().map_or(Ok(()), |waits| waits.check(&filter))?;
        let (about, mut records) = self.recording.in_time_order();
        let finder = self.finder.unwrap_or_else(|| about.finder());
        let mut resolver = resolver(&about, finder, self.has_lines)?.with_missing_callers();
        if let Some(frames) = self.max_frames {
            resolver.unwinder_mut().set_max_frames(frames);
        }
        let mut collector = match self.columns {
            None => Collector::new(resolver, self.builder),
            Some(columns) => Collector::with_table(resolver, &columns)?,
        };
        collector = collector.with_split(self.split);
        let mut payloads = self.has_payloads.then(Payloads::default);
        let has_filter = !filter.is_empty();
        let events: Vec<_> = about
            .events()
            .zip(&is_chosen)
            .map(|((name, attr), &is_chosen)| {
                // Waits need all switches, chosen or not.
                (is_chosen || has_waits).then(|| collector.event(Event::new(name, attr)))
            })
            .collect();
        let mut off_cpu = waits.map(|waits| waits.start(&mut collector, &events, &is_chosen));
        let mut members = Members::new(&about);
        if let Some(report) = self.progress {
            records.on_progress(report);
        }
        while let Some(next) = records.next_decoded(collector.spaces_mut()) {
            let Some((record, decoded)) = next else { continue };
            collector.update(&decoded);
            members.update(&decoded);
            if let Some(off_cpu) = &mut off_cpu {
                let event = || record.event().ok().map(|(index, _)| index);
                off_cpu.update(event, &decoded, &mut collector, &filter);
            }
            let Record::Sample(sample) = &decoded else { continue };
            let Ok((index, file_event)) = record.event() else { continue };
            if off_cpu.as_mut().is_some_and(|waits| waits.take(index, sample, &mut collector, &filter)) {
                continue;
            }
            let counted = members.of(&file_event.attr, sample);
            let chosen = |index: usize| events.get(index).copied().flatten();
            let own = chosen(index);
            if own.is_none() && counted.is_none() || has_filter && !filter.matches(collector.spaces(), sample)
            {
                continue;
            }
            if let Some(counted) = counted {
                for (event, value) in
                    counted.into_iter().filter_map(|(index, value)| Some((chosen(index)?, value)))
                {
                    collector.add_value(event, sample, value);
                }
            } else if let Some(event) = own {
                collector.add(event, sample);
            }
            if let Some(payloads) = &mut payloads {
                payloads.add(&file_event.attr, sample);
            }
        }
        records.add_damage(members.damage());
        let mut notes = Vec::new();
        let finished =
            off_cpu.map(|off_cpu| off_cpu.finish(&mut collector, &filter, &mut notes)).transpose()?;
        records.report(Progress::Naming);
        let (mut profile, table) = collector.finish_table();
        match finished {
            Some(Finished::Waits(replaced, correction)) => {
                if let Some(correction) = correction {
                    correction.apply(&mut profile);
                }
                // The events of waits follow.
                let mut is_replaced = replaced.into_iter().chain(std::iter::repeat(false));
                let mut is_chosen = is_chosen.into_iter();
                profile.retain_events(|_| {
                    let (is_replaced, is_chosen) = (is_replaced.next(), is_chosen.next());
                    is_replaced == Some(false) && is_chosen == Some(true)
                });
            }
            Some(Finished::WallTime(wall)) => wall.complete(&mut profile),
            None => {}
        }
        let mut payloads = payloads.unwrap_or_default();
        payloads.sort();
        let (name, damage) = records.into_damage();
        Ok(ReadProfile { metadata: about, profile, table, payloads, notes, name, damage })
    }
}

impl ReadProfile {
    /// Returns an error if the recording is damaged, so that the profile is incomplete.
    ///
    /// # Errors
    ///
    /// One line with the name of the file, the first damage, and the number of errors.
    pub fn finish(self) -> io::Result<()> {
        self.damage.into_result(&self.name)
    }
}

/// Creates the resolver for a recording's samples, with the build ids of its metadata.
pub fn resolver(about: &Metadata, finder: FileFinder, has_lines: bool) -> io::Result<Resolver> {
    let architecture = match about.arch.as_deref() {
        None => Architecture::NATIVE,
        Some("x86_64") => Architecture::X86_64,
        Some("aarch64") => Architecture::ARM64,
        Some(_) => Architecture(0),
    };
    let new = if has_lines { Resolver::new } else { Resolver::without_lines };
    let mut resolver = new(architecture, finder)?.with_monotonic_time(about.has_monotonic_time());
    for (path, id) in &about.build_ids {
        resolver.spaces_mut().add_build_id(path, *id);
    }
    Ok(resolver)
}
