//! One measurement, until the command or the process exits, or until Ctrl-C.

use std::io;
use std::process::ExitStatus;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use perf_session::{Counts, EventSet, EventSetTarget};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::events::Events;
use super::{Failure, Options};
use crate::command::{self, RunningCommand};
use crate::events::set_filters;
use crate::interrupt::on_interrupt;

/// The result of one run.
#[derive(Debug)]
pub(super) struct Measurement {
    pub(super) counts: Counts,
    /// Seconds from the start of the command to its end.
    pub(super) elapsed: f64,
    pub(super) status: Option<ExitStatus>,
    pub(super) is_interrupted: bool,
}

/// `PIDFD_THREAD`, since Linux 6.9.
const PIDFD_THREAD: PidfdFlags = PidfdFlags::from_bits_retain(0o200);

/// The reason why a measurement ends.
#[derive(Debug)]
enum End {
    Exited,
    Interrupted,
}

/// Prints the counts of an interval, which ends at a time in seconds from the start.
pub(super) type PrintInterval<'a> = dyn FnMut(&Events, f64, &Counts) -> io::Result<()> + 'a;

/// Counts once.
pub(super) fn run(
    options: &Options,
    events: &mut Events,
    target: &EventSetTarget,
    print: &mut PrintInterval<'_>,
) -> Result<Measurement, Failure> {
    let mut set = events.open(target)?;
    let (sender, ends) = channel();
    let interrupted = sender.clone();
    on_interrupt(move || {
        // Fails only after the measurement.
        let _ = interrupted.send(End::Interrupted);
    })?;
    let filters = events.filters();
    let before = set.counts()?;
    let started = Instant::now();
    let running = start(options, &mut set)?;
    match (&running, options.target.tasks()) {
        (Some(running), _) => running.on_exit(move || drop(sender.send(End::Exited)))?,
        (None, []) => {}
        (None, tasks) => on_exit_of_all(tasks, options.target.processes().is_empty(), sender)?,
    }
    let mut previous = before.clone();
    let mut next = options.interval.unwrap_or_default();
    let end = loop {
        let received = match options.interval {
            None => ends.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) => ends.recv_timeout(next.saturating_sub(started.elapsed())),
        };
        match received {
            Ok(end) => break end,
            Err(RecvTimeoutError::Disconnected) => break End::Exited,
            Err(RecvTimeoutError::Timeout) => {
                set.refresh_with(|set| set_filters(set, &filters).map_err(Failure::from))?;
                let counts = set.counts()?;
                print(events, started.elapsed().as_secs_f64(), &counts.since(&previous))?;
                previous = counts;
                next += options.interval.unwrap_or(Duration::MAX);
            }
        }
    };
    let is_interrupted = matches!(end, End::Interrupted);
    if let (true, Some(running)) = (is_interrupted, &running) {
        running.terminate()?;
    }
    let status = running.map(RunningCommand::wait).transpose()?;
    set.disable()?;
    let elapsed = started.elapsed().as_secs_f64();
    let counts = set.counts()?;
    if options.interval.is_some() {
        print(events, elapsed, &counts.since(&previous))?;
    }
    Ok(Measurement { counts: counts.since(&before), elapsed, status, is_interrupted })
}

/// Starts the counting, and the command.
fn start(options: &Options, set: &mut EventSet) -> Result<Option<RunningCommand>, Failure> {
    let Some(mut command) = command::command(&options.command) else {
        set.enable()?;
        return Ok(None);
    };
    Ok(Some(command::start(&mut command, set, options.target.is_empty())?))
}

/// Sends the end when all processes, or threads, have exited.
fn on_exit_of_all(tasks: &[u32], are_threads: bool, ends: Sender<End>) -> io::Result<()> {
    let mut open = Vec::new();
    for &id in tasks {
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
        let flags = if are_threads { PIDFD_THREAD } else { PidfdFlags::empty() };
        match pidfd_open(pid, flags) {
            Ok(task) => open.push(task),
            // A thread before Linux 6.9: the measurement lasts until Ctrl-C.
            Err(rustix::io::Errno::INVAL) if are_threads => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    let wait = move || {
        for task in &open {
            let mut fds = [PollFd::new(task, PollFlags::IN)];
            while matches!(poll(&mut fds, None), Err(rustix::io::Errno::INTR)) {}
        }
        // Fails only after the measurement.
        let _ = ends.send(End::Exited);
    };
    thread::Builder::new().name("perfkit-wait".to_owned()).spawn(wait).map(drop)
}
