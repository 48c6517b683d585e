//! A recording in the form of `perf.data`: one file, or one after the other.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;

use perf_file::writer::{Features, Inventory, Writer};
use perf_record::synthesize::Synthesizer;
use perf_session::ring::decode::Window;
use perf_session::ring::{AttrFlags, RecordType};
use perf_session::{ObservedTasks, RingKey, System};

use super::features::add_results;
use super::losses::Lost;
use super::output::{Output, Place};
use super::pass::Pass;
use super::report::Written;
use super::source::{Sink, Source};
use super::switch::free_name;
use super::{Failure, Options};
use crate::measure::running;
use crate::out::destination::Stream;
use crate::out::message::{count, note, of_file, shown, size};
use crate::out::output_path::OutputPath;

/// The file that is written, and those that were.
#[derive(Debug)]
pub(super) struct Files {
    options: Options,
    system: System,
    /// Facts that are known before the first record.
    features: Features,
    current: Option<Current>,
    /// The place of the current file, and another handle of it, for its size.
    place: Option<(Place, File)>,
    copy: Vec<u64>,
    /// Samples of all files.
    samples: u64,
    /// Records of switches of all files.
    switches: u64,
    /// Bytes of all files that are no records.
    malformed: u64,
    /// Number of complete files that were renamed.
    switched: u64,
    /// Those of them that are kept.
    kept: VecDeque<OutputPath>,
}

/// The file that is written.
#[derive(Debug)]
struct Current {
    writer: Writer<Stream>,
    inventory: Inventory,
    synthesizer: Synthesizer,
}

impl Files {
    pub(super) fn new(options: &Options, system: System, features: Features) -> Self {
        Self {
            options: options.clone(),
            system,
            features,
            current: None,
            place: None,
            copy: Vec::new(),
            samples: 0,
            switches: 0,
            malformed: 0,
            switched: 0,
            kept: VecDeque::new(),
        }
    }

    /// Begins a file, with what is there before its records. Adds notes about what could not be read.
    pub(super) fn begin(&mut self, source: &Source, notes: &mut Vec<String>) -> Result<(), Failure> {
        let output = Output::create(self.options.output())?;
        if self.options.switch.has_parts() && output.is_pipe() {
            let name = Output::name(self.options.output());
            let text = format!("{name}: expected a file, because the output is switched");
            return Err(io::Error::other(text).into());
        }
        self.place = Some((output.place(), output.handle()?));
        let mut synthesizer = Synthesizer::new(&self.system, &source.attr);
        synthesize(&mut synthesizer, &self.options, source, notes)?;
        let writer = output
            .start(&source.described.events, &self.features, self.options.compression)
            .and_then(|writer| write_start(writer, &synthesizer))?;
        synthesizer.clear_records();
        let inventory = Inventory::new(&source.attr);
        self.current = Some(Current { writer, inventory, synthesizer });
        Ok(())
    }

    /// Removes a recording that never began.
    pub(super) fn discard(&mut self) {
        self.current = None;
        if let Some((place, _)) = self.place.take() {
            place.discard();
        }
    }

    /// Writes a copy of records as one part of a round, and counts them.
    pub(super) fn write(&mut self, window: Window<'_>) -> Result<(), Failure> {
        let Some(Current { writer, inventory, .. }) = &mut self.current else { return Ok(()) };
        inventory.note(window);
        Ok(writer.write_window(window)?)
    }

    /// Writes what the events have lost, with the time of the last sample.
    fn write_losses(&mut self, source: &mut Source) -> Result<(), Failure> {
        let Some(Current { writer, inventory, .. }) = &mut self.current else { return Ok(()) };
        let time = inventory.sample_times.map_or(0, |(_, last)| last);
        for Lost { event, id, count } in source.losses.take(&source.set, &source.described)? {
            writer.write_lost_samples(event, id, count, time)?;
        }
        Ok(())
    }

    /// Completes the file, which gets another name if more follow.
    pub(super) fn complete(&mut self, source: &mut Source, is_part: bool) -> Result<(), Failure> {
        self.write_losses(source)?;
        let Some(Current { mut writer, inventory, mut synthesizer }) = self.current.take() else {
            return Ok(());
        };
        self.samples += inventory.samples;
        self.switches += switches(&inventory);
        self.malformed += inventory.malformed;
        writer.finish_round()?;
        let mut features = self.features.clone();
        add_results(&mut features, &source.described, &inventory, &mut synthesizer);
        writer.finish(&features)?;
        if is_part || self.options.switch.is_used() {
            self.name(inventory.samples)?;
        }
        Ok(())
    }

    /// Gives the file, which is complete, the name of its end, and removes the oldest one if there are too many.
    fn name(&mut self, samples: u64) -> Result<(), Failure> {
        let Some(path) = self.place.as_ref().and_then(|(place, _)| place.path()) else { return Ok(()) };
        let name = free_name(path)?;
        path.rename(&name).map_err(|error| of_file(name.path(), &error))?;
        self.switched += 1;
        if !self.options.quiet {
            note(format_args!("{} in {}{}", count(samples, "sample"), shown(name.path()), self.size()));
        }
        self.kept.push_back(name);
        while self.options.switch.max_files().is_some_and(|most| self.kept.len() > most)
            && let Some(oldest) = self.kept.pop_front()
        {
            // Somebody else may have taken it.
            let _ = oldest.remove();
        }
        Ok(())
    }

