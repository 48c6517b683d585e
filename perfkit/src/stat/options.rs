//! The options of `perfkit stat`.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use perf_events::CpuList;

/// The events that are counted by default.
const EVENTS: &str = "task-clock,context-switches,cpu-migrations,page-faults,\
    cycles,instructions,branches,branch-misses";

/// Count events while a command runs, or until Ctrl-C
#[derive(Args, Debug)]
#[command(after_help = "The counts are printed to standard error if there is a command, because standard \
    output is the command's, and to standard output otherwise. The exit status is the command's.\n\n\
    An event that this machine does not have is `<not supported>`; `perfkit list --check` shows which it \
    has. A value with `~` is an estimate: the event was multiplexed and ran only a part of the time.")]
pub(crate) struct Options {
    /// Events to count, as the perf tool names them: `cycles:u`, `sched:sched_switch`, `{cycles,instructions}`
    #[arg(short = 'e', long = "event", value_name = "EVENTS", default_value = EVENTS)]
    pub(super) events: Vec<String>,
    /// Count all tasks on all CPUs
    #[arg(short, long, conflicts_with_all = ["pid", "cpus"])]
    pub(super) all_cpus: bool,
    /// Count the threads of this process, and those that it starts
    #[arg(short, long, conflicts_with = "cpus")]
    pub(super) pid: Option<u32>,
    /// Count all tasks on these CPUs, for example 0-2,5
    #[arg(short = 'C', long = "cpu", value_name = "CPUS")]
    pub(super) cpus: Option<CpuList>,
    /// Print the counts of each interval of this many milliseconds, at least 1
    #[arg(short = 'I', long, value_name = "MS", value_parser = interval)]
    pub(super) interval: Option<Duration>,
    /// Run the command this many times, and print means with their standard error
    #[arg(
        short,
        long,
        value_name = "N",
        default_value = "1",
        requires = "command",
        conflicts_with = "interval"
    )]
    pub(super) repeat: NonZeroU32,
    /// Print a JSON object for each event, with the keys of `perf stat --json-output`
    #[arg(short = 'j', long)]
    pub(super) json: bool,
    /// Write the counts to this file
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// The command and its arguments
    #[arg(last = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

/// Parses an interval in milliseconds.
fn interval(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("expected milliseconds, at least 1, found `{text}`")),
        Ok(millis) => Ok(Duration::from_millis(millis)),
    }
}
