//! The options of `perfkit record`.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use perf_session::sys::abi::StackSize;
use rustix::fs::FileType;

use crate::events::EventOptions;
use crate::help;
use crate::target::TargetOptions;

/// Samples per second if neither a frequency nor a period is given, as in the perf tool.
const FREQUENCY: u64 = 4000;

/// Bytes of a page of the rings, as users count them. A machine with larger pages has larger rings.
const PAGE: usize = 4096;

/// Record samples of events into a perf.data file
#[derive(Args, Debug)]
#[command(
    override_usage = "perfkit record [OPTIONS] CMD [ARGUMENTS]...\n       \
        perfkit record [OPTIONS] -a|-C CPUS|-G CGROUP|-p PID,...|-t TID,...",
    after_help = help::end(
        "Without -e, the event is cycles, or cpu-clock on a machine without hardware PMU. Hits of \
        tracepoints are recorded each time unless there is a -F or -c.\n\n\
        Without -o, the file is perf.data, and an existing one becomes perf.data.old; if standard output is a pipe, \
        the recording goes there, as with -o -. A pipe gets the pipe form of the format.\n\n\
        Without a command, the recording ends when the processes or threads have exited, or at Ctrl-C. Ctrl-C ends \
        it in any case; a second one kills the recorder and leaves a file that can still be read.",
        &[
            ("perfkit record -g CMD", "sample a command, with callchains by frame pointers"),
            ("perfkit record --call-graph dwarf CMD", "copies of the stack, for unwinding without them"),
            ("perfkit record -F 99 -p 1234,1235", "two processes until they exit or Ctrl-C"),
            ("perfkit record -a -o all.data sleep 10", "all CPUs for ten seconds"),
            ("perfkit record -e sched:sched_switch --filter 'prev_pid == 0' -a sleep 1", ""),
            ("perfkit record -o - CMD | perfkit dump -", "without a file"),
        ],
        help::EXIT_OF_PROGRAM
    ),
    group = ArgGroup::new("target")
        .required(true)
        .multiple(true)
        .args(["all_cpus", "pid", "tid", "cpus", "cgroup", "command"])
)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(super) events: EventOptions,
    /// Samples per second of each event, or `max` for as many as the kernel permits [default: 4000]
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "period", value_parser = frequency)]
    frequency: Option<Frequency>,
    /// Events between two samples
    #[arg(short = 'c', long = "count", value_name = "PERIOD", value_parser = period)]
    period: Option<NonZeroU64>,
    /// Record the callchain of each sample
    #[arg(short = 'g', long)]
    callchains: bool,
    /// Record callchains by frame pointers, or copies of the stack of BYTES (8192 by default) for unwinding
    #[arg(long, value_name = "fp|dwarf[,BYTES]", value_parser = call_graph)]
    call_graph: Option<CallGraph>,
    #[command(flatten)]
    pub(super) target: TargetOptions,
    /// Record the namespaces of tasks
    #[arg(long)]
    pub(super) namespaces: bool,
    /// Record the cgroups, and the cgroup of each sample
    #[arg(long)]
    pub(super) all_cgroups: bool,
    /// Compress the records with zstd
    #[arg(short = 'z', long)]
    pub(super) compress: bool,
    /// Data pages of each ring, a power of two, or its size as 512K or 4M [default: 512K]
    #[arg(short, long, value_name = "PAGES", value_parser = ring_pages)]
    pub(super) mmap_pages: Option<usize>,
    /// Print errors only
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// File to write, or `-` for standard output [default: perf.data]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD")]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frequency {
    Of(u64),
    Max,
}

/// The record of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallGraph {
    /// The kernel follows the frame pointers.
    FramePointers,
    /// A part of the user stack, for a tool that unwinds it by debug information.
    Stack(StackSize),
}

impl Options {
    /// Returns the distance of the samples of an event. A frequency above `limit` is lowered to it.
    pub(super) fn rate(&self, is_tracepoint: bool, limit: u64) -> Rate {
        match (self.frequency, self.period) {
            (Some(Frequency::Of(frequency)), _) => Rate::Frequency(frequency.min(limit)),
            (Some(Frequency::Max), _) => Rate::Frequency(limit),
            (None, Some(period)) => Rate::Period(period.get()),
            (None, None) if is_tracepoint => Rate::Period(1),
            (None, None) => Rate::Frequency(FREQUENCY.min(limit)),
        }
    }

