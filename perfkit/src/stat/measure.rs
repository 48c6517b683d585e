//! One measurement, until the command or the process exits, or until Ctrl-C.

use std::io;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use perf_session::{Counts, EventSet, EventSetTarget};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::Options;
use super::cpu_times::CpuTimes;
use super::events::Events;
use super::report::Report;
use crate::measure::command::{self, RunningCommand};
use crate::measure::events::set_filters;
use crate::measure::failure::Failure;
use crate::out::interrupt::on_interrupt;
use crate::out::message::note;
use crate::out::thread;

/// The result of one run.
#[derive(Debug)]
pub(super) struct Measurement {
    pub(super) counts: Counts,
    /// Seconds from the start of the command, or the end of the delay, to the end.
    pub(super) elapsed: f64,
    /// The CPU time of the command, `None` if other tasks are counted.
    pub(super) cpu_times: Option<CpuTimes>,
    /// The status of the command; `None` without a command, and if it was terminated because the
    /// measurement was over.
    pub(super) status: Option<ExitStatus>,
    /// Whether no run follows, because of Ctrl-C.
    pub(super) is_last: bool,
}

/// `PIDFD_THREAD`, since Linux 6.9.
const PIDFD_THREAD: PidfdFlags = PidfdFlags::from_bits_retain(0o200);

/// The reason why a measurement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Exited,
    Interrupted,
    /// The time or the number of intervals is over.
    Over,
}

/// Receives the ends of all runs.
#[derive(Debug)]
pub(super) struct Ends {
    sender: Sender<End>,
    receiver: Receiver<End>,
}

impl Ends {
    /// Receives Ctrl-C from now on.
    pub(super) fn new() -> io::Result<Self> {
        let (sender, receiver) = channel();
        let interrupted = sender.clone();
        on_interrupt(move || {
            // Fails only after the last measurement.
            let _ = interrupted.send(End::Interrupted);
        })?;
        Ok(Self { sender, receiver })
    }

    /// Waits for an end until a time, or without a limit for `None`. Returns `None` at that time.
    fn wait(&self, until: Option<Instant>) -> Option<End> {
        let received = match until {
            None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(until) => self.receiver.recv_timeout(until.saturating_duration_since(Instant::now())),
        };
        match received {
            Ok(end) => Some(end),
            Err(RecvTimeoutError::Disconnected) => Some(End::Exited),
            Err(RecvTimeoutError::Timeout) => None,
        }
    }
}

/// Counts once.
pub(super) fn run(
    options: &Options,
    events: &mut Events,
    target: &EventSetTarget,
    ends: &Ends,
    report: &mut Report,
) -> Result<Measurement, Failure> {
    let mut set = events.open(target)?;
    let times_before = CpuTimes::of_children()?;
    let mut before = set.counts()?;
    report.start(&before)?;
    let mut started = Instant::now();
    let running = start(options, &mut set)?;
    let sender = ends.sender.clone();
    match (&running, options.target.tasks()) {
        (Some(running), _) => running.on_exit(move || {
            // Fails only after the last measurement.
            let _ = sender.send(End::Exited);
        })?,
        (None, []) => {}
        (None, tasks) => on_exit_of_all(tasks, options.target.processes().is_empty(), sender)?,
    }
    let mut end = None;
    if let Some(delay) = options.delay {
        end = ends.wait(started.checked_add(delay));
        // The events of a command start at its `exec`, so what they counted during the delay is
        // subtracted.
        (before, started) = (set.counts()?, Instant::now());
    }
    let mut intervals = Intervals { started, length: options.interval, previous: before.clone(), last: 0.0 };
    let end = match end {
        Some(end) => end,
        None => intervals.print_until_end(options, events, &mut set, ends, report)?,
    };
    let mut is_last = end == End::Interrupted;
    let mut status = None;
    if let Some(running) = running {
        let mut has_exited = end == End::Exited;
        if !has_exited {
            running.terminate()?;
            has_exited = ends.wait(None) == Some(End::Exited);
        }
        if has_exited {
            status = Some(running.wait()?).filter(|_| end != End::Over);
        } else {
            // The second Ctrl-C.
            running.kill()?;
            is_last = true;
        }
    }
    let elapsed = started.elapsed().as_secs_f64();
    // The command was waited for.
    let cpu_times = CpuTimes::of_children()?.since(times_before);
    let cpu_times = options.is_for_command().then_some(cpu_times);
    set.disable()?;
    let counts = set.counts()?;
    if options.interval.is_some() && (end != End::Over) {
        intervals.print(events, &counts, report)?;
    }
    Ok(Measurement { counts: counts.since(&before), elapsed, cpu_times, status, is_last })
}

/// The intervals of a run.
struct Intervals {
    started: Instant,
    length: Option<Duration>,
    /// The counts at the end of the last interval.
    previous: Counts,
    /// Seconds from the start to the end of the last interval.
    last: f64,
}

impl Intervals {
    /// Prints the counts of each interval until the measurement ends.
    fn print_until_end(
        &mut self,
        options: &Options,
        events: &Events,
        set: &mut EventSet,
        ends: &Ends,
        report: &mut Report,
    ) -> Result<End, Failure> {
        let filters = events.filters();
        let mut next = self.length.or(options.timeout).and_then(|length| self.started.checked_add(length));
        let mut left = options.interval_count.map(u32::from);
        loop {
            if let Some(end) = ends.wait(next) {
                return Ok(end);
            }
            let Some(length) = self.length else { return Ok(End::Over) };
            set.refresh_with(|set| set_filters(set, &filters).map_err(Failure::from))?;
            self.print(events, &set.counts()?, report)?;
            left = left.map(|left| left - 1);
            if left == Some(0) {
                return Ok(End::Over);
            }
            next = next.and_then(|next| next.checked_add(length));
        }
    }

    /// Prints the counts since the last interval.
    fn print(&mut self, events: &Events, counts: &Counts, report: &mut Report) -> io::Result<()> {
        let seconds = self.started.elapsed().as_secs_f64();
        report.interval(events, seconds, seconds - self.last, counts.since(&self.previous))?;
        self.previous = counts.clone();
        self.last = seconds;
        Ok(())
    }
}

/// Starts the counting, and the command.
fn start(options: &Options, set: &mut EventSet) -> Result<Option<RunningCommand>, Failure> {
    let Some(mut command) = command::command(&options.command) else {
        set.enable()?;
        // Otherwise it prints soon.
        if options.interval.or(options.timeout).is_none() {
            let target = super::described(options).unwrap_or_default();
            note(format_args!("counting {target} {}", options.target.describe_end()));
        }
        return Ok(None);
    };
    Ok(Some(command::start(&mut command, set, options.is_for_command())?))
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
    thread::start("perfkit-wait", wait).map(drop)
}
