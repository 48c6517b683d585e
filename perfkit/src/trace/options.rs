//! The options of `perfkit trace`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};

use crate::cli::help;
use crate::measure::events::EventOptions;
use crate::measure::ring_pages::{RingPages, ring_pages};
use crate::measure::target::TargetOptions;

/// Print system calls and tracepoints as they happen
#[derive(Args, Clone, Debug)]
#[command(
    // The last occurrence of an option counts, as in the perf tool.
    args_override_self = true,
    mut_arg("event", |arg| arg.visible_alias("expr").help(
        "System calls by their names, with * and ?: `openat,read*`, by class: `%file`, `%network`, all but a list: `!futex,%memory`; and tracepoints, \
         as the perf tool names them: `sched:sched_switch`, `sched:*` [default: all system calls]"
    )),
    mut_arg("filter", |arg| arg.help("Only hits of the events of the last -e whose fields match, as `prev_pid == 0`")),
    override_usage = "perfkit trace [OPTIONS] CMD [ARGUMENTS]...\n       \
        perfkit trace [OPTIONS] [-a|-C CPUS|-G CGROUP|-p PID,...|-t TID,...]",
    after_help = help::end(
        "Options after CMD belong to it. Without a command and other tasks, all CPUs are traced until Ctrl-C, without \
         perfkit itself. The text goes to standard error if there is a command, because standard output is the command's, \
         and to standard output otherwise.\n\n\
         A system call is one line with the time of its start, in ms since the first event, and its duration, printed when it \
         returns. `<... NAME resumed>` is a return whose start was not seen. A call is `<unfinished ...>` if the trace ended \
         before it. `LOST` is printed where records are missing: calls in progress are not joined with what returns after. \
         Flags, signals, requests of ioctl and numbers of sockets have the names that strace prints. \
         `--- SIGNAL ---` is a signal that the thread gets, and `+++ exited with STATUS +++` the end of a thread that called exit, both without -e.\n\n\
         ~\"TEXT\" is a path or other text that was read from the process after the call began, because the events have its address \
         alone: the process may have changed it meanwhile. What can no longer be read is an address. The classes for -e are those of \
         strace: %clock, %creds, %desc, %file, %ipc, %memory, %network, %process, %pure, %signal. Calls of 32-bit programs on a \
         64-bit kernel have wrong names.\n\n\
         --json prints an object a line, in the form that docs/trace-json.md describes.",
        &[
            ("perfkit trace CMD", "the system calls of a command"),
            ("perfkit trace -s CMD", "how often and how long each is called"),
            ("perfkit trace -e 'open*,connect' --failure -p 1234", "calls of a process that fail"),
            ("perfkit trace -e 'sched:sched_process_*' -a", "processes that start and exit"),
            ("perfkit trace -a --duration 100", "calls that take 100 ms or longer"),
        ],
        help::EXIT_OF_PROGRAM
    )
)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(super) events: EventOptions,
    #[command(flatten)]
    pub(super) target: TargetOptions,
    /// Print statistics of the system calls in place of a line for each
    #[arg(short, long, conflicts_with = "with_summary")]
    pub(super) summary: bool,
    /// Print each system call, and statistics at the end
    #[arg(short = 'S', long)]
    pub(super) with_summary: bool,
    /// Statistics of each thread, or of all together
    #[arg(long, value_name = "MODE", default_value = "thread")]
    pub(super) summary_mode: SummaryMode,
    /// Print only system calls that take this many milliseconds or longer
    #[arg(long, value_name = "MS", value_parser = milliseconds)]
    pub(super) duration: Option<Duration>,
    /// Print only system calls that fail
    #[arg(long)]
    pub(super) failure: bool,
    #[arg(
        short = 'T',
        long,
        help = "Print times of CLOCK_MONOTONIC, in ms, in place of those since the first event"
    )]
    pub(super) time: bool,
    /// Print a JSON object a line
    #[arg(short, long)]
    pub(super) json: bool,
    /// Data pages of each ring, or its size as 512K or 4M; rounded up to a power of two [default: 2M]
    #[arg(short, long, value_name = "PAGES", value_parser = ring_pages)]
    pub(super) mmap_pages: Option<RingPages>,
    /// Write to this file, `-` for standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(super) command: Vec<OsString>,
}

/// The tasks whose calls a row of the statistics sums up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SummaryMode {
    Thread,
    Total,
}

impl Options {
    /// Returns whether each system call is printed.
    pub(super) fn prints_calls(&self) -> bool {
        !self.summary
    }

    /// Returns whether statistics are printed.
    pub(super) fn has_summary(&self) -> bool {
        self.summary || self.with_summary
    }
}

/// Parses a time in milliseconds, which may have a fraction.
fn milliseconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|ms: f64| Duration::try_from_secs_f64(ms / 1e3).ok());
    duration.ok_or("expected a number of milliseconds, as 100 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_in_milliseconds() {
        assert_eq!(milliseconds("0.5"), Ok(Duration::from_micros(500)));
        assert_eq!(milliseconds("100"), Ok(Duration::from_millis(100)));
        for text in ["", "-1", "x", "nan", "1e300"] {
            assert!(milliseconds(text).is_err(), "{text}");
        }
    }
}
