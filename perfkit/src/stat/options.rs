//! The options of `perfkit stat`.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use clap::error::{Error, ErrorKind};
use clap::{ArgAction, Args, ValueHint};

use crate::cli::help;
use crate::measure::events::EventOptions;
use crate::measure::privilege_levels::LevelOptions;
use crate::measure::target::TargetOptions;

use super::split::{Split, SplitOptions};

/// The events that are counted by default, after the clock.
pub(super) const EVENTS: &str =
    "context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";

/// The events that each `-d` adds.
pub(super) const DETAILS: [&str; 3] = [
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
    "L1-dcache-prefetches,L1-dcache-prefetch-misses",
];

/// Count events while a command runs, or until Ctrl-C
#[derive(Args, Debug)]
#[command(
    // The last occurrence of an option counts, as in the perf tool.
    args_override_self = true,
    override_usage = "perfkit stat [OPTIONS] CMD [ARGUMENTS]...\n       \
        perfkit stat [OPTIONS] [-a|-C CPUS|-G CGROUP|-p PID,...|-t TID,...]",
    after_help = help::end(
        "Options after CMD belong to it. Without -e, the events are task-clock, context-switches, cpu-migrations, page-faults, \
        cycles, instructions, branches and branch-misses; for whole CPUs cpu-clock in place of task-clock. Without a \
        command and other tasks, all CPUs are counted until Ctrl-C.\n\n\
        The counts are printed to standard error if there is a command, because standard output is the command's, and \
        to standard output otherwise.\n\n\
        An event that this machine does not have is `<not supported>`; `perfkit list --check` shows which it \
        has. An event that never ran is `<not counted>`. A value with `~` is an estimate: the event was multiplexed and \
        ran only a part of the time. After `#` are values that are derived from two counts, as in the perf tool, and misses \
        for 1000 instructions.\n\n\
        One cgroup of -G is for the events before it, or for all if it is before them. Several, as in `-G a,b`, are for one event \
        each, in this order; an empty name is for no cgroup. --for-each-cgroup counts all events in each cgroup.\n\n\
        The fields of -x are: time of the interval with -I, and `summary` with --summary; the part with -A, --per-core and others, and its number of CPUs \
        if it may have several; value, unit, event; cgroup with -G; standard error with -r; ns running, \
        percent running; metric, unit of the metric. A second metric is in another line, with empty fields before it. The keys \
        of -j are those of the perf tool; `more-metrics` has the metrics after the first. At the end are duration_time, and \
        user_time and system_time of the command, which are events of the perf tool.\n\n\
        --timeout and --interval-count end the command by SIGTERM; the exit status is 0 then.",
        &[
            ("perfkit stat CMD", "count the usual events of a command"),
            ("perfkit stat -r 5 -e page-faults,task-clock CMD", "mean and standard error of five runs"),
            ("perfkit stat -a -I 1000", "all CPUs, each second, until Ctrl-C"),
            ("perfkit stat -a --per-core -x, -o counts.csv CMD", "each core, as fields in a file"),
            ("perfkit stat --for-each-cgroup web,db sleep 10", "two cgroups for ten seconds"),
            ("perfkit stat -a --timeout 10000", "all CPUs for ten seconds"),
            ("perfkit stat -D 500 CMD", "a command without its first half second"),
            ("perfkit stat -r 5 -j -o base.json CMD", "counts to compare with"),
            ("perfkit stat -r 5 --baseline base.json --fail-above 5 CMD", "fail if an event grew"),
            ("perfkit stat -p 1234 --json", "a process until it exits, as JSON"),
        ],
        help::EXIT_OF_STAT
    )
)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(super) events: EventOptions,
    #[command(flatten)]
    pub(super) target: TargetOptions,
    /// Count all events in each of these cgroups
    #[arg(
        long,
        value_name = "CGROUP,...",
        value_delimiter = ',',
        value_parser = NonEmptyStringValueParser::new().map(OsString::from),
        conflicts_with_all = ["pid", "tid", "cgroup"]
    )]
    pub(super) for_each_cgroup: Vec<OsString>,
    /// Count the threads of -p or -t that are there at the start alone, not the tasks that they start
    #[arg(short = 'i', long)]
    pub(super) no_inherit: bool,
    #[command(flatten)]
    pub(super) levels: LevelOptions,
    /// Count events of the caches too, with -dd more of them, and with -ddd all
    #[arg(short, long, action = ArgAction::Count)]
    pub(super) detailed: u8,
    /// Print the counts of each interval of this many milliseconds, at least 1
    #[arg(short = 'I', long, alias = "interval-print", value_name = "MS", value_parser = milliseconds)]
    pub(super) interval: Option<Duration>,
    /// Print the counts of all intervals at the end too
    #[arg(long, requires = "interval")]
    pub(super) summary: bool,
    /// End after this many intervals
    #[arg(long, value_name = "N", requires = "interval")]
    pub(super) interval_count: Option<NonZeroU32>,
    /// End after this many milliseconds
    #[arg(long, value_name = "MS", conflicts_with = "interval", value_parser = milliseconds)]
    pub(super) timeout: Option<Duration>,
    /// Count from this many milliseconds after the start on
    #[arg(short = 'D', long, value_name = "MS", allow_negative_numbers = true, value_parser = delay)]
    pub(super) delay: Option<Duration>,
    /// Run the command this many times, and print means with their standard error; 0 until Ctrl-C
    #[arg(
        short,
        long,
        value_name = "N",
        default_value = "1",
        allow_negative_numbers = true,
        requires = "command",
        conflicts_with = "interval",
        value_parser = repeat
    )]
    pub(super) repeat: u32,
    #[command(flatten)]
    split: SplitOptions,
    /// Print only events that were counted at least once
    #[arg(long)]
    pub(super) no_zero: bool,
    /// Print fields separated by this text, as `perf stat -x`
    #[arg(short = 'x', long, value_name = "SEPARATOR", conflicts_with = "json", value_parser = separator)]
    pub(super) field_separator: Option<String>,
    /// Print a JSON object for each event, with the keys of `perf stat --json-output`
    #[arg(short = 'j', long, alias = "json-output")]
    pub(super) json: bool,
    /// Write the counts to this file, `-` for standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// Append to the file of -o
    #[arg(long, requires = "output")]
    pub(super) append: bool,
    /// Compare with the counts of this file, which --json -o FILE wrote
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "interval")]
    pub(super) baseline: Option<PathBuf>,
    /// End with the exit status 3 if an event grew by more than this, even if the noise of -r runs is subtracted
    #[arg(long, value_name = "PERCENT", requires = "baseline", value_parser = growth)]
    pub(super) fail_above: Option<f64>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(super) command: Vec<OsString>,
}

