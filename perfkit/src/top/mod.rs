//! `perfkit top`: the functions that run now.
//!
//! Three threads: the [`reader`] empties the rings, `perf-symbols` names functions, and the main
//! thread adds up the intervals and shows them. The reader waits for neither of the other threads,
//! so that the rings do not overflow.

use std::io;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;

use perf_profile::LiveProfile;
use perf_session::System;
use perf_session::ring::Waker;

mod options;
mod plain;
mod plan;
mod reader;
mod screen;
mod sums;
#[cfg(feature = "tui")]
mod tui;

pub(crate) use options::Options;

use crate::measure::failure::Failure;
use crate::out::interrupt::{end_on_interrupt, wake};
use crate::out::message::note;
use crate::out::thread;
use plain::Plain;
use plan::Plan;
use reader::{End, Interval, Reader};
use screen::Subject;
use sums::Sums;

/// The reader in its thread.
type Running = JoinHandle<Result<End, Failure>>;

/// Shows tables until the end, and returns the exit code.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let mut options = options.clone();
    if options.target.is_empty() {
        options.target.add_all_cpus();
    }
    top(&options).or_else(|failure| failure.report(options.target.describe().as_deref()))
}

fn top(options: &Options) -> Result<ExitCode, Failure> {
    let plan = Plan::new(options, &System::new())?;
    let set = plan.open()?;
    let names: Vec<_> = set.names().iter().take(plan.wanted).map(|name| &**name).collect();
    let cpus =
        if options.target.is_on_cpus() { format!(" ({})", set.cpus().iter().count()) } else { String::new() };
    let mut target = options.target.describe().unwrap_or_default() + &cpus;
    if set.is_user_only() {
        target += ", user space only";
    }
    let filters = plan.filters();
    let subject = Subject { events: names.join(", "), rate: plan.rate, target };
    let reader = Reader::start(set, plan.wanted, filters, options)?;

    let stop = Waker::new().map_err(io::Error::other)?;
    stop_at_interrupt(&stop, options.has_screen())?;
    let (sender, intervals) = mpsc::channel();
    let delay = options.delay;
    let waker = stop.clone();
    let running = thread::start("perfkit-rings", move || reader.run(delay, &waker, &sender))?;

    let mut live = LiveProfile::new().keeping_eighths(if options.zero { 0 } else { 7 });
    if !options.needs_threads() {
        live = live.by_thread_name();
    }
    let shown = show(options, subject, Sums::new(live, options.delay), intervals);
    // The receiver is dropped too, so the reader ends at its next interval at the latest.
    wake(&stop);
    let ended = join(running);
    shown?;
    if ended? == End::Exited {
        let target = options.target.describe().unwrap_or_default();
        note(format_args!("{target}: exited"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the intervals until the reader ends, or the user quits.
fn show(
    options: &Options,
    subject: Subject,
    mut sums: Sums,
    intervals: Receiver<Interval>,
) -> io::Result<()> {
    #[cfg(feature = "tui")]
    if options.has_screen() {
        return tui::show(options, subject, sums, intervals);
    }
    let mut plain = Plain::new(options, subject)?;
    for interval in intervals {
        plain.print(&sums.add(interval))?;
    }
    Ok(())
}

fn join(running: Running) -> Result<End, Failure> {
    running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Stops the reader at the first interrupt. At the second interrupt, restores the terminal and ends
/// the program.
fn stop_at_interrupt(stop: &Waker, has_screen: bool) -> io::Result<()> {
    let waker = stop.clone();
    let restore = move || {
        #[cfg(feature = "tui")]
        if has_screen {
            // The program ends in any case.
            let _ = tui::restore();
        }
    };
    end_on_interrupt(move || wake(&waker), restore)
}
