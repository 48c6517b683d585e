//! The loop from the rings to the file.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use perf_file::writer::{Inventory, Writer};
use perf_session::sys::decode::Window;
use perf_session::sys::{Attr, RawRecord, RecordType, SampleLayout};
use perf_session::{Control, ControlCommand, EventSet, LossLedger, Refreshed};

use super::control::{Controlled, Delay};
use super::features::Described;
use super::losses::Losses;
use super::output::Output;
use super::requests::{Inbox, Request, requests};
use super::{Failure, Options};
use crate::command::{self, RunningCommand};
use crate::events::set_filters;
use crate::interrupt::{SECOND_INTERRUPT, on_interrupt};
use crate::message::note;

/// Longest time for which records of a rare event stay in a ring.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time between two looks for CPUs while all CPUs of the recording are offline.
const OFFLINE_INTERVAL: Duration = Duration::from_millis(100);

/// A recording in progress.
#[derive(Debug)]
pub(super) struct Session {
    set: EventSet,
    described: Described,
    writer: Writer<File>,
    inventory: Inventory,
    /// The layout of the first event. The times of all events are at the same place.
    layout: SampleLayout,
    copy: Vec<u64>,
    losses: Losses,
    /// The filter of each logical event.
    filters: Vec<Option<CString>>,
    controlled: Controlled,
    /// The time at which the events are enabled.
    enabled_at: Option<Instant>,
    /// Whether events of CPUs that come online are to be opened.
    follows_cpus: bool,
}

/// The result of a recording.
#[derive(Debug)]
pub(super) struct Recorded {
    pub(super) described: Described,
    pub(super) inventory: Inventory,
    pub(super) ledger: LossLedger,
    pub(super) writer: Writer<File>,
}

impl Session {
    /// `attr` is that of the first event.
    pub(super) fn new(
        set: EventSet,
        described: Described,
        filters: Vec<Option<CString>>,
        writer: Writer<File>,
        attr: &Attr,
        controlled: Vec<usize>,
    ) -> Self {
        let (inventory, layout, losses) = (Inventory::new(attr), SampleLayout::new(attr), Losses::new(&set));
        Self {
            set,
            described,
            writer,
            inventory,
            layout,
            copy: Vec::new(),
            losses,
            filters,
            controlled: Controlled::new(controlled),
            enabled_at: None,
            follows_cpus: false,
        }
    }

