//! The record of where threads wait.

use std::io;

use clap::Args;
use perf_session::sys::{Attr, Software};
use perf_session::{EventGroup, EventSpec, NamedEvent, System};

use crate::events::NamedGroup;

/// The note of a recording that may have user space only: a switch is in the kernel.
pub(super) const NO_STACKS: &str = "the waits of threads have no stacks: these need CAP_PERFMON, or a sysctl \
    kernel.perf_event_paranoid of at most 1";

/// The event of the wakers with their stacks.
const WAKERS: &str = "sched:sched_waking";

/// The options that record waits of threads.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct OffCpuOptions {
    /// Record also where threads wait and for how long: callchains of all switches, for --off-cpu of report, flamegraph,
    /// export and diff; with `-e dummy` nothing else
    #[arg(long)]
    off_cpu: bool,
    /// Record also who wakes waiting threads, which needs tracepoints; without -a only wakers among the recorded threads
    #[arg(long, requires = "off_cpu")]
    wakers: bool,
}

impl OffCpuOptions {
    pub(super) fn is_on(self) -> bool {
        self.off_cpu
    }

    /// Returns the events. The switch records have the rest: when a thread runs again, and whether it was preempted.
    ///
    /// The software event needs less privilege than the tracepoint `sched:sched_switch`, no tracefs, and has no payload.
    pub(super) fn groups(self, system: &System) -> io::Result<Vec<NamedGroup>> {
        let mut groups = Vec::new();
        if self.off_cpu {
            let switches = EventSpec::new(Attr::software(Software::CONTEXT_SWITCHES).with_period(1));
            groups.push(EventGroup::from(NamedEvent::from(switches)).into());
        }
        if self.wakers {
            let wakers = perf_session::parse(WAKERS, system)
                .map_err(|error| io::Error::other(format!("--wakers needs tracepoints: {error}")))?;
            // Each one, also with a frequency for the other events.
            let each = |spec: EventSpec| spec.map_attr(|attr| attr.with_period(1));
            let each = |group: EventGroup| group.map_members(|event| event.map_specs(each));
            groups.extend(wakers.into_iter().map(each).map(NamedGroup::from));
        }
        Ok(groups)
    }

    /// Returns a note about wakers that are not recorded.
    pub(super) fn note(self, is_on_cpus: bool) -> Option<String> {
        let note = "wakers are recorded among the threads of the target; -a records all, and interrupts";
        (self.wakers && !is_on_cpus).then(|| note.to_owned())
    }
}
