//! Progress of the sampling: a bar on a terminal, lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::tally::Tally;

/// Time between two lines.
const STEP: Duration = Duration::from_millis(500);

/// A bar or lines.
#[derive(Debug)]
pub(crate) enum Progress {
    Bar(ProgressBar),
    Lines {
        /// Elapsed time at which the next line is due.
        next: Duration,
    },
}

impl Progress {
    /// Starts the progress of a run of `time`.
    pub(crate) fn new(time: Duration) -> Self {
        if !io::stdout().is_terminal() {
            return Self::Lines { next: STEP };
        }
        let bar = ProgressBar::with_draw_target(Some(time.as_millis() as u64), ProgressDrawTarget::stdout());
        let style = ProgressStyle::with_template("  [{bar:40}] {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        Self::Bar(bar)
    }

    /// Shows the elapsed time and the records so far.
    pub(crate) fn show(&mut self, out: &mut dyn Write, elapsed: Duration, tally: &Tally) -> io::Result<()> {
        match self {
            Self::Bar(bar) => {
                bar.set_position(elapsed.as_millis() as u64);
                bar.set_message(line(elapsed, tally));
            }
            Self::Lines { next } if elapsed >= *next => {
                *next = elapsed + STEP;
                writeln!(out, "  {}", line(elapsed, tally))?;
                out.flush()?;
            }
            Self::Lines { .. } => {}
        }
        Ok(())
    }

    /// Clears the bar.
    pub(crate) fn finish(self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn line(elapsed: Duration, tally: &Tally) -> String {
    let (records, kinds, lost) = (tally.total().records, tally.kinds.len(), tally.lost);
    format!("{:4.1} s {records:7} records of {kinds} kinds, {lost} lost", elapsed.as_secs_f64())
}
