//! The options of `perfkit top`.

use std::io::{self, IsTerminal as _};
use std::num::NonZeroU64;
use std::time::Duration;

use clap::Args;

use crate::cli::help;
use crate::measure::events::EventOptions;
use crate::measure::privilege_levels::LevelOptions;
use crate::measure::sampling::{CallGraph, Frequency, call_graph, frequency, period};
use crate::measure::target::TargetOptions;
use crate::report::sort::SortKey;

/// Show the functions that run now, and how much of the time each takes
#[derive(Args, Clone, Debug)]
#[command(
    // The last occurrence of an option counts, as in the perf tool.
    args_override_self = true,
    after_help = help::end(
        "Without -e, the event is cycles, or cpu-clock on a machine without hardware PMU. Without a process, thread or \
        CPU, all CPUs are sampled. It ends when the processes or threads have exited, at Ctrl-C, or when its terminal is closed.\n\n\
        On kernels before 7.3, `perf record` of anybody (seen: perf 6.1) aborts while all CPUs are sampled, unless it has the option \
        --buildid-mmap.\n\n\
        Samples count less with each new table, by 1/8 as in the perf tool; with --zero, a table has the newest ones \
        alone. On a terminal there is a screen with keys, which ? lists, or with --stdio a table that is refreshed; in a \
        pipe, one table follows the other. --json prints an object a line, in the form that docs/top-json.md describes.",
        &[
            ("perfkit top", "all CPUs"),
            ("perfkit top -p 1234 -g", "a process, with the functions that call others"),
            ("perfkit top -s comm,dso -d 5", "programs and libraries, each 5 seconds"),
            ("perfkit top -e page-faults -c 1 -z", "each page fault since the last table"),
            ("perfkit top --json | jq .rows[0]", ""),
        ],
        &[
            ("0", "success, also after Ctrl-C"),
            ("1", "failure, with the reason on standard error"),
            ("2", "wrong arguments"),
        ]
    ),
)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(super) events: EventOptions,
    /// Samples per second of each event, or `max` for as many as the kernel permits [default: 4000]
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "period", value_parser = frequency)]
    pub(super) frequency: Option<Frequency>,
    /// Events between two samples
    #[arg(short = 'c', long = "count", value_name = "PERIOD", value_parser = period)]
    pub(super) period: Option<NonZeroU64>,
    /// Sample callchains, by frame pointers unless --call-graph says otherwise
    #[arg(short = 'g')]
    callchains: bool,
    /// Sample callchains by frame pointers, or by copies of the stack of BYTES (8192 by default)
    #[arg(long, value_name = "fp|dwarf[,BYTES]", value_parser = live_call_graph)]
    call_graph: Option<CallGraph>,
    #[command(flatten)]
    pub(super) levels: LevelOptions,
    #[command(flatten)]
    pub(super) target: TargetOptions,
    /// Seconds between two tables, at least 0.1
    #[arg(short, long, value_name = "SECONDS", default_value = "2", value_parser = delay)]
    pub(super) delay: Duration,
    /// Columns that distinguish rows
    #[arg(short, long, value_enum, value_name = "KEY,...", value_delimiter = ',', default_value = "dso,sym")]
    pub(super) sort: Vec<SortKey>,
    /// Sort by the samples in a function itself, and leave out the column with its callees
    #[arg(long)]
    pub(super) no_children: bool,
    /// Rows of a table [default: those that fit the terminal, and 20 in a pipe]
    #[arg(short = 'E', long, value_name = "ROWS")]
    pub(super) entries: Option<usize>,
    /// Leave out the samples in the kernel
    #[arg(short = 'K', long = "hide-kernel-symbols", alias = "hide_kernel_symbols")]
    pub(super) hide_kernel: bool,
    /// Leave out the samples in user space
    #[arg(
        short = 'U',
        long = "hide-user-symbols",
        alias = "hide_user_symbols",
        conflicts_with = "hide_kernel"
    )]
    pub(super) hide_user: bool,
    /// Print the numbers of samples, too
    #[arg(short = 'n', long)]
    pub(super) show_nr_samples: bool,
    /// Show the samples since the last table alone
    #[arg(short, long)]
    pub(super) zero: bool,
    /// Print one JSON object for each table, with all rows
    #[arg(short, long)]
    pub(super) json: bool,
    /// Print plain tables, also on a terminal
    #[arg(long)]
    pub(super) stdio: bool,
}

impl Options {
    /// Returns whether there is a screen with keys.
    pub(super) fn has_screen(&self) -> bool {
        cfg!(feature = "tui") && !self.stdio && !self.json && io::stdout().is_terminal()
    }

    /// Returns whether rows may be threads or processes, by an option or by a key of the screen.
    pub(super) fn needs_threads(&self) -> bool {
        self.has_screen() || [SortKey::PID, SortKey::TID].iter().any(|key| self.sort.contains(key))
    }

    /// Returns whether rows are control groups.
    pub(super) fn needs_cgroups(&self) -> bool {
        self.sort.contains(&SortKey::CGROUP)
    }

    /// Returns how callers are found, `None` if the user wants no callers.
    pub(super) fn call_graph(&self) -> Option<CallGraph> {
        self.call_graph.or(self.callchains.then_some(CallGraph::FramePointers))
    }
}

fn live_call_graph(text: &str) -> Result<CallGraph, String> {
    match call_graph(text) {
        Ok(CallGraph::BranchStack | CallGraph::DeferredFramePointers) | Err(_) => {
            Err("expected `fp`, `dwarf` or `dwarf,BYTES`".to_owned())
        }
        parsed => parsed,
    }
}

fn delay(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected seconds, a number from 0.1 to 86400".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_is_a_number_of_seconds() {
        assert_eq!(delay("2"), Ok(Duration::from_secs(2)));
        assert_eq!(delay("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "nan", "x", "", "1e9"] {
            assert!(delay(text).unwrap_err().contains("0.1"), "{text}");
        }
    }

    #[test]
    fn callers_are_found_without_hardware() {
        assert_eq!(live_call_graph("fp"), Ok(CallGraph::FramePointers));
        assert!(live_call_graph("lbr").is_err() && live_call_graph("fp,defer").is_err());
    }
}
