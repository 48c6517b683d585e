//! The loop from the rings to the file.

use std::ffi::CString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use perf_decode::LostCounts;
use perf_record::runtime::name_functions;
use perf_record::{Control, ControlCommand, Recorder};
use perf_session::LossLedger;
use signal_hook::consts::SIGUSR2;

use super::Options;
use super::control::{Controlled, Delay};
use super::output::Output;
use super::requests::{Inbox, Request, requests};
use super::sink::Sink;
use crate::measure::command::{self, RunningCommand};
use crate::measure::events::{note_refreshed, set_filters};
use crate::measure::failure::Failure;
use crate::out::interrupt::{end_on_interrupt, on_signal};
use crate::out::message::note;

/// Longest time for which records of a rare event stay in a ring.
const INTERVAL: Duration = Duration::from_secs(1);

/// Interval of CPU checks while a recorded CPU is offline.
const OFFLINE_INTERVAL: Duration = Duration::from_millis(100);

/// A recording in progress.
pub(super) struct Session<'s> {
    recorder: Recorder,
    sink: &'s mut dyn Sink,
    /// The filter of each logical event.
    filters: Vec<Option<CString>>,
    controlled: Controlled,
    /// The time at which the events are enabled.
    enabled_at: Option<Instant>,
    /// The time of the next switch of the output, and the interval after it.
    switched_at: Option<(Instant, Duration)>,
    /// Whether events of CPUs that come online are to be opened.
    follows_cpus: bool,
}

impl<'s> Session<'s> {
    pub(super) fn new(
        recorder: Recorder,
        filters: Vec<Option<CString>>,
        sink: &'s mut dyn Sink,
        controlled: Vec<usize>,
    ) -> Self {
        Self {
            recorder,
            sink,
            filters,
            controlled: Controlled::new(controlled),
            enabled_at: None,
            switched_at: None,
            follows_cpus: false,
        }
    }

    /// Records until the command or the process exits, or until Ctrl-C or `stop`. Returns the
    /// status of the command.
    pub(super) fn run(
        &mut self,
        options: &Options,
        channel: Option<Control>,
    ) -> Result<Option<ExitStatus>, Failure> {
        let (requests, inbox) = requests()?;
        let interrupt = requests.clone();
        end_on_interrupt(move || interrupt.send(Request::Interrupt), || {})?;
        if options.switch.has_parts() {
            let switch = requests.clone();
            on_signal(SIGUSR2, move || switch.send(Request::Switch))?;
        }
        let running = self.start(options)?;
        // After the start, so that the first command does not reach events that are not started.
        if let Some(channel) = channel {
            self.controlled.listen(channel, requests.clone())?;
        }
        if let Some(running) = &running {
            running.on_exit(move || requests.send(Request::Exit))?;
        }
        let ended = self.record(&inbox, options);
        self.controlled.print_unsent();
        if let Some(running) = running.as_ref().filter(|_| !matches!(ended, Ok(End::Exit))) {
            running.terminate()?;
        }
        let status = running.map(RunningCommand::wait).transpose()?;
        ended.map(|_| status)
    }

    /// Starts the events and the command.
    fn start(&mut self, options: &Options) -> Result<Option<RunningCommand>, Failure> {
        let delay = options.control.delay();
        match delay {
            Some(Delay::After(delay)) => self.enabled_at = Some(Instant::now() + delay),
            Some(Delay::UntilEnabled) if !options.quiet => {
                note("events are disabled until --control enables them");
            }
            _ => {}
        }
        let is_for_command = options.target.is_empty();
        if is_for_command {
            // The command enables its events.
        } else if delay.is_some() {
            self.controlled.enable_others(self.recorder.set())?;
        } else {
            self.recorder.set().enable()?;
            self.sink.begin_times(&self.recorder);
        }
        let Some(mut command) = command::command(&options.command) else {
            if let Some(target) = options.target.describe().filter(|_| !options.quiet) {
                note(format_args!("recording {target} {}", options.target.describe_end()));
            }
            return Ok(None);
        };
        if options.jit {
            let set = name_functions(&mut command).iter().map(ToString::to_string).collect::<Vec<_>>();
            if !options.quiet && !set.is_empty() {
                note(format_args!("set for the command: {}", set.join(" ")));
            }
        }
        if Output::is_standard(options.output()) {
            // Standard output is for the recording.
            command.stdout(Stdio::from(io::stderr()));
        }
        if !is_for_command {
            return Ok(Some(command::spawn(&mut command)?));
        }
        let running = command::start(&mut command, self.recorder.set_mut(), true)?;
        self.recorder.add_process(running.id());
        Ok(Some(running))
    }

