//! Recordings of the last moments: rings are overwritten, and written to a file on demand.

use perf_record::Recorder;

use super::file::Files;
use super::sink::Sink;
use crate::measure::failure::Failure;

/// Writes the content of the rings into a file for each snapshot, each record once.
#[derive(Debug)]
pub(super) struct FlightRecorder(Files);

impl FlightRecorder {
    pub(super) fn new(files: Files) -> Self {
        Self(files)
    }

    /// Returns the files, for the report.
    pub(super) fn files(&self) -> &Files {
        &self.0
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
}
