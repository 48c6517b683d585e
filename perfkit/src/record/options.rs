//! The options of `perfkit record`.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use perf_session::ring::AttrFlags;
use rustix::fs::FileType;

use super::always::AlwaysOptions;
use super::branches::BranchOptions;
use super::call_graph::{CallGraph, call_graph};
use super::control::ControlOptions;
use super::fields::FieldOptions;
use super::off_cpu::OffCpuOptions;
use super::profiles::ProfileOptions;
use super::switch::SwitchOptions;
use crate::cli::help;
use crate::measure::events::EventOptions;
use crate::measure::privilege_levels::LevelOptions;
use crate::measure::ring_pages::{RingPages, ring_pages};
use crate::measure::target::TargetOptions;

/// Samples per second if neither a frequency nor a period is given, as in the perf tool.
const FREQUENCY: u64 = 4000;

/// Record samples of events into a perf.data file
#[derive(Args, Clone, Debug)]
#[command(
    // The last occurrence of an option counts, as in the perf tool.
    args_override_self = true,
    override_usage = "perfkit record [OPTIONS] CMD [ARGUMENTS]...\n       \
        perfkit record [OPTIONS] [-a|-C CPUS|-G CGROUP|-p PID,...|-t TID,...]",
    after_help = help::end(
        "Options after CMD belong to it. Without -e, the event is cycles, or cpu-clock on a machine without \
        hardware PMU. Hits of tracepoints are recorded each time unless there is a -F or -c.\n\n\
        Without -o, the file is perf.data, and an existing one becomes perf.data.old; if standard output is a pipe, \
        the recording goes there, as with -o -. A pipe gets the pipe form of the format.\n\n\
        Without a command, the recording ends when the processes or threads have exited, or at Ctrl-C; without \
        processes and threads, all CPUs are recorded. Ctrl-C ends it in any case; a second one kills the recorder and leaves a file that can still be read.\n\n\
        On kernels before 7.3, `perf record` of anybody (seen: perf 6.1) aborts while all CPUs are recorded, unless it has the option \
        --buildid-mmap.\n\n\
        Options of the perf tool for what every recording has are accepted: -T, -N, -k mono, --buildid-all, \
        --buildid-mmap, --sample-identifier and --timestamp-boundary.",
        &[
            ("perfkit record -g CMD", "sample a command, with callchains by frame pointers"),
            ("perfkit record --call-graph dwarf,32768 CMD", "copies of the stack, for unwinding without them"),
            ("perfkit record --jit -g node app.js", "with the names of the functions of Node.js"),
            ("perfkit record -F 99 -p 1234,1235", "two processes until they exit or Ctrl-C"),
            ("perfkit record -a -o all.data sleep 10", "all CPUs for ten seconds"),
            ("perfkit record -e sched:sched_switch --filter 'prev_pid == 0' -a sleep 1", ""),
            ("perfkit record --off-cpu CMD", "also waits: perfkit report --off-cpu"),
            ("perfkit record -a --switch-output=60s", "a file each minute, until Ctrl-C"),
            ("perfkit record -a -g -F 99 --every 60s -f pprof -o DIR", ""),
            ("perfkit record -a --overwrite", "the last moments, at SIGUSR2 and at Ctrl-C"),
            ("perfkit record -D -1 --control fifo:ctl CMD", "while another program asks for samples"),
            ("perfkit record -o - CMD | perfkit dump -", "without a file"),
        ],
        help::EXIT_OF_PROGRAM
    ),
)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(super) events: EventOptions,
    /// Samples per second of each event, or `max` for as many as the kernel permits [default: 4000]
    #[arg(short = 'F', long = "freq", value_name = "HZ", conflicts_with = "period", value_parser = frequency)]
    frequency: Option<Frequency>,
    /// Fail if the kernel permits only a lower frequency, in place of lowering it
    #[arg(long)]
    pub(super) strict_freq: bool,
    /// Events between two samples
    #[arg(short = 'c', long = "count", value_name = "PERIOD", value_parser = period)]
    period: Option<NonZeroU64>,
    /// Record the callchain of each sample, by frame pointers unless --call-graph says otherwise
    #[arg(short = 'g')]
    callchains: bool,
    /// Record callchains by frame pointers, by copies of the stack of BYTES (8192 by default, at most 65528) for unwinding,
    /// or by the branch stack of the hardware
    #[arg(long, value_name = "fp|dwarf[,BYTES]|lbr", value_parser = call_graph)]
    call_graph: Option<CallGraph>,
    /// Without the callchain in the kernel
    #[arg(long, conflicts_with = "kernel_callchains")]
    user_callchains: bool,
    /// Without the callchain in user space
    #[arg(long)]
    kernel_callchains: bool,
    #[command(flatten)]
    pub(super) off_cpu: OffCpuOptions,
    #[command(flatten)]
    pub(super) branches: BranchOptions,
    #[command(flatten)]
    pub(super) fields: FieldOptions,
    #[command(flatten)]
    pub(super) levels: LevelOptions,
    #[command(flatten)]
    pub(super) target: TargetOptions,
    #[command(flatten)]
    pub(super) control: ControlOptions,
    /// Record the namespaces of tasks
    #[arg(long)]
    pub(super) namespaces: bool,
    /// Record the cgroups, and the cgroup of each sample
    #[arg(long)]
    pub(super) all_cgroups: bool,
    /// Record the switches between tasks
    #[arg(long)]
    pub(super) switch_events: bool,
    /// Compress the records with zstd, at a level from 1 (the fastest, and the default) to 22
    #[arg(
        short = 'z',
        long = "compression-level",
        alias = "compress",
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = level
    )]
    pub(super) compression: Option<i32>,
    /// Data pages of each ring, or its size as 512K or 4M; rounded up to a power of two [default: 512K, more for
    /// copies of large stacks]
    #[arg(short, long, value_name = "PAGES", value_parser = ring_pages)]
    pub(super) mmap_pages: Option<RingPages>,
    #[command(flatten)]
    pub(super) switch: SwitchOptions,
    #[command(flatten)]
    pub(super) profiles: ProfileOptions,
    /// Let the Python (3.12 and newer), Node.js, Java (17 and newer) and .NET that the command starts name their functions,
    /// by variables of its environment, which are printed
    #[arg(long, requires = "command")]
    pub(super) jit: bool,
    /// Print errors only
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// File to write, or `-` for standard output [default: perf.data]; with -f pprof the folder of the profiles
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    always: AlwaysOptions,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    pub(super) command: Vec<OsString>,
}