    fn record(&mut self, inbox: &Inbox, options: &Options) -> Result<End, Failure> {
        let is_on_cpus = options.target.is_on_cpus();
        // The events of wakeups are on CPUs, also if the others are for tasks.
        self.follows_cpus = is_on_cpus || self.recorder.has_wakeups();
        self.switched_at = options.switch.period().map(|period| (Instant::now() + period, period));
        let mut last_look = Instant::now();
        let end = loop {
            let timeout = self.timeout();
            let readiness = self.recorder.set_mut().wait_or_woken(Some(timeout), inbox.waker())?;
            self.sink.drain(&mut self.recorder)?;
            if let Some(end) = self.answer(inbox, options)? {
                break end;
            }
            let is_due = self.switched_at.is_some_and(|(time, _)| time <= Instant::now());
            if is_due || self.sink.is_full() {
                self.switch()?;
            }
            if self.enabled_at.is_some_and(|time| time <= Instant::now()) {
                self.enabled_at = None;
                self.controlled.enable(self.recorder.set())?;
            }
            if readiness.is_final() && !(is_on_cpus && self.follows_cpus) {
                break End::Exit;
            }
            if readiness.is_final() {
                // All CPUs are offline, and may return.
                thread::sleep(OFFLINE_INTERVAL);
            }
            if self.follows_cpus && last_look.elapsed() >= self.look_interval() {
                self.look_for_cpus()?;
                last_look = Instant::now();
            }
        };
        self.recorder.set().disable()?;
        self.sink.finish(&mut self.recorder)?;
        Ok(end)
    }

    /// Returns the longest time to wait for records.
    fn timeout(&self) -> Duration {
        let switched_at = self.switched_at.map(|(time, _)| time);
        let next = self.enabled_at.into_iter().chain(switched_at).min();
        let longest = self.look_interval();
        next.map_or(longest, |time| time.saturating_duration_since(Instant::now()).min(longest))
    }

    /// Returns the interval of CPU checks. It is short while a CPU is offline, because nothing is
    /// recorded there from its return until the next check.
    fn look_interval(&self) -> Duration {
        let is_missing = self.follows_cpus && !self.recorder.set().offline().is_empty();
        if is_missing { OFFLINE_INTERVAL } else { INTERVAL }
    }

    /// Begins the next part of the output.
    fn switch(&mut self) -> Result<(), Failure> {
        self.sink.switch(&mut self.recorder)?;
        if let Some((time, period)) = &mut self.switched_at {
            // Skip periods that have already passed.
            while *time <= Instant::now() {
                *time += *period;
            }
        }
        Ok(())
    }

    /// Handles the requests of other threads. Returns the reason if a request ends the recording.
    fn answer(&mut self, inbox: &Inbox, options: &Options) -> Result<Option<End>, Failure> {
        for request in inbox.take()? {
            match request {
                Request::Interrupt => return Ok(Some(End::Stop)),
                Request::Exit => return Ok(Some(End::Exit)),
                Request::Switch => self.switch()?,
                Request::Control(command) => {
                    if command == ControlCommand::Snapshot && options.switch.has_parts() {
                        self.switch()?;
                    }
                    self.controlled.apply(self.recorder.set(), &command)?;
                    self.controlled.acknowledge(&command);
                    if command == ControlCommand::Stop {
                        return Ok(Some(End::Stop));
                    }
                }
                Request::ControlEnd(Ok(())) => note("--control: the descriptor of commands was closed"),
                Request::ControlEnd(Err(error)) => {
                    note(format_args!("--control: no further commands: {error}"));
                }
            }
        }
        Ok(None)
    }

    /// Opens the events of CPUs that came online, and adds their ids to the file.
    fn look_for_cpus(&mut self) -> Result<(), Failure> {
        let filters = &self.filters;
        let refreshed =
            self.recorder.set_mut().refresh_with(|set| set_filters(set, filters).map_err(Failure::from));
        let refreshed = match refreshed {
            Ok(refreshed) => refreshed,
            Err(failure) => {
                note(format_args!("events of CPUs that come online are not opened from here on: {failure}"));
                self.follows_cpus = false;
                return Ok(());
            }
        };
        note_refreshed(&refreshed);
        if !refreshed.opened.is_empty() {
            for (event, ids) in self.recorder.learn_ids()? {
                self.sink.add_ids(event, &ids)?;
            }
        }
        Ok(())
    }

    /// Closes the events, and returns what was lost, with the sum as it is in the recording.
    pub(super) fn close(self) -> (LossLedger, LostCounts) {
        self.recorder.close()
    }
}

/// The end of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The command or all tasks have exited.
    Exit,
    /// Ctrl-C or `stop`: the command still runs.
    Stop,
}
