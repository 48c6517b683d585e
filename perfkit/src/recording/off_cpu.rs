//! The options about the time of threads off the CPU.

use std::io;

use clap::Args;
use perf_profile::read::{OffCpuError, ProfileReader};
use perf_profile::{OffCpuEvents, WallTime};

/// The options that show waits of threads.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct OffCpuOptions {
    /// Show how long threads wait, as event offcpu-time, and how long they are ready without a CPU, as event
    /// runqueue-time, in place of the samples of switches; for recordings of `record --off-cpu`
    #[arg(long)]
    off_cpu: bool,
    /// Continue each stack with the frame `--` and the stack of the waker, from its innermost function to its name; for
    /// recordings of `record --off-cpu --wakers`
    #[arg(long, requires = "off_cpu")]
    wakers: bool,
    /// Show the whole time of each thread, as event wall-time: functions on a CPU, `[ready]` without one, and waits with what
    /// the thread waits for; for recordings of `record --wall`
    #[arg(long, conflicts_with_all = ["off_cpu", "wakers"])]
    wall: bool,
}

impl OffCpuOptions {
    /// Returns the event for a view of a single event, if the user chooses no other.
    pub(crate) fn event(self) -> Option<&'static str> {
        if self.wall { Some(WallTime::EVENT) } else { self.off_cpu.then_some(OffCpuEvents::BLOCKED) }
    }

    /// Returns whether waits are shown.
    pub(super) fn is_shown(self) -> bool {
        self.option().is_some()
    }

    /// Returns the option by which waits are shown, of this command and of `record`.
    pub(crate) fn option(self) -> Option<&'static str> {
        if self.wall { Some("--wall") } else { self.off_cpu.then_some("--off-cpu") }
    }

    /// Adds the waits to a profile.
    pub(super) fn apply(self, reader: ProfileReader) -> io::Result<ProfileReader> {
        let reader = match (self.wall, self.off_cpu) {
            (true, _) => reader.with_wall_time(),
            (false, true) => reader.with_waits(self.wakers),
            (false, false) => return Ok(reader),
        };
        reader.map_err(|error| self.error(error))
    }

    /// Returns an error with the name of the option that it is about.
    pub(super) fn error(self, error: io::Error) -> io::Error {
        match error.get_ref().and_then(|error| error.downcast_ref()) {
            Some(error) if self.wall => io::Error::other(format!("--wall: {error}")),
            Some(OffCpuError::NoWakers) => io::Error::other(format!("--wakers: {error}")),
            Some(_) => io::Error::other(format!("--off-cpu: {error}")),
            None => error,
        }
    }
}
