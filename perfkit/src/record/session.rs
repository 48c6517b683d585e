//! The loop from the rings to the file.

use std::fs::File;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use perf_events::sys::{Canceller, Readiness};
use perf_events::{LossKind, Set};
use perf_file::writer::{Inventory, Writer};

use super::output::Output;
use super::{Failure, Options};
use crate::command::{self, RunningCommand};
use crate::interrupt::on_interrupt;

/// Longest time for which records of a rare event stay in a ring.
const INTERVAL: Duration = Duration::from_secs(1);

/// A recording in progress.
#[derive(Debug)]
pub(super) struct Session {
    set: Set,
    writer: Writer<File>,
    pub(super) inventory: Inventory,
    copy: Vec<u64>,
}

impl Session {
    pub(super) fn new(set: Set, writer: Writer<File>, inventory: Inventory) -> Self {
        Self { set, writer, inventory, copy: Vec::new() }
    }

    /// Records until the command or the process exits, or until Ctrl-C. Returns the status of the command.
    pub(super) fn run(&mut self, options: &Options) -> Result<Option<ExitStatus>, Failure> {
        let stop = Canceller::new()?;
        let is_interrupted = Arc::new(AtomicBool::new(false));
        let (interrupted, canceller) = (Arc::clone(&is_interrupted), stop.clone());
        on_interrupt(move || {
            if interrupted.swap(true, Ordering::Relaxed) {
                // The second one, for a command that does not end.
                std::process::exit(SECOND_INTERRUPT);
            }
            cancel(&canceller);
        })?;
        let running = self.start(options)?;
        if let Some(running) = &running {
            let canceller = stop.clone();
            running.on_exit(move || cancel(&canceller))?;
        }
        let recorded = self.record(&stop);
        if let Some(running) =
            running.as_ref().filter(|_| recorded.is_err() || is_interrupted.load(Ordering::Relaxed))
        {
            running.terminate()?;
        }
        let status = running.map(RunningCommand::wait).transpose()?;
        recorded.map(|()| status)
    }

    /// Starts the events and the command.
    fn start(&mut self, options: &Options) -> Result<Option<RunningCommand>, Failure> {
        let Some(mut command) = command::command(&options.command) else {
            self.set.enable()?;
            return Ok(None);
        };
        if Output::is_standard(&options.output) {
            // The recording has standard output.
            command.stdout(Stdio::from(io::stderr()));
        }
        let is_for_command = !options.is_on_cpus() && options.pid.is_none();
        Ok(Some(command::start(&mut command, &mut self.set, is_for_command)?))
    }

    fn record(&mut self, stop: &Canceller) -> Result<(), Failure> {
        loop {
            let readiness = self.set.wait_or_cancelled(Some(INTERVAL), stop)?;
            self.drain()?;
            if readiness == Readiness::Cancelled || readiness.is_final() {
                break;
            }
        }
        self.set.disable()?;
        self.drain()
    }

    /// Writes the unread records of all rings, as one round.
    fn drain(&mut self) -> Result<(), Failure> {
        let mut is_empty = true;
        for (_, batch) in self.set.rings_mut()?.ready() {
            // Copied, so that the kernel has the ring while the file is written.
            let window = batch?.copy_into(&mut self.copy);
            self.writer.write_window(window)?;
            self.inventory.note(window);
            is_empty = false;
        }
        if !is_empty {
            self.writer.finish_round()?;
        }
        Ok(())
    }

    /// Returns the number of records that the kernel dropped, and the parts of the session.
    pub(super) fn finish(mut self) -> Result<(u64, Inventory, Writer<File>), Failure> {
        // The events count all losses since Linux 6.0; LOST records miss the last ones.
        let read = self.set.losses()?.amount(LossKind::ReadLost);
        Ok((read.max(self.inventory.lost()), self.inventory, self.writer))
    }
}

fn cancel(canceller: &Canceller) {
    // No errno is known that the kernel returns here.
    let _ = canceller.cancel();
}

/// Exit code after a second Ctrl-C: 128 and the number of `SIGINT`.
const SECOND_INTERRUPT: i32 = 130;
