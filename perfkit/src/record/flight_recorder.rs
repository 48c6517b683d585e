//! Recordings of the last moments: rings that are overwritten, and written on demand.

use std::collections::HashMap;

use perf_session::ring::decode::Window;
use perf_session::ring::{RawRecord, RecordType, SampleLayout};
use perf_session::{ObservedTasks, RingKey};

use super::Failure;
use super::file::Files;
use super::source::{Sink, Source};

/// Writes what the rings hold, each record once: into a file for each snapshot.
#[derive(Debug)]
pub(super) struct FlightRecorder {
    files: Files,
    /// The head of the last snapshot of each ring.
    heads: HashMap<RingKey, u64>,
}

impl FlightRecorder {
    pub(super) fn new(files: Files) -> Self {
        Self { files, heads: HashMap::new() }
    }

    /// Returns the files, for the report.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// Writes one file, which begins with the state of the tasks now.
    fn snapshot(&mut self, source: &mut Source, is_part: bool) -> Result<(), Failure> {
        let copies = self.copy(source)?;
        self.files.begin(source, &mut Vec::new())?;
        for words in &copies {
            self.files.write(Window::from_slices(words, &[]))?;
        }
        self.files.complete(source, is_part)
    }

    /// Copies the records that each ring has since the last snapshot, the oldest first. Notes the tasks that have them: those
    /// of their forks may be overwritten.
    fn copy(&mut self, source: &mut Source) -> Result<Vec<Vec<u64>>, Failure> {
        let Source { set, losses, repair, wakeups, tasks, layout, .. } = source;
        let mut copies = Vec::new();
        for (key, mut snapshot) in set.snapshots()? {
            let head = snapshot.head();
            // A ring is written downwards.
            let new = self.heads.insert(key, head).unwrap_or(0).wrapping_sub(head);
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
                // A wakeup is a sample of the waker, who may be of no recorded process.
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
            // All tasks are known now.
            if let Some(filter) = wakeups.as_mut().filter(|_| key.scope().is_system_wide()) {
                filter.choose(words, tasks.as_ref(), true);
            }
        }
        if let Some(tasks) = tasks {
            tasks.forget_exited();
        }
        Ok(copies.into_iter().map(|(_, words)| words).collect())
    }
}

/// Notes the task of a record of a set of tasks.
fn note_task(tasks: &mut ObservedTasks, record: RawRecord<'_>, layout: &SampleLayout) {
    if record.kind() == RecordType::SAMPLE
        && let Ok(sample) = record.sample_head(layout)
        && let (Some(pid), Some(tid)) = (sample.pid(), sample.tid())
    {
        tasks.add(pid, tid);
    }
    tasks.note_record(record, layout);
}

impl Sink for FlightRecorder {
    fn drain(&mut self, _source: &mut Source) -> Result<(), Failure> {
        Ok(())
    }

    fn add_ids(&mut self, _event: usize, _ids: &[u64]) -> Result<(), Failure> {
        // Each file begins with all ids.
        Ok(())
    }

    fn is_full(&self) -> bool {
        false
    }

    fn switch(&mut self, source: &mut Source) -> Result<(), Failure> {
        self.snapshot(source, true)
    }

    fn finish(&mut self, source: &mut Source) -> Result<(), Failure> {
        self.snapshot(source, false)
    }
}
