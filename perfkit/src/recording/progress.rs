//! How far a command is, on standard error.

use std::io::{IsTerminal, stderr, stdout};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use perf_profile::read::{Progress as Reading, Records};

/// A command that ends before shows nothing.
const DELAY: Duration = Duration::from_secs(1);

/// Time between two steps of a sign that shows only that the program works.
const TICK: Duration = Duration::from_millis(200);

/// When a command writes its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// After all steps, as a table. Call [`Records::end_progress`] before it.
    BeforeOutput,
    /// While it reads, a line a record. A bar among the lines, or over the screen of a pager that reads them, would
    /// disturb, so that it is shown only if the output is a file.
    BesideOutput,
}

impl Shown {
    fn is_now(self) -> bool {
        stderr().is_terminal() && (self == Self::BeforeOutput || is_file())
    }
}

/// Shows on a terminal how much of a recording was read, after a second.
pub(crate) fn show_progress(records: &mut Records, shown: Shown) {
    if let Some(report) = reading(shown, records.name(), records.byte_len()) {
        records.on_progress(report);
    }
}

/// Returns what shows how far the reading of a recording is, if it is to be shown.
pub(super) fn reading(shown: Shown, name: &str, len: Option<u64>) -> Option<impl FnMut(Reading) + 'static> {
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
        shown.is_now().then(|| Self { message, len, start: Instant::now(), bar: None })
    }

    /// Shows that `bytes` are done. Costs a look at the clock, so call it every hundred steps.
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

/// A sign on the terminal that the program works, from the second second on, for a step whose length is unknown. Dropping
/// removes it.
#[derive(Debug)]
pub(crate) struct Step(Option<(Sender<()>, JoinHandle<()>)>);

impl Step {
    /// Begins a step. `message` has no control characters.
    pub(crate) fn new(shown: Shown, message: &'static str) -> Self {
        if !shown.is_now() {
            return Self(None);
        }
        let (sender, receiver) = channel::<()>();
        let show = move || {
            // The sender only hangs up.
            if receiver.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                let bar = new_bar(None, "{spinner} {msg} {elapsed}", message);
                while receiver.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    bar.tick();
                }
                bar.finish_and_clear();
            }
        };
        // Without a thread there is no sign, which is no reason to fail.
        Self(thread::Builder::new().spawn(show).ok().map(|thread| (sender, thread)))
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // Waits until the sign is removed, so that output does not mix with it.
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