impl Options {
    /// Returns the parts that have separate rows.
    pub(super) fn split(&self) -> Split {
        self.split.split().0
    }

    /// Returns the error of an option for parts that the target does not have.
    pub(super) fn misuse(&self) -> Option<Error> {
        let (split, option) = self.split.split();
        let tasks = "processes or threads: -p or -t";
        let has_tasks = !self.target.tasks().is_empty();
        let (option, needed) = match split {
            // The child of this program inherits the events of a command.
            _ if self.no_inherit && !has_tasks => ("--no-inherit", tasks),
            Split::Threads if !has_tasks => (option, tasks),
            Split::Cpus | Split::Cores | Split::Dies | Split::Sockets if !self.is_on_cpus() => {
                (option, "whole CPUs: -a, -C or -G")
            }
            _ => return None,
        };
        let text = format!("{option} is for {needed}\n");
        Some(Error::raw(ErrorKind::MissingRequiredArgument, text))
    }

    /// Returns whether whole CPUs are counted, as without a command and other tasks.
    pub(super) fn is_on_cpus(&self) -> bool {
        self.target.is_on_cpus()
            || !self.for_each_cgroup.is_empty()
            || (self.command.is_empty() && self.target.is_empty())
    }

    /// Returns whether the command is counted, and no other task.
    pub(super) fn is_for_command(&self) -> bool {
        !self.is_on_cpus() && self.target.is_empty()
    }

    /// Returns the cgroups as the user named them.
    pub(super) fn cgroups(&self) -> &[OsString] {
        if self.for_each_cgroup.is_empty() { self.target.cgroups() } else { &self.for_each_cgroup }
    }
}

/// Parses a time in milliseconds.
fn milliseconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("expected milliseconds, at least 1, found `{text}`")),
        Ok(millis) => Ok(Duration::from_millis(millis)),
    }
}

/// Parses the time after which events are counted.
fn delay(text: &str) -> Result<Duration, String> {
    let millis = text.parse().map_err(|_| format!("expected milliseconds, at least 0, found `{text}`"))?;
    Ok(Duration::from_millis(millis))
}

/// Parses a limit in percent, which can be above 100.
fn growth(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
    let percent = percent.filter(|percent| percent.is_finite() && *percent >= 0.0);
    percent.ok_or_else(|| format!("expected percent, at least 0, found `{text}`"))
}

/// Parses a separator, in which `\t` is a tab, as in the perf tool.
#[allow(clippy::unnecessary_wraps, reason = "the parser of arguments expects a result")]
fn separator(text: &str) -> Result<String, String> {
    Ok(if text == "\\t" { "\t".to_owned() } else { text.to_owned() })
}

fn repeat(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "expected a number of runs, or 0 to repeat until Ctrl-C".to_owned())
}
