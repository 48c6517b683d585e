//! Progress of the sampling: a bar on a terminal, lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::chart;
use super::tally::Tally;

/// Time between two lines.
const STEP: Duration = Duration::from_millis(500);

/// Columns of the bar.
const WIDTH: usize = 40;

/// Moves to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

#[derive(Debug)]
pub(crate) struct Progress {
    /// Time of the whole run.
    time: Duration,
    is_bar: bool,
    /// Elapsed time at which the next line is due.
    next: Duration,
}

impl Progress {
    /// Starts the progress of a run of `time`.
    pub(crate) fn new(time: Duration) -> Self {
        Self { time, is_bar: io::stdout().is_terminal(), next: STEP }
    }

    /// Shows the elapsed time and the records so far.
    pub(crate) fn show(&mut self, out: &mut dyn Write, elapsed: Duration, tally: &Tally) -> io::Result<()> {
        let (records, kinds, lost) = (tally.total().records, tally.kinds.len(), tally.lost);
        let seconds = elapsed.as_secs_f64();
        let line = format!("{seconds:4.1} s {records:7} records of {kinds} kinds, {lost} lost");
        if self.is_bar {
            let bar = chart::bar(elapsed.as_millis() as u64, self.time.as_millis() as u64, WIDTH);
            write!(out, "{CLEAR}  [{bar:WIDTH$}] {line}")?;
        } else if elapsed >= self.next {
            self.next = elapsed + STEP;
            writeln!(out, "  {line}")?;
        }
        out.flush()
    }

    /// Clears the bar.
    pub(crate) fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_bar { write!(out, "{CLEAR}") } else { Ok(()) }
    }
}
