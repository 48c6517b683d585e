//! The output of a recording, which takes the records of the events.

use perf_record::Recorder;

use crate::measure::failure::Failure;

/// The output of a recording.
pub(super) trait Sink {
    /// Consumes the unread records of all rings.
    fn drain(&mut self, recorder: &mut Recorder) -> Result<(), Failure>;

    /// Adds the ids of newly opened events.
    fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<(), Failure>;

    /// Returns whether the current part has reached the size that the user chose.
    fn is_full(&self) -> bool;

    /// Ends a part of the output and begins the next. Each record is in exactly one part.
    fn switch(&mut self, recorder: &mut Recorder) -> Result<(), Failure>;

    /// Ends the output.
    fn finish(&mut self, recorder: &mut Recorder) -> Result<(), Failure>;
}
