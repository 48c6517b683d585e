//! The progress of a command, on standard error.

use std::io::{IsTerminal, stderr, stdout};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use perf_profile::read::{Progress as Reading, Records};

/// Time before progress is shown. Shorter commands show nothing.
const DELAY: Duration = Duration::from_secs(1);

/// Time between two steps of the spinner.
const TICK: Duration = Duration::from_millis(200);

/// When a command writes its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// After the last step, as a table is. Call [`Records::end_progress`] before the output.
    BeforeOutput,
    /// During reading, one line for each record. A bar would disturb the lines on a terminal or in
    /// a pager, so it is shown only if the output is a file.
    BesideOutput,
}

impl Shown {
    fn is_now(self) -> bool {
        stderr().is_terminal() && (self == Self::BeforeOutput || is_file())
    }
}

/// Shows on a terminal how much of a recording was read, after one second.
pub(crate) fn show_progress(records: &mut Records, shown: Shown) {
    if let Some(report) = reading(shown, records.name(), records.byte_len()) {
        records.on_progress(report);
    }
}

/// Returns the callback that shows how much of a recording was read; `None` if nothing is shown.
pub(crate) fn reading(shown: Shown, name: &str, len: Option<u64>) -> Option<impl FnMut(Reading) + 'static> {
    enum Sign {
        Bar(Progress),
        Step(#[expect(dead_code, reason = "shown until it is dropped")] Step),
    }
    let mut sign = Sign::Bar(Progress::new(shown, format!("reading {name}"), len)?);
    Some(move |reading| match (reading, &mut sign) {
        (Reading::Read(bytes), Sign::Bar(bar)) => bar.set(bytes),
        (Reading::Naming, _) => sign = Sign::Step(Step::new(shown, "naming functions")),
        _ => {}
    })
}

/// A progress bar on the terminal, shown after one second. Removed on drop.
#[derive(Debug)]
pub(crate) struct Progress {
    message: String,
    len: Option<u64>,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Makes a bar of `len` bytes, or without a known length. Returns `None` if it is not shown.
    /// `message` must not have control characters.
    pub(crate) fn new(shown: Shown, message: String, len: Option<u64>) -> Option<Self> {
        shown.is_now().then(|| Self { message, len, start: Instant::now(), bar: None })
    }

    /// Shows that `bytes` are done. Reads the clock, so call it every hundred steps.
    pub(crate) fn set(&mut self, bytes: u64) {
        if let Some(bar) = &self.bar {
            // Draws at most 20 times a second.
            bar.set_position(bytes);
        } else if self.start.elapsed() > DELAY {
            let template = if self.len.is_some() {
                "{msg} {wide_bar} {percent} % of {total_bytes}, {eta} left"
            } else {
                "{msg}: {bytes}, {bytes_per_sec}"
            };
            let bar = new_bar(self.len, template, &self.message);
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

/// A spinner on the terminal for a step of unknown length, shown after one second. Removed on drop.
#[derive(Debug)]
pub(crate) struct Step(Option<(Sender<()>, JoinHandle<()>)>);

impl Step {
    /// Begins a step. `message` must not have control characters.
    pub(crate) fn new(shown: Shown, message: &'static str) -> Self {
        if !shown.is_now() {
            return Self(None);
        }
        let (sender, receiver) = channel::<()>();
        let show = move || {
            // The sender sends nothing, and hangs up at the end.
            if receiver.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                let bar = new_bar(None, "{spinner} {msg} {elapsed}", message);
                while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    bar.tick();
                }
                bar.finish_and_clear();
            }
        };
        // If no thread can be started, the step runs without a spinner.
        Self(thread::Builder::new().spawn(show).ok().map(|thread| (sender, thread)))
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // Waits until the spinner is removed, so that it does not mix with output.
            let _ = thread.join();
        }
    }
}

fn new_bar(len: Option<u64>, template: &str, message: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(len, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.with_message(message.to_owned())
}

/// Returns whether standard output is a regular file.
fn is_file() -> bool {
    use rustix::fs::{FileType, fstat};
    fstat(stdout()).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}
