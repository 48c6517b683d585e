//! The profile of a recording.

use std::io;

use clap::Args;
use perf_abi::regs::Architecture;
use perf_decode::{Record, Sample};
use perf_profile::{Collector, Column, Event, Profile, ProfileBuilder, Resolver, TableSums};
use perf_symbols::{AddressSpaces, FileFinder, Symbolizer, Unwinder};

use super::{
    About, EventOptions, Filter, FilterOptions, FinderOptions, InputOptions, Members, OffCpuOptions,
    Payloads, Records, Shown, Step, build_id,
};

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
    pub(crate) off_cpu: OffCpuOptions,
}

/// A profile, with the metadata of its recording.
#[derive(Debug)]
pub(crate) struct Profiled {
    pub(crate) about: About,
    /// The chosen events of the metadata in their order; with `--off-cpu`, its events in place of the switches.
    pub(crate) profile: Profile,
    records: Records,
}

impl ProfileOptions {
    /// Reads the recording. The builder is empty, or has times.
    pub(crate) fn profile(&self, builder: ProfileBuilder) -> io::Result<Profiled> {
        self.source.profile(&self.input, builder)
    }

    /// Reads the recording into a table with these columns, and a profile without stacks; with `--off-cpu`, into a profile
    /// with stacks alone.
    pub(crate) fn table(&self, columns: &[Column]) -> io::Result<(Profiled, Option<TableSums>)> {
        // Waits are found in stacks.
        if self.source.off_cpu.is_shown() {
            return Ok((self.profile(ProfileBuilder::new())?, None));
        }
        let make = |resolver| Collector::with_table(resolver, columns);
        self.source.read(&self.input, make, None)
    }

    /// Reads the recording, and keeps the payloads of the samples of tracepoints.
    pub(crate) fn profile_with_payloads(&self, builder: ProfileBuilder) -> io::Result<(Profiled, Payloads)> {
        let mut payloads = Payloads::default();
        let make = |resolver| Ok(Collector::new(resolver, builder));
        let (profiled, _) = self.source.read(&self.input, make, Some(&mut payloads))?;
        payloads.sort();
        Ok((profiled, payloads))
    }
}

impl SourceOptions {
    /// Reads a recording. The builder is empty, or has times.
    pub(crate) fn profile(&self, input: &InputOptions, builder: ProfileBuilder) -> io::Result<Profiled> {
        Ok(self.read(input, |resolver| Ok(Collector::new(resolver, builder)), None)?.0)
    }

    fn read(
        &self,
        input: &InputOptions,
        collector: impl FnOnce(Resolver) -> io::Result<Collector>,
        mut payloads: Option<&mut Payloads>,
    ) -> io::Result<(Profiled, Option<TableSums>)> {
        let (about, mut records) = input.open()?.in_time_order();
        let waits = self.off_cpu.plan(input, &about)?;
        let has_waits = waits.is_some();
        let mut names: Vec<&str> = about.events().map(|(name, _)| name).collect();
        if let Some(waits) = &waits {
            names.extend(waits.names());
        }
        let is_chosen = self.events.choose(&names).map_err(|error| records.error(&error))?;
        let filter = self.filter.filter(&about)?;
        let has_filter = !filter.is_empty();
        let resolver = resolver(&about, self.finder.finder(&about), !self.no_inline)?.with_missing_callers();
        let mut collector = collector(resolver)?;
        let events: Vec<_> = about
            .events()
            .zip(&is_chosen)
            .map(|((name, attr), &is_chosen)| {
                // Of switches, all are needed.
                (is_chosen || has_waits).then(|| collector.event(Event::new(name, attr)))
            })
            .collect();
        let mut off_cpu = waits.map(|waits| waits.start(&mut collector));
        let mut members = Members::new(&about);
        records.show_progress(Shown::BeforeOutput);
        while let Some(record) = records.next() {
            if record.kernel().is_none() {
                if let Some((path, id)) = build_id(&record) {
                    collector.spaces_mut().add_build_id(path, id);
                }
                continue;
            }
            let decoded = match record.decode() {
                Ok(decoded) => decoded,
                Err(error) => {
                    records.skip(&error);
                    continue;
                }
            };
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
            let counted = members.of(file_event.attr(), sample);
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
            if let Some(payloads) = payloads.as_deref_mut() {
                payloads.add(file_event.attr(), sample);
            }
        }
        records.add_damage(members.damage());
        records.clear_progress();
        let replaced = off_cpu.map(|off_cpu| off_cpu.finish(&mut collector, &filter)).transpose()?;
        let step = Step::new(Shown::BeforeOutput, "naming functions");
        let (mut profile, sums) = collector.finish_table();
        drop(step);
        if let Some(replaced) = replaced {
            // The events of waits follow.
            let mut is_replaced = replaced.into_iter().chain(std::iter::repeat(false));
            let mut is_chosen = is_chosen.into_iter();
            profile.retain_events(|_| {
                let (is_replaced, is_chosen) = (is_replaced.next(), is_chosen.next());
                is_replaced == Some(false) && is_chosen == Some(true)
            });
        }
        Ok((Profiled { about, profile, records }, sums))
    }
}

impl Profiled {
    /// Returns the damage of the recording as the error of the command. Call it after the output was written.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.records.finish()
    }
}

/// Makes the resolver of a recording's samples, with the build ids of its metadata.
pub(crate) fn resolver(about: &About, finder: FileFinder, has_lines: bool) -> io::Result<Resolver> {
    let architecture = match about.arch.as_deref() {
        None => Architecture::NATIVE,
        Some("x86_64") => Architecture::X86_64,
        Some("aarch64") => Architecture::ARM64,
        Some(_) => Architecture(0),
    };
    let unwinder = Unwinder::new(architecture, finder.clone());
    let symbolizer = if has_lines { Symbolizer::new(finder) } else { Symbolizer::without_lines(finder) };
    let mut resolver =
        Resolver::with_symbolizer(unwinder, symbolizer?).with_monotonic_time(about.has_monotonic_time());
    for (path, id) in &about.build_ids {
        resolver.spaces_mut().add_build_id(path, *id);
    }
    Ok(resolver)
}

impl Filter {
    /// Returns whether a sample counts, in the address spaces at its time.
    pub(crate) fn matches(
        &self,
        spaces: &AddressSpaces,
        sample: &Sample<'_, impl perf_decode::Layout>,
    ) -> bool {
        let (pid, tid) = (sample.pid(), sample.tid());
        if !(self.by_time(sample.time().unwrap_or(0)) && self.by_ids(pid, tid, sample.cpu())) {
            return false;
        }
        if self.needs_comm() && !tid.is_some_and(|tid| self.by_thread(spaces, tid)) {
            return false;
        }
        self.by_object(spaces, sample)
    }

    /// Returns whether a sample counts by the object of its address.
    pub(super) fn by_object(
        &self,
        spaces: &AddressSpaces,
        sample: &Sample<'_, impl perf_decode::Layout>,
    ) -> bool {
        if !self.needs_dso() {
            return true;
        }
        let pid = sample.pid();
        let location = spaces.find(pid.unwrap_or(0), sample.misc().cpu_mode(), sample.ip().unwrap_or(0));
        self.by_dso(location.map_or(b"", perf_symbols::Location::path))
    }
}
