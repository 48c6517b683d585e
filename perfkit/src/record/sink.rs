//! The output of a recording, which takes the records of the events.

use perf_record::Recorder;
use perf_record::synthesize::Missing;

use super::report::Written;
use crate::measure::failure::Failure;

/// The output of a recording.
pub(super) trait Sink {
    /// Begins the output. Returns what is missing of the state before the recording.
    fn begin<'r>(&'r mut self, recorder: &'r mut Recorder) -> Result<&'r [Missing], Failure>;

    /// Notes that the events were enabled.
    fn begin_times(&mut self, _recorder: &Recorder) {}

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

    /// Returns the numbers for the report.
    fn written(&self) -> Written;

    /// Removes an output that never began.
    fn discard(&mut self) {}

    /// Returns whether everything was written and sent.
    fn is_written(&self) -> bool {
        true
    }

    /// Prints what was not written, apart from losses of the kernel; if `is_quiet`, only that.
    fn print_outcome(&self, _is_quiet: bool) {}
}