    /// Returns the size of the last file as a clause; nothing for a pipe.
    fn size(&self) -> String {
        let metadata = self.place.as_ref().and_then(|(_, file)| file.metadata().ok());
        let bytes = metadata.filter(fs::Metadata::is_file).map(|file| file.len());
        bytes.map(|bytes| format!(" ({})", size(bytes))).unwrap_or_default()
    }

    /// Returns the numbers for the report.
    pub(super) fn written(&self) -> Written {
        let last = || format!("{}{}", Output::name(self.options.output()), self.size());
        let place = match self.switched {
            0 => last(),
            files if self.options.switch.is_used() => count(files, "file"),
            files => format!("{} and {}", count(files, "file"), last()),
        };
        let cause = if self.options.switch.is_overwrite() {
            "the rings were paused while they were copied"
        } else {
            Written::FULL
        };
        let current = self.current.as_ref().map(|current| &current.inventory);
        Written {
            samples: self.samples + current.map_or(0, |inventory| inventory.samples),
            unwritten: 0,
            switches: self.options.off_cpu.is_on().then(|| self.switches + current.map_or(0, switches)),
            malformed: self.malformed + current.map_or(0, |inventory| inventory.malformed),
            place,
            cause,
        }
    }
}

impl Sink for Files {
    fn drain(&mut self, source: &mut Source) -> Result<(), Failure> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let Source { set, described, losses, repair, wakeups, tasks, layout, .. } = source;
        let (rings, ledger) = set.rings_and_ledger()?;
        // Copied before the rings of the tasks are read, which have the start of each task that was woken.
        let is_wide = |key: &RingKey| wakeups.is_some() && key.scope().is_system_wide();
        let unread = rings.iter().filter(|(key, ring)| is_wide(key) && ring.has_records());
        let unread: Vec<RingKey> = unread.map(|(key, _)| *key).collect();
        let mut wide = Vec::new();
        for key in unread {
            let mut words = Vec::new();
            if let Some(batch) = rings.batch(&key) {
                batch?.copy_into(&mut words);
            }
            wide.push((key, words));
        }
        let Current { writer, inventory, .. } = current;
        let (is_empty, has_lost) = (true, false);
        let mut pass =
            Pass { writer, inventory, described, losses, repair, tasks, layout, ledger, is_empty, has_lost };
        for (key, batch) in rings.ready().filter(|(key, _)| !is_wide(key)) {
            // Copied, so that the kernel has the ring while the file is written.
            batch?.copy_into(&mut self.copy);
            pass.write(*key, &mut self.copy)?;
        }
        for (key, words) in &mut wide {
            if let Some(filter) = wakeups {
                pass.write_wakeups(*key, words, filter)?;
            }
        }
        let Pass { is_empty, has_lost, .. } = pass;
        if let Some(tasks) = tasks {
            tasks.forget_exited();
        }
        if has_lost {
            self.write_losses(source)?;
        }
        if let Some(Current { writer, .. }) = self.current.as_mut().filter(|_| !is_empty) {
            writer.finish_round()?;
        }
        Ok(())
    }

    fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<(), Failure> {
        let Some(current) = &mut self.current else { return Ok(()) };
        Ok(current.writer.add_ids(event, ids)?)
    }

    fn is_full(&self) -> bool {
        let most = self.options.switch.size();
        self.current.as_ref().zip(most).is_some_and(|(current, most)| current.writer.position() >= most)
    }

    fn switch(&mut self, source: &mut Source) -> Result<(), Failure> {
        self.drain(source)?;
        self.complete(source, true)?;
        // The notes were printed for the first file.
        self.begin(source, &mut Vec::new())
    }

    fn finish(&mut self, source: &mut Source) -> Result<(), Failure> {
        self.drain(source)?;
        self.complete(source, false)
    }
}

/// Returns the number of switches, of which each is a record for the thread that leaves or one for the thread that follows.
fn switches(inventory: &Inventory) -> u64 {
    let kinds = [RecordType::SWITCH, RecordType::SWITCH_CPU_WIDE];
    kinds.iter().filter_map(|kind| inventory.kinds.get(kind)).sum()
}

/// Writes the records of what is there before the recording.
fn write_start(mut writer: Writer<Stream>, synthesizer: &Synthesizer) -> perf_file::Result<Writer<Stream>> {
    writer.write_plain(synthesizer.records().as_bytes())?;
    writer.finish_init()?;
    writer.flush()?;
    Ok(writer)
}

/// Adds the records of what is there before the recording, or before a later part of it.
pub(super) fn synthesize(
    synthesizer: &mut Synthesizer,
    options: &Options,
    source: &Source,
    notes: &mut Vec<String>,
) -> io::Result<()> {
    if options.all_cgroups
        && let Err(error) = synthesizer.cgroups()
    {
        notes.push(format!("the file does not name the cgroups: {error}"));
    }
    let mut events = source.described.events.iter();
    let has_kernel = events.any(|event| !event.attr.flags.contains(AttrFlags::EXCLUDE_KERNEL));
    let processes = source.tasks.as_ref().map(ObservedTasks::processes);
    notes.extend(running::add_running(synthesizer, processes.as_ref(), has_kernel)?);
    Ok(())
}