/// The distance of samples.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rate {
    /// Samples per second.
    Frequency(u64),
    /// Events between two samples.
    Period(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frequency {
    Of(u64),
    Max,
}

impl Options {
    /// Returns the distance of the samples of an event. A frequency above `limit` is lowered to it.
    pub(super) fn rate(&self, is_tracepoint: bool, limit: u64) -> Rate {
        rate(self.frequency, self.period, is_tracepoint, limit)
    }

    /// Returns the frequency of the samples that the user wants; `None` with a period, and for the
    /// maximum.
    pub(super) fn wanted_frequency(&self) -> Option<u64> {
        match (self.frequency, self.period) {
            (Some(Frequency::Of(frequency)), _) => Some(frequency),
            (None, None) => Some(FREQUENCY),
            _ => None,
        }
    }

    /// Returns how callers are recorded, `None` if the user wants no callers.
    pub(super) fn call_graph(&self) -> Option<CallGraph> {
        let has_callchains = self.callchains || self.off_cpu.is_on();
        self.call_graph.or(has_callchains.then_some(CallGraph::FramePointers))
    }

    /// Returns the flags that leave out a part of each callchain.
    pub(super) fn callchain_flags(&self) -> AttrFlags {
        let mut flags = AttrFlags::empty();
        flags.set(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL, self.user_callchains);
        flags.set(AttrFlags::EXCLUDE_CALLCHAIN_USER, self.kernel_callchains);
        flags
    }

    /// Returns the folder of profiles; `None` if they are only sent.
    ///
    /// # Errors
    ///
    /// Options that belong together are missing.
    pub(super) fn folder(&self) -> io::Result<Option<PathBuf>> {
        let missing = match &self.output {
            _ if self.switch.period().is_none() => "the time of each profile: --every 60s",
            None if self.profiles.is_only_pushed() => return Ok(None),
            Some(folder) if folder != Path::new("-") => return Ok(Some(folder.clone())),
            _ => "a folder: -o DIR",
        };
        Err(io::Error::other(format!("-f pprof needs {missing}")))
    }

    /// Returns the path of the recording, `-` for standard output.
    pub(super) fn output(&self) -> &Path {
        match &self.output {
            None if self.profiles.is_used() => Path::new("the profiles"),
            Some(path) => path,
            None if is_pipe(io::stdout()) => Path::new("-"),
            None => Path::new("perf.data"),
        }
    }
}

/// Returns the distance of the samples of an event by the options `-F` and `-c`. A frequency above
/// `limit` is lowered to it.
pub(crate) fn rate(
    frequency: Option<Frequency>,
    period: Option<NonZeroU64>,
    is_tracepoint: bool,
    limit: u64,
) -> Rate {
    match (frequency, period) {
        (Some(Frequency::Of(frequency)), _) => Rate::Frequency(frequency.min(limit)),
        (Some(Frequency::Max), _) => Rate::Frequency(limit),
        (None, Some(period)) => Rate::Period(period.get()),
        (None, None) if is_tracepoint => Rate::Period(1),
        (None, None) => Rate::Frequency(FREQUENCY.min(limit)),
    }
}

fn is_pipe(out: io::Stdout) -> bool {
    let is_fifo = |stat: rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo;
    !out.is_terminal() && rustix::fs::fstat(out).is_ok_and(is_fifo)
}

pub(crate) fn frequency(text: &str) -> Result<Frequency, String> {
    match text.parse() {
        _ if text == "max" => Ok(Frequency::Max),
        Ok(0) | Err(_) => Err("expected samples per second, a number from 1, or `max`".to_owned()),
        Ok(frequency) => Ok(Frequency::Of(frequency)),
    }
}

pub(crate) fn period(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "expected the events between two samples, a number from 1".to_owned())
}

fn level(text: &str) -> Result<i32, String> {
    let level = text.parse().ok().filter(|level| (1..=22).contains(level));
    level.ok_or("expected a level from 1 to 22".to_owned())
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
    fn level_of_the_compression_is_one_of_zstd() {
        assert_eq!([level("1"), level("22")], [Ok(1), Ok(22)]);
        for text in ["0", "23", "-1", "x", ""] {
            assert!(level(text).is_err(), "{text}");
        }
    }
}
