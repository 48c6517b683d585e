//! How far a command is, on standard error.

use std::io::{IsTerminal, stderr, stdout};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A command that ends before shows nothing.
const DELAY: Duration = Duration::from_secs(1);

/// When a command writes its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// After all steps, as a table. Call [`Records::clear_progress`](super::Records::clear_progress) before it.
    BeforeOutput,
    /// While it reads, a line a record. A bar among the lines, or over the screen of a pager that reads them, would
    /// disturb, so that it is shown only if the output is a file.
    BesideOutput,
}

/// A bar on the terminal, from the second second on. Dropping removes it.
#[derive(Debug)]
pub(crate) struct Progress {
    message: String,
    len: Option<u64>,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Makes a bar of `len` bytes, or one without an end. Returns `None` if it is not to be shown. `message` has no control
    /// characters.
    pub(crate) fn new(shown: Shown, message: String, len: Option<u64>) -> Option<Self> {
        let is_disturbing = shown == Shown::BesideOutput && !is_file();
        (stderr().is_terminal() && !is_disturbing).then(|| Self {
            message,
            len,
            start: Instant::now(),
            bar: None,
        })
    }

    /// Shows that `bytes` are done. Costs a look at the clock, so call it every hundred steps.
    pub(crate) fn set(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            // Draws at most 20 times a second.
            bar.set_position(bytes);
        } else if self.start.elapsed() > DELAY {
            let bar = ProgressBar::with_draw_target(self.len, ProgressDrawTarget::stderr());
            bar.set_style(style(self.len.is_some()));
            bar.set_message(self.message.clone());
            bar.set_position(bytes);
            self.bar = Some(bar);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns whether standard output is a regular file.
fn is_file() -> bool {
    use rustix::fs::{FileType, fstat};
    fstat(stdout()).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

fn style(has_end: bool) -> ProgressStyle {
    let template = if has_end {
        "{msg} {wide_bar} {percent} % of {total_bytes}, {eta} left"
    } else {
        "{msg}: {bytes}, {bytes_per_sec}"
    };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
