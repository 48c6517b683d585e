//! The options that record where threads wait.

use std::io;

use clap::Args;
use perf_record::WaitEvents;
use perf_session::System;

/// The note of a recording that may have user space only: a switch is in the kernel.
pub(super) const NO_STACKS: &str = "the waits of threads have no stacks: these need CAP_PERFMON, or a sysctl \
    kernel.perf_event_paranoid of at most 1";

/// The options that record waits of threads.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct OffCpuOptions {
    /// Record also where threads wait and for how long: callchains of all switches, for --off-cpu of report, flamegraph,
    /// export and diff, and when threads are woken, which needs root; with `-e dummy` nothing else
    #[arg(long)]
    off_cpu: bool,
    /// Record also who wakes waiting threads, which needs tracepoints; without -a only wakers among the recorded threads
    #[arg(long, requires = "off_cpu")]
    wakers: bool,
    /// Record the whole time of each thread, for --wall of report, flamegraph, export and diff: samples of the time on a CPU,
    /// and the waits of --off-cpu
    #[arg(long, conflicts_with_all = ["delay", "control"])]
    wall: bool,
}

impl OffCpuOptions {
    pub(super) fn is_on(self) -> bool {
        self.off_cpu || self.wall
    }

    /// Returns the events, if waits are recorded, and adds messages about data that is not recorded.
    pub(super) fn events(
        self,
        system: &System,
        is_on_all_cpus: bool,
        notes: &mut Vec<String>,
    ) -> io::Result<Option<WaitEvents>> {
        if !self.is_on() {
            return Ok(None);
        }
        let events = if self.wakers {
            let events = WaitEvents::with_wakers(system);
            events.map_err(|reason| io::Error::other(format!("--wakers needs tracepoints: {reason}")))?
        } else {
            WaitEvents::new(system)
        };
        if self.wakers && !is_on_all_cpus {
            let note = "the stacks of wakers are recorded among the threads of the target; -a records all, and interrupts";
            notes.push(note.to_owned());
        }
        if let Err(reason) = &events.wakeups {
            notes.push(if self.off_cpu {
                format!("offcpu-time includes waits for a CPU after a wakeup, because wakeups are not recorded: {reason}")
            } else {
                format!("which waits are for a CPU after a wakeup is not recorded: {reason}")
            });
        }
        Ok(Some(events))
    }
}
