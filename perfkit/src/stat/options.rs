//! The options of `perfkit stat`.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueHint};

use crate::events::EventOptions;
use crate::help;
use crate::levels::LevelOptions;
use crate::target::TargetOptions;

/// The events that are counted by default.
pub(super) const EVENTS: &str = "task-clock,context-switches,cpu-migrations,page-faults,\
    cycles,instructions,branches,branch-misses";

/// The events that each `-d` adds.
pub(super) const DETAILS: [&str; 3] = [
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
    "L1-dcache-prefetches,L1-dcache-prefetch-misses",
];

/// Count events while a command runs, or until Ctrl-C
#[derive(Args, Debug)]
#[command(
    // The last one counts, as in the perf tool.
    args_override_self = true,
    override_usage = "perfkit stat [OPTIONS] CMD [ARGUMENTS]...\n       \
        perfkit stat [OPTIONS] [-a|-C CPUS|-G CGROUP|-p PID,...|-t TID,...]",
    after_help = help::end(
        "Options after CMD belong to it. Without -e, the events are task-clock, context-switches, cpu-migrations, page-faults, \
        cycles, instructions, branches and branch-misses. Without a command and other tasks, all CPUs are counted \
        until Ctrl-C.\n\n\
        The counts are printed to standard error if there is a command, because standard output is the command's, and \
        to standard output otherwise.\n\n\
        An event that this machine does not have is `<not supported>`; `perfkit list --check` shows which it \
        has. A value with `~` is an estimate: the event was multiplexed and ran only a part of the time.",
        &[
            ("perfkit stat CMD", "count the usual events of a command"),
            ("perfkit stat -r 5 -e page-faults,task-clock CMD", "mean and standard error of five runs"),
            ("perfkit stat -a -I 1000", "all CPUs, each second, until Ctrl-C"),
            ("perfkit stat -p 1234 --json", "a process until it exits, as JSON"),
        ],
        help::EXIT_OF_PROGRAM
    )
)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(super) events: EventOptions,
    #[command(flatten)]
    pub(super) target: TargetOptions,
    #[command(flatten)]
    pub(super) levels: LevelOptions,
    /// Count events of the caches too, with -dd more of them, and with -ddd all
    #[arg(short, long, action = ArgAction::Count)]
    pub(super) detailed: u8,
    /// Print the counts of each interval of this many milliseconds, at least 1
    #[arg(short = 'I', long, alias = "interval-print", value_name = "MS", value_parser = interval)]
    pub(super) interval: Option<Duration>,
    /// Run the command this many times, and print means with their standard error
    #[arg(
        short,
        long,
        value_name = "N",
        default_value = "1",
        requires = "command",
        conflicts_with = "interval",
        value_parser = repeat
    )]
    pub(super) repeat: NonZeroU32,
    /// Print the counts of each CPU, of all CPUs, some or a cgroup
    #[arg(short = 'A', long, conflicts_with_all = ["pid", "tid", "repeat"])]
    pub(super) no_aggr: bool,
    /// Print the counts of each thread that ran before, of processes or threads
    #[arg(long, conflicts_with_all = ["all_cpus", "cpus", "cgroup", "repeat", "no_aggr"])]
    pub(super) per_thread: bool,
    /// Print only events that were counted at least once
    #[arg(long)]
    pub(super) no_zero: bool,
    /// Print fields separated by this text, as `perf stat -x`: value, unit, event, ns running, percent running
    #[arg(short = 'x', long, value_name = "SEPARATOR", conflicts_with = "json", value_parser = separator)]
    pub(super) field_separator: Option<String>,
    /// Print a JSON object for each event, with the keys of `perf stat --json-output`
    #[arg(short = 'j', long, alias = "json-output")]
    pub(super) json: bool,
    /// Write the counts to this file, `-` for standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(super) command: Vec<OsString>,
}

/// Parses an interval in milliseconds.
fn interval(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("expected milliseconds, at least 1, found `{text}`")),
        Ok(millis) => Ok(Duration::from_millis(millis)),
    }
}

/// Parses a separator, in which `\t` is a tab, as in the perf tool.
#[allow(clippy::unnecessary_wraps, reason = "the parser of arguments expects a result")]
fn separator(text: &str) -> Result<String, String> {
    Ok(if text == "\\t" { "\t".to_owned() } else { text.to_owned() })
}

fn repeat(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| "expected a number of runs from 1".to_owned())
}