    /// Returns the frequency of the samples that the user wants; `None` with a period, and for the maximum.
    pub(super) fn wanted_frequency(&self) -> Option<u64> {
        match (self.frequency, self.period) {
            (Some(Frequency::Of(frequency)), _) => Some(frequency),
            (None, None) => Some(FREQUENCY),
            _ => None,
        }
    }

    /// Returns the record of callers, `None` if the user wants none.
    pub(super) fn call_graph(&self) -> Option<CallGraph> {
        self.call_graph.or(self.callchains.then_some(CallGraph::FramePointers))
    }

    /// Returns the path of the recording, `-` for standard output.
    pub(super) fn output(&self) -> &Path {
        match &self.output {
            Some(path) => path,
            None if is_pipe(io::stdout()) => Path::new("-"),
            None => Path::new("perf.data"),
        }
    }
}

fn is_pipe(out: io::Stdout) -> bool {
    let is_fifo = |stat: rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo;
    !out.is_terminal() && rustix::fs::fstat(out).is_ok_and(is_fifo)
}

fn frequency(text: &str) -> Result<Frequency, String> {
    match text.parse() {
        _ if text == "max" => Ok(Frequency::Max),
        Ok(0) | Err(_) => Err("expected samples per second, a number from 1, or `max`".to_owned()),
        Ok(frequency) => Ok(Frequency::Of(frequency)),
    }
}

fn period(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "expected the events between two samples, a number from 1".to_owned())
}

fn call_graph(text: &str) -> Result<CallGraph, String> {
    match text.split_once(',').unwrap_or((text, "")) {
        ("fp", "") => Ok(CallGraph::FramePointers),
        ("dwarf", "") => Ok(CallGraph::Stack(StackSize::DEFAULT)),
        ("dwarf", bytes) => {
            let size =
                bytes.parse().ok().and_then(|bytes: u32| StackSize::new(bytes.checked_next_multiple_of(8)?));
            let most = StackSize::MAX.bytes();
            size.map(CallGraph::Stack)
                .ok_or(format!("expected 8 to {most} bytes of the stack after `dwarf,`"))
        }
        _ => Err("expected `fp`, `dwarf` or `dwarf,BYTES`".to_owned()),
    }
}

fn ring_pages(text: &str) -> Result<usize, String> {
    let (number, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) if text.ends_with('K') => (number, 1 << 10),
        Some(number) if text.ends_with('M') => (number, 1 << 20),
        Some(number) => (number, 1 << 30),
        None => (text, PAGE),
    };
    let pages =
        number.parse().ok().and_then(|number: usize| number.checked_mul(unit)).map(|bytes| bytes / PAGE);
    pages
        .filter(|pages| pages.is_power_of_two())
        .ok_or("expected a power of two, as 128, or a size, as 512K or 4M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequency_is_a_number_or_the_maximum() {
        assert_eq!(frequency("max"), Ok(Frequency::Max));
        assert_eq!(frequency("99"), Ok(Frequency::Of(99)));
        for text in ["0", "x", "-1", ""] {
            assert!(frequency(text).unwrap_err().contains("samples per second"), "{text}");
        }
    }

    #[test]
    fn callchains_are_those_of_frame_pointers_or_stacks() {
        assert_eq!(call_graph("fp"), Ok(CallGraph::FramePointers));
        assert_eq!(call_graph("dwarf"), Ok(CallGraph::Stack(StackSize::DEFAULT)));
        assert_eq!(call_graph("dwarf,4090"), Ok(CallGraph::Stack(StackSize::new(4096).unwrap())));
        for text in ["lbr", "dwarf,x", "dwarf,0", "dwarf,70000", "fp,8", ""] {
            assert!(call_graph(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rings_have_a_power_of_two_of_pages() {
        for (text, pages) in [("128", 128), ("512K", 128), ("4M", 1024), ("1G", 1 << 18)] {
            assert_eq!(ring_pages(text), Ok(pages));
        }
        for text in ["0", "3", "x", "2K", "12K", "K", "99999999999999999999"] {
            assert!(ring_pages(text).is_err(), "{text}");
        }
    }
}
