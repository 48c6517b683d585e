//! One `perf.data` in progress.

use std::io::{Seek, Write};

use perf_file::writer::{Features, Inventory, RecordedEvent, Writer};
use perf_session::RingKey;
use perf_session::ring::decode::{LostCounts, Window};

use super::losses::Lost;
use super::pass::Pass;
use super::threads::Threads;
use super::{Recorder, Snapshot};
use crate::RecordError;
use crate::synthesize::{Missing, Synthesizer};

/// A recording in progress. If it is dropped, the file can be read up to the last round, like an
/// interrupted recording.
#[derive(Debug)]
pub struct Recording<W: Write> {
    pub(super) writer: Writer<W>,
    pub(super) inventory: Inventory,
    synthesizer: Synthesizer,
    missing: Vec<Missing>,
    /// The threads at the start, if they are described.
    threads: Option<Threads>,
    lost: u64,
}

/// A recording that is complete, with the account of its records.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recorded<W> {
    /// File or pipe that was passed to [`Recorder::begin_file`] or another start.
    pub out: W,
    /// Number of records by kind, malformed bytes, time range of the samples, and mapped files.
    pub inventory: Inventory,
    /// Records that the kernel dropped while this recording was written, and samples that were
    /// removed, summed over all events. The recording has them by event.
    pub lost: LostCounts,
}

impl<W: Write> Recording<W> {
    /// Returns the account of the records written so far, without losses that the events count.
    pub const fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    /// Returns the number of bytes written so far.
    pub const fn position(&self) -> u64 {
        self.writer.position()
    }

    /// Returns the facts that are missing from the description of the state before the recording.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Adds ids of events that were opened since the recording began, as returned by
    /// [`Recorder::learn_ids`].
    ///
    /// # Errors
    ///
    /// The errors of [`Writer::add_ids`].
    pub fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<(), RecordError> {
        Ok(self.writer.add_ids(event, ids)?)
    }

    /// Writes the records that overwritten rings held.
    ///
    /// # Errors
    ///
    /// [`RecordError::Write`] if the output fails.
    pub fn write_snapshot(&mut self, snapshot: &Snapshot) -> Result<(), RecordError> {
        for words in &snapshot.copies {
            let window = Window::from_slices(words, &[]);
            self.inventory.note(window);
            self.writer.write_window(window)?;
        }
        Ok(())
    }
}

/// # Recordings
impl Recorder {
    /// Begins a recording in the file form, with records of the state before it.
    ///
    /// # Errors
    ///
    /// [`RecordError::Write`] if the output fails, and [`RecordError::File`] if `/proc` cannot be
    /// read.
    pub fn begin_file<W: Write + Seek>(&mut self, out: W) -> Result<Recording<W>, RecordError> {
        self.begin_with(|events, _| Writer::file(out, events))
    }

    /// Begins a recording in the pipe form, for a socket or another program.
    ///
    /// # Errors
    ///
    /// [`RecordError::Write`] if the output fails, and [`RecordError::File`] if `/proc` cannot be
    /// read.
    pub fn begin_pipe<W: Write>(&mut self, out: W) -> Result<Recording<W>, RecordError> {
        self.begin_with(|events, features| Writer::pipe(out, events, features))
    }

    /// Begins a recording with a writer that `start` creates from the events and the features, such
    /// as one that [compresses](Writer::compressed).
    ///
    /// # Errors
    ///
    /// [`RecordError::Write`] if `start` or the output fails, and [`RecordError::File`] if `/proc`
    /// cannot be read.
    pub fn begin_with<W: Write>(
        &mut self,
        start: impl FnOnce(&[RecordedEvent], &Features) -> perf_file::Result<Writer<W>>,
    ) -> Result<Recording<W>, RecordError> {
        let (mut synthesizer, mut missing) = self.synthesize()?;
        let (events, features) = self.described();
        let mut writer = start(events, features)?;
        writer.write_plain(synthesizer.records().as_bytes())?;
        writer.finish_init()?;
        writer.flush()?;
        synthesizer.clear_records();
        missing.splice(..0, self.missing.iter().cloned());
        let inventory = Inventory::new(&self.attr);
        let threads = self.has_threads.then(|| Threads::read(&self.system, self.tasks.as_ref()));
        Ok(Recording { writer, inventory, synthesizer, missing, threads, lost: 0 })
    }

