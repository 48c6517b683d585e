//! The profile of a recording.

use std::io;

use clap::Args;
#[cfg(feature = "annotate")]
use perf_profile::read::Metadata;
use perf_profile::read::{ProfileReader, ReadProfile};
use perf_profile::{Column, ProfileBuilder, Split};
#[cfg(feature = "annotate")]
use perf_symbols::FileFinder;

use super::{
    EventOptions, FilterOptions, FinderOptions, InputOptions, OffCpuOptions, Shown, StackOptions, progress,
};
use crate::out::message::{note, shown};

/// The options of commands that make a profile of a recording.
#[derive(Args, Clone, Debug)]
pub(crate) struct ProfileOptions {
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) source: SourceOptions,
}

/// The options of a profile but for the recording, for commands that read several.
#[derive(Args, Clone, Debug)]
pub(crate) struct SourceOptions {
    #[command(flatten)]
    events: EventOptions,
    #[command(flatten)]
    filter: FilterOptions,
    #[command(flatten)]
    finder: FinderOptions,
    /// Leave out inlined functions and source lines, which takes less time and memory
    #[arg(long)]
    no_inline: bool,
    #[command(flatten)]
    stacks: StackOptions,
    #[command(flatten)]
    pub(crate) off_cpu: OffCpuOptions,
}

impl ProfileOptions {
    /// Reads the recording. The builder is empty, or has times.
    pub(crate) fn profile(&self, builder: ProfileBuilder, split: Split) -> io::Result<ReadProfile> {
        self.source.profile(&self.input, builder, split)
    }

    /// Reads the recording into a table with these columns, and a profile without stacks; with
    /// waits, into a profile with stacks alone.
    pub(crate) fn table(&self, columns: &[Column], split: Split) -> io::Result<ReadProfile> {
        // Waits are found in stacks.
        if self.source.off_cpu.is_shown() {
            return self.profile(ProfileBuilder::new(), split);
        }
        self.source.read(&self.input, |reader| reader.with_table(columns).with_split(split))
    }

    /// Reads the recording, and keeps the payloads of the samples of tracepoints.
    pub(crate) fn profile_with_payloads(&self, builder: ProfileBuilder) -> io::Result<ReadProfile> {
        self.source.read(&self.input, |reader| reader.with_builder(builder).with_payloads())
    }
}

impl SourceOptions {
    /// Makes the finder of a recording's files, for reading more of them than names.
    #[cfg(feature = "annotate")]
    pub(crate) fn file_finder(&self, about: &Metadata) -> FileFinder {
        self.finder.finder_again(about)
    }

    /// Reads a recording. The builder is empty, or has times.
    pub(crate) fn profile(
        &self,
        input: &InputOptions,
        builder: ProfileBuilder,
        split: Split,
    ) -> io::Result<ReadProfile> {
        self.read(input, |reader| reader.with_builder(builder).with_split(split))
    }

    fn read(
        &self,
        input: &InputOptions,
        keep: impl FnOnce(ProfileReader) -> ProfileReader,
    ) -> io::Result<ReadProfile> {
        let recording = input.open()?;
        let (name, len) = (recording.name().to_owned(), recording.byte_len());
        let mut reader = keep(ProfileReader::new(recording));
        reader = self.off_cpu.apply(reader)?;
        let of_file = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
        let is_chosen = self.events.choose(&reader.event_names()).map_err(of_file)?;
        let filter = self.filter.filter(reader.metadata())?;
        let finder = self.finder.finder(reader.metadata());
        reader = reader.with_events(is_chosen).with_filter(filter).with_finder(finder);
        reader = reader.with_max_frames(self.stacks.max_frames());
        if self.no_inline {
            reader = reader.without_lines();
        }
        if let Some(report) = progress::reading(Shown::BeforeOutput, &name, len) {
            reader = reader.on_progress(report);
        }
        let read = reader.read().map_err(|error| self.off_cpu.error(error))?;
        read.notes.iter().map(shown).for_each(note);
        Ok(read)
    }
}
