//! The output of a recording, which takes the records of the events.

use perf_record::Recorder;

use super::Failure;

/// The output of a recording.
pub(super) trait Sink {
    /// Takes the unread records of all rings.
    fn drain(&mut self, recorder: &mut Recorder) -> Result<(), Failure>;

    /// Learns the ids of events that were opened.
    fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<(), Failure>;

    /// Returns whether what was written is as large as the user wants one part.
    fn is_full(&self) -> bool;

    /// Ends a part of the output and begins the next. Each record is in one of them.
    fn switch(&mut self, recorder: &mut Recorder) -> Result<(), Failure>;

    /// Ends the output.
    fn finish(&mut self, recorder: &mut Recorder) -> Result<(), Failure>;
}