    /// Begins the times of the [threads](Self::with_thread_states) of a recording. Call it when you
    /// have enabled the events, if the recording began before: what the kernel counts in between is
    /// in no record.
    pub fn begin_times<W: Write>(&self, recording: &mut Recording<W>) {
        if let Some(threads) = &mut recording.threads {
            threads.begin(&self.system);
        }
    }

    /// Writes the unread records of all rings into the recording. Each record is written to one
    /// recording only.
    ///
    /// # Errors
    ///
    /// [`RecordError::Events`] if a ring or the losses of an event cannot be read, and
    /// [`RecordError::Write`] if the output fails.
    pub fn drain<W: Write>(&mut self, recording: &mut Recording<W>) -> Result<(), RecordError> {
        let Self { set, described, losses, repair, wakeups, tasks, layout, copy, .. } = self;
        let (rings, ledger) = set.rings_and_ledger()?;
        // Copied before the rings of the tasks are read, so that those rings have the start of each
        // woken task.
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
        let Recording { writer, inventory, .. } = recording;
        let (is_empty, has_lost) = (true, false);
        let mut pass =
            Pass { writer, inventory, described, losses, repair, tasks, layout, ledger, is_empty, has_lost };
        for (key, batch) in rings.ready().filter(|(key, _)| !is_wide(key)) {
            // Copied, so that the kernel gets the ring back while the file is written.
            batch?.copy_into(copy);
            pass.write(*key, copy)?;
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
            self.write_losses(recording)?;
        }
        if !is_empty {
            recording.writer.finish_round()?;
        }
        Ok(())
    }

    /// Writes the losses of the events, with the time of the last sample.
    fn write_losses<W: Write>(&mut self, recording: &mut Recording<W>) -> Result<(), RecordError> {
        let time = recording.inventory.sample_times.map_or(0, |(_, last)| last);
        for Lost { event, id, count } in self.take_lost()? {
            recording.writer.write_lost_samples(event, id, count, time)?;
            recording.lost += count;
        }
        Ok(())
    }

    /// Completes a recording: writes the unread records of the rings, unless these are overwritten,
    /// the losses until now, the build ids of the mapped files, and the features. Another recording
    /// may begin afterwards. Disable the events before you finish the last recording.
    ///
    /// # Errors
    ///
    /// [`RecordError::Events`] if a ring or the losses of an event cannot be read, and
    /// [`RecordError::Write`] if the output fails.
    pub fn finish<W: Write>(&mut self, mut recording: Recording<W>) -> Result<Recorded<W>, RecordError> {
        if let Some(threads) = &mut recording.threads {
            threads.end(&self.system);
        }
        if !self.is_overwritten() {
            self.drain(&mut recording)?;
        }
        self.write_losses(&mut recording)?;
        let Recording { mut writer, inventory, mut synthesizer, threads, lost, .. } = recording;
        writer.finish_round()?;
        let mut features = self.features_mut().clone();
        self.described.add_results(&mut features, &inventory, &mut synthesizer);
        if let Some(threads) = &threads {
            threads.describe(&mut features);
        }
        let counts = if self.losses.are_counted {
            LostCounts::new(lost, 0)
        } else {
            // Before Linux 6.0 this counts only removed samples.
            let mut counts = inventory.lost;
            counts += LostCounts::new(0, lost);
            counts
        };
        Ok(Recorded { out: writer.finish(&features)?, inventory, lost: counts })
    }
}
