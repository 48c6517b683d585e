//! The options of `perfkit record`.

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use perf_events::CpuList;

/// Samples per second if neither a frequency nor a period is given, as in the perf tool.
const FREQUENCY: u64 = 4000;

/// Record samples of events into a perf.data file
#[derive(Args, Debug)]
#[command(
    after_help = "Without a file name, an existing perf.data becomes perf.data.old. `-o -` and other outputs that \
        are no regular files get the pipe form of the format. What was opened and recorded, and what was lost, is \
        printed to standard error. The exit status is the command's.\n\n\
        Ctrl-C ends the recording; a second one kills it and leaves a file that can still be read.",
    group = ArgGroup::new("target").required(true).multiple(true).args(["all_cpus", "pid", "cpus", "command"])
)]
pub(crate) struct Options {
    /// Events to record, as the perf tool names them [default: cycles, or cpu-clock on a machine without]
    #[arg(short = 'e', long = "event", value_name = "EVENTS")]
    pub(super) events: Vec<String>,
    /// Samples per second of each event [default: 4000; tracepoints are recorded each time]
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "period")]
    frequency: Option<NonZeroU64>,
    /// Events between two samples
    #[arg(short = 'c', long = "count", value_name = "PERIOD")]
    period: Option<NonZeroU64>,
    /// Record the callchain of each sample
    #[arg(short = 'g', long)]
    pub(super) callchains: bool,
    /// Record all tasks on all CPUs
    #[arg(short, long, conflicts_with_all = ["pid", "cpus"])]
    pub(super) all_cpus: bool,
    /// Record the threads of this process, and those that it starts
    #[arg(short, long, conflicts_with = "cpus")]
    pub(super) pid: Option<u32>,
    /// Record all tasks on these CPUs, for example 0-2,5
    #[arg(short = 'C', long = "cpu", value_name = "CPUS")]
    pub(super) cpus: Option<CpuList>,
    /// Record the namespaces of tasks
    #[arg(long)]
    pub(super) namespaces: bool,
    /// Record the cgroups, and that of each sample
    #[arg(long)]
    pub(super) all_cgroups: bool,
    /// Compress the records with zstd
    #[arg(short = 'z', long)]
    pub(super) compress: bool,
    /// File to write, or `-` for standard output
    #[arg(short, long, value_name = "FILE", default_value = "perf.data")]
    pub(super) output: PathBuf,
    /// The command and its arguments
    #[arg(last = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

/// The distance of samples.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rate {
    /// Samples per second.
    Frequency(u64),
    /// Events between two samples.
    Period(u64),
}

impl Options {
    /// Returns the distance of the samples of an event. A frequency above `limit` is lowered to it.
    pub(super) fn rate(&self, is_tracepoint: bool, limit: u64) -> Rate {
        match (self.frequency, self.period) {
            (Some(frequency), _) => Rate::Frequency(frequency.get().min(limit)),
            (None, Some(period)) => Rate::Period(period.get()),
            (None, None) if is_tracepoint => Rate::Period(1),
            (None, None) => Rate::Frequency(FREQUENCY.min(limit)),
        }
    }

    /// Returns the frequency of the samples as the user wants it; `None` with a period.
    pub(super) fn wanted_frequency(&self) -> Option<u64> {
        let frequency = self.frequency.map_or(FREQUENCY, NonZeroU64::get);
        self.period.is_none().then_some(frequency)
    }

    /// Returns whether the events are those of CPUs, not of tasks.
    pub(super) fn is_on_cpus(&self) -> bool {
        self.all_cpus || self.cpus.is_some()
    }
}
