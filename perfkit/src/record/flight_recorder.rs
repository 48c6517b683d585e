//! Recordings of the last moments: rings that are overwritten, and written on demand.

use std::collections::HashMap;

use perf_session::RingKey;
use perf_session::sys::RawRecord;
use perf_session::sys::decode::Window;

use super::Failure;
use super::file::Files;
use super::source::{Sink, Source};

/// Writes what the rings hold, each record once: into a file for each snapshot.
#[derive(Debug)]
pub(super) struct FlightRecorder {
    files: Files,
    /// The head of the last snapshot of each ring.
    heads: HashMap<RingKey, u64>,
    words: Vec<u64>,
}

impl FlightRecorder {
    pub(super) fn new(files: Files) -> Self {
        Self { files, heads: HashMap::new(), words: Vec::new() }
    }

    /// Returns the files, for the report.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// Writes one file, with what was there now as if it was there before.
    fn snapshot(&mut self, source: &mut Source, is_part: bool) -> Result<(), Failure> {
        self.files.begin(source, &mut Vec::new())?;
        for (key, mut snapshot) in source.set.snapshots()? {
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
            self.words.clear();
            records.iter().rev().for_each(|record| self.words.extend_from_slice(record.words()));
            self.files.write(Window::from_slices(&self.words, &[]))?;
        }
        self.files.complete(source, is_part)
    }
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
