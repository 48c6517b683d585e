//! The options about the time of threads off the CPU.

use std::io;

use clap::Args;
use perf_profile::OffCpuEvents;
use perf_profile::read::OffCpuError;

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
}

impl OffCpuOptions {
    /// Returns the event for a view of a single event, if the user chooses no other.
    pub(crate) fn event(self) -> Option<&'static str> {
        self.off_cpu.then_some(OffCpuEvents::BLOCKED)
    }

    /// Returns whether the profile has the stacks of wakers.
    pub(super) fn has_wakers(self) -> bool {
        self.wakers
    }

    /// Returns whether waits are shown.
    pub(super) fn is_shown(self) -> bool {
        self.off_cpu
    }

    /// Returns an error with the name of the option that it is about.
    pub(super) fn error(error: io::Error) -> io::Error {
        match error.get_ref().and_then(|error| error.downcast_ref()) {
            Some(OffCpuError::NoWakers) => io::Error::other(format!("--wakers: {error}")),
            Some(_) => io::Error::other(format!("--off-cpu: {error}")),
            None => error,
        }
    }
}
