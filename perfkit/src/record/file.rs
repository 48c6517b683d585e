//! A recording as `perf.data`: one file, a series of files, or the last moments on demand.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;

use perf_file::writer::Inventory;
use perf_record::synthesize::Missing;
use perf_record::{Recorder, Recording, Snapshot};
use perf_session::ring::RecordType;

use super::Options;
use super::output::{Output, Place};
use super::report::Written;
use super::sink::Sink;
use super::switch::free_name;
use crate::measure::failure::Failure;
use crate::out::destination::Stream;
use crate::out::message::{count, note, of_file, shown, size};
use crate::out::output_path::OutputPath;

/// The file that is being written, and the totals of the completed files.
#[derive(Debug)]
pub(super) struct Files {
    options: Options,
    current: Option<Recording<Stream>>,
    /// The place of the current file, and another handle of it, for its size.
    place: Option<(Place, File)>,
    /// The sums over the completed files.
    ended: Sums,
    /// Number of completed files that were renamed.
    switched: u64,
    /// The renamed files that are kept, oldest first.
    kept: VecDeque<OutputPath>,
}

/// The sums over files.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    samples: u64,
    /// Context switch records.
    switches: u64,
    /// Bytes that do not form a record.
    malformed: u64,
}

impl Sums {
    fn add(&mut self, inventory: &Inventory) {
        self.samples += inventory.samples;
        self.switches += switches(inventory);
        self.malformed += inventory.malformed;
    }
}

impl Files {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            options: options.clone(),
            current: None,
            place: None,
            ended: Sums::default(),
            switched: 0,
            kept: VecDeque::new(),
        }
    }

    /// Writes what overwritten rings held.
    fn write(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        let Some(current) = &mut self.current else { return Ok(()) };
        Ok(current.write_snapshot(snapshot)?)
    }

    /// Completes the file, which gets another name if more follow.
    fn complete(&mut self, recorder: &mut Recorder, is_part: bool) -> Result<(), Failure> {
        let Some(current) = self.current.take() else { return Ok(()) };
        let mut ended = self.ended;
        // If the file cannot be completed, count what it has until now.
        self.ended.add(current.inventory());
        let inventory = recorder.finish(current)?.inventory;
        ended.add(&inventory);
        self.ended = ended;
        if is_part || self.options.switch.is_used() {
            self.name(inventory.samples)?;
        }
        Ok(())
    }

    /// Renames the completed file after the time of its end, and removes the oldest file if there
    /// are too many.
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
            // Another program may have moved it.
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
}

impl Sink for Files {
    /// Begins a file with synthesized records of what runs already.
    fn begin<'r>(&'r mut self, recorder: &'r mut Recorder) -> Result<&'r [Missing], Failure> {
        let output = Output::create(self.options.output())?;
        if self.options.switch.has_parts() && output.is_pipe() {
            let name = Output::name(self.options.output());
            let text = format!("{name}: expected a file, because the output is switched");
            return Err(io::Error::other(text).into());
        }
        self.place = Some((output.place(), output.handle()?));
        let compression = self.options.compression;
        let begun = recorder.begin_with(|events, features| output.start(events, features, compression))?;
        Ok(self.current.insert(begun).missing())
    }

    fn begin_times(&mut self, recorder: &Recorder) {
        if let Some(current) = &mut self.current {
            recorder.begin_times(current);
        }
    }

    fn drain(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        let Some(current) = &mut self.current else { return Ok(()) };
        Ok(recorder.drain(current)?)
    }

    fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<(), Failure> {
        let Some(current) = &mut self.current else { return Ok(()) };
        Ok(current.add_ids(event, ids)?)
    }

    fn is_full(&self) -> bool {
        let most = self.options.switch.size();
        self.current.as_ref().zip(most).is_some_and(|(current, most)| current.position() >= most)
    }

    fn switch(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        // `complete` drains too, but does not count the samples of a drain that fails.
        self.drain(recorder)?;
        self.complete(recorder, true)?;
        // Records that could not be synthesized were reported for the first file.
        self.begin(recorder).map(drop)
    }

    fn finish(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        self.drain(recorder)?;
        self.complete(recorder, false)
    }

    fn written(&self) -> Written {
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
        let mut sums = self.ended;
        if let Some(current) = &self.current {
            sums.add(current.inventory());
        }
        Written {
            samples: sums.samples,
            unwritten: 0,
            switches: self.options.off_cpu.is_on().then_some(sums.switches),
            malformed: sums.malformed,
            place,
            cause,
        }
    }

    fn discard(&mut self) {
        self.current = None;
        if let Some((place, _)) = self.place.take() {
            place.discard();
        }
    }
}

/// Writes the content of the rings into a file for each snapshot, each record once.
#[derive(Debug)]
pub(super) struct FlightRecorder(Files);

impl FlightRecorder {
    pub(super) fn new(files: Files) -> Self {
        Self(files)
    }

    /// Writes one file, which begins with the state of the tasks now.
    fn snapshot(&mut self, recorder: &mut Recorder, is_part: bool) -> Result<(), Failure> {
        let snapshot = recorder.snapshot()?;
        self.0.begin(recorder)?;
        self.0.write(&snapshot)?;
        self.0.complete(recorder, is_part)
    }
}

impl Sink for FlightRecorder {
    fn begin<'r>(&'r mut self, recorder: &'r mut Recorder) -> Result<&'r [Missing], Failure> {
        // Files exist only after snapshots.
        Ok(recorder.missing())
    }

    fn drain(&mut self, _recorder: &mut Recorder) -> Result<(), Failure> {
        Ok(())
    }

    fn add_ids(&mut self, _event: usize, _ids: &[u64]) -> Result<(), Failure> {
        // Each file begins with all ids.
        Ok(())
    }

    fn is_full(&self) -> bool {
        false
    }

    fn switch(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        self.snapshot(recorder, true)
    }

    fn finish(&mut self, recorder: &mut Recorder) -> Result<(), Failure> {
        self.snapshot(recorder, false)
    }

    fn written(&self) -> Written {
        self.0.written()
    }
}

/// Returns the number of context switches. Each has one record, for the outgoing or for the
/// incoming thread.
fn switches(inventory: &Inventory) -> u64 {
    let kinds = [RecordType::SWITCH, RecordType::SWITCH_CPU_WIDE];
    kinds.iter().filter_map(|kind| inventory.kinds.get(kind)).sum()
}