    /// Records until the command or the process exits, or until Ctrl-C or `stop`. Returns the status of the command.
    pub(super) fn run(
        &mut self,
        options: &Options,
        channel: Option<Control>,
    ) -> Result<Option<ExitStatus>, Failure> {
        let (requests, inbox) = requests()?;
        let (interrupt, mut is_second) = (requests.clone(), false);
        on_interrupt(move || {
            if std::mem::replace(&mut is_second, true) {
                // For a command that does not end.
                std::process::exit(SECOND_INTERRUPT);
            }
            interrupt.send(Request::Interrupt);
        })?;
        let running = self.start(options)?;
        // After the start, so that the first command does not find the events before it.
        if let Some(channel) = channel {
            self.controlled.listen(channel, requests.clone())?;
        }
        if let Some(running) = &running {
            running.on_exit(move || requests.send(Request::Exit))?;
        }
        let ended = self.record(&inbox, options.target.is_on_cpus());
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
            // It enables its events.
        } else if delay.is_some() {
            self.controlled.enable_others(&self.set)?;
        } else {
            self.set.enable()?;
        }
        let Some(mut command) = command::command(&options.command) else {
            if let Some(target) = options.target.describe().filter(|_| !options.quiet) {
                let exit = match options.target.tasks().len() {
                    _ if options.target.is_on_cpus() => "",
                    0 | 1 => "its exit or ",
                    _ => "their exit or ",
                };
                note(format_args!("recording {target} until {exit}Ctrl-C"));
            }
            return Ok(None);
        };
        if Output::is_standard(options.output()) {
            // The recording has standard output.
            command.stdout(Stdio::from(io::stderr()));
        }
        Ok(Some(if is_for_command {
            command::start(&mut command, &mut self.set, true)?
        } else {
            command::spawn(&mut command)?
        }))
    }

    fn record(&mut self, inbox: &Inbox, is_on_cpus: bool) -> Result<End, Failure> {
        self.follows_cpus = is_on_cpus;
        let mut last_look = Instant::now();
        let end = loop {
            let readiness = self.set.wait_or_woken(Some(self.timeout()), inbox.waker())?;
            self.drain()?;
            if let Some(end) = self.answer(inbox)? {
                break end;
            }
            if self.enabled_at.is_some_and(|time| time <= Instant::now()) {
                self.enabled_at = None;
                self.controlled.enable(&self.set)?;
            }
            if readiness.is_final() && !self.follows_cpus {
                break End::Exit;
            }
            if readiness.is_final() {
                // All CPUs are offline, and may return.
                thread::sleep(OFFLINE_INTERVAL);
            }
            if self.follows_cpus && last_look.elapsed() >= INTERVAL {
                self.look_for_cpus()?;
                last_look = Instant::now();
            }
        };
        self.set.disable()?;
        self.drain()?;
        self.write_losses()?;
        self.writer.finish_round()?;
        Ok(end)
    }

    /// Returns the longest time to wait for records.
    fn timeout(&self) -> Duration {
        let until = |time: Instant| time.saturating_duration_since(Instant::now());
        self.enabled_at.map_or(INTERVAL, |time| until(time).min(INTERVAL))
    }

    /// Follows the requests of other threads. Returns the reason if one ends the recording.
    fn answer(&mut self, inbox: &Inbox) -> Result<Option<End>, Failure> {
        for request in inbox.take()? {
            match request {
                Request::Interrupt => return Ok(Some(End::Stop)),
                Request::Exit => return Ok(Some(End::Exit)),
                Request::Control(command) => {
                    self.controlled.apply(&self.set, &command)?;
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
        let refreshed = self.set.refresh_with(|set| set_filters(set, filters).map_err(Failure::from));
        let Refreshed { closed, opened } = match refreshed {
            Ok(refreshed) => refreshed,
            Err(failure) => {
                note(format_args!("events of CPUs that come online are not opened from here on: {failure}"));
                self.follows_cpus = false;
                return Ok(());
            }
        };
        if !closed.is_empty() {
            note(format_args!("CPU {closed} is offline, or was offline briefly"));
        }
        if !opened.is_empty() {
            note(format_args!("CPU {opened}: online, events opened"));
            for (event, ids) in self.described.add_new_ids(&self.set)? {
                self.writer.add_ids(event, &ids)?;
            }
        }
        Ok(())
    }

    /// Writes the unread records of all rings, as one round.
    fn drain(&mut self) -> Result<(), Failure> {
        let Self { set, described, writer, inventory, layout, copy, losses, .. } = self;
        let (rings, ledger) = set.rings_and_ledger()?;
        let (mut is_empty, mut has_lost) = (true, false);
        for (key, batch) in rings.ready() {
            // Copied, so that the kernel has the ring while the file is written.
            let window = batch?.copy_into(copy);
            let mut window_has_lost = false;
            inventory.note_with(window, |record| {
                window_has_lost |= record.kind() == RecordType::LOST;
                let event = event_of(described, record, layout);
                ledger.note_record(*key, record, layout, event);
            });
            if window_has_lost && losses.are_counted {
                has_lost = true;
                write_without_lost(writer, window)?;
            } else {
                writer.write_window(window)?;
            }
            is_empty = false;
        }
        if has_lost {
            self.write_losses()?;
        }
        if !is_empty {
            self.writer.finish_round()?;
        }
        Ok(())
    }

    /// Writes what the events have lost, with the time of the last sample.
    fn write_losses(&mut self) -> Result<(), Failure> {
        let Self { set, described, writer, inventory, losses, .. } = self;
        let time = inventory.sample_times.map_or(0, |(_, last)| last);
        losses.write(set, described, writer, time)
    }

    /// Closes the events, and returns what was recorded.
    pub(super) fn finish(self) -> Recorded {
        let Self { set, described, writer, inventory, .. } = self;
        let known = set.ledger().clone();
        // Without the last losses if an event cannot be read.
        let ledger = set.close().unwrap_or(known);
        Recorded { described, inventory, ledger, writer }
    }
}

/// Writes the records of a window but those of kind `LOST`.
fn write_without_lost(writer: &mut Writer<File>, window: Window<'_>) -> perf_file::Result<()> {
    // A copied window does not wrap.
    for record in window.records(&mut []).map_while(Result::ok) {
        if record.kind() != RecordType::LOST {
            writer.write_records(record.bytes())?;
        }
    }
    Ok(())
}

/// Returns the name of the event of a record that reports a loss of this event.
fn event_of(described: &Described, record: RawRecord<'_>, layout: &SampleLayout) -> Option<Arc<str>> {
    let kinds = [RecordType::THROTTLE, RecordType::UNTHROTTLE, RecordType::LOST_SAMPLES];
    if !kinds.contains(&record.kind()) {
        return None;
    }
    described.name_of(record.id(layout)?).map(Arc::from)
}

/// The end of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The command or all tasks have exited.
    Exit,
    /// Ctrl-C or `stop`: the command still runs.
    Stop,
}
