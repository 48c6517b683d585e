//! Recordings of the last moments: overwritten rings that are written on demand.

use perf_session::ObservedTasks;
use perf_session::ring::{AttrFlags, RawRecord, RecordType, SampleLayout};

use super::Recorder;
use crate::RecordError;

/// A copy of the records in overwritten rings.
#[derive(Debug)]
pub struct Snapshot {
    /// The records of each ring, the oldest first.
    pub(super) copies: Vec<Vec<u64>>,
}

/// # Flight recorders
impl Recorder {
    /// Copies the records that each ring got since the last snapshot. The set must
    /// [overwrite](perf_session::EventSetOptions::overwrite) its rings.
    ///
    /// A recording that begins afterwards describes the tasks of these records, because their
    /// `FORK` records may be overwritten.
    ///
    /// ```no_run
    /// use std::fs::File;
    ///
    /// use perf_record::{RecordError, Recorder};
    ///
    /// fn write(recorder: &mut Recorder, file: File) -> Result<u64, RecordError> {
    ///     let snapshot = recorder.snapshot()?;
    ///     let mut recording = recorder.begin_file(file)?;
    ///     recording.write_snapshot(&snapshot)?;
    ///     Ok(recorder.finish(recording)?.inventory.samples)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`EventSet::snapshots`](perf_session::EventSet::snapshots).
    pub fn snapshot(&mut self) -> Result<Snapshot, RecordError> {
        let Self { set, losses, repair, wakeups, tasks, layout, heads, .. } = self;
        let mut copies = Vec::new();
        for (key, mut snapshot) in set.snapshots()? {
            let head = snapshot.head();
            // The kernel writes an overwritten ring downwards.
            let new = heads.insert(key, head).unwrap_or(0).wrapping_sub(head);
            let mut left = new;
            let mut records: Vec<RawRecord<'_>> = Vec::new();
            for record in snapshot.records()?.map_while(Result::ok) {
                let Some(rest) = left.checked_sub(record.size() as u64) else { break };
                left = rest;
                records.push(record);
            }
            let mut words = Vec::new();
            for record in records.iter().rev() {
                words.extend_from_slice(record.words());
                // A wakeup is a sample of the waker, which may belong to a process that is not
                // recorded.
                if let Some(tasks) = tasks.as_mut().filter(|_| !key.scope().is_system_wide()) {
                    note_task(tasks, *record, layout);
                }
            }
            copies.push((key, words));
        }
        let (_, ledger) = set.rings_and_ledger()?;
        for (key, words) in &mut copies {
            let removed = repair.repair(*key, words).removed;
            losses.add_unattributed(removed);
            ledger.note_unattributed(*key, removed);
            // All tasks are known at this point.
            if let Some(filter) = wakeups.as_mut().filter(|_| key.scope().is_system_wide()) {
                filter.choose(words, tasks.as_ref(), true);
            }
        }
        if let Some(tasks) = tasks {
            tasks.forget_exited();
        }
        Ok(Snapshot { copies: copies.into_iter().map(|(_, words)| words).collect() })
    }

    /// Returns whether the rings are overwritten, so that they are not drained.
    pub(super) fn is_overwritten(&self) -> bool {
        self.described.events.iter().any(|event| event.attr.flags.contains(AttrFlags::WRITE_BACKWARD))
    }
}

/// Notes the task of a record from a set of tasks.
fn note_task(tasks: &mut ObservedTasks, record: RawRecord<'_>, layout: &SampleLayout) {
    let is_sample = record.kind() == RecordType::SAMPLE;
    let sample = is_sample.then(|| record.sample_head(layout).ok()).flatten();
    if let Some((pid, tid)) = sample.and_then(|sample| sample.pid().zip(sample.tid())) {
        tasks.add(pid, tid);
    }
    tasks.note_record(record, layout);
}
