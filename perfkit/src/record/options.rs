//! The options of `perfkit record`.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use perf_session::ring::{AttrFlags, SampleType};
use rustix::fs::FileType;

use super::branches::BranchOptions;
use super::control::ControlOptions;
use super::off_cpu::OffCpuOptions;
use super::profiles::ProfileOptions;
use super::switch::SwitchOptions;
use crate::cli::help;
use crate::measure::events::EventOptions;
use crate::measure::privilege_levels::LevelOptions;
use crate::measure::ring_pages::{RingPages, ring_pages};
use crate::measure::sampling::{CallGraph, FREQUENCY, Frequency, Rate, call_graph, frequency, period, rate};
use crate::measure::target::TargetOptions;

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
    /// or by the branch stack of the hardware. With fp,defer the kernel follows the frame pointers once for all samples
    /// before a thread returns to user space (since Linux 6.19)
    #[arg(long, value_name = "fp[,defer]|dwarf[,BYTES]|lbr", value_parser = call_graph)]
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

fn is_pipe(out: io::Stdout) -> bool {
    let is_fifo = |stat: rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo;
    !out.is_terminal() && rustix::fs::fstat(out).is_ok_and(is_fifo)
}

fn level(text: &str) -> Result<i32, String> {
    let level = text.parse().ok().filter(|level| (1..=22).contains(level));
    level.ok_or("expected a level from 1 to 22".to_owned())
}

/// The options that add fields to each sample.
#[derive(Args, Clone, Debug)]
pub(super) struct FieldOptions {
    /// The address of the data that the instruction accessed, and where it was; also data mappings
    #[arg(short = 'd', long, help_heading = HEADING)]
    pub(super) data: bool,
    /// The physical address of the data
    #[arg(long, help_heading = HEADING)]
    phys_data: bool,
    /// The size of the page of the data
    #[arg(long, help_heading = HEADING)]
    data_page_size: bool,
    /// The size of the page of the instruction
    #[arg(long, help_heading = HEADING)]
    code_page_size: bool,
    /// The events since the last sample, also with -c; with a frequency they are always there
    #[arg(short = 'P', long = "period", id = "period_field", help_heading = HEADING)]
    period: bool,
    /// The CPU, which samples of -a, -C and -G always have
    #[arg(long, help_heading = HEADING)]
    sample_cpu: bool,
    /// Raw data of the PMU, which samples of tracepoints always have
    #[arg(short = 'R', long = "raw-samples", help_heading = HEADING)]
    raw: bool,
    /// The cost of the access, on PMUs that measure it
    #[arg(short = 'W', long, help_heading = HEADING)]
    weight: bool,
    /// The flags of the transaction
    #[arg(long, help_heading = HEADING)]
    transaction: bool,
}

const HEADING: &str = "Fields of samples";

impl FieldOptions {
    /// Returns the fields.
    pub(super) fn sample_type(&self) -> SampleType {
        let fields = [
            (self.data, SampleType::ADDR | SampleType::DATA_SRC),
            (self.phys_data, SampleType::PHYS_ADDR),
            (self.data_page_size, SampleType::DATA_PAGE_SIZE),
            (self.code_page_size, SampleType::CODE_PAGE_SIZE),
            (self.sample_cpu, SampleType::CPU),
            (self.raw, SampleType::RAW),
            (self.weight, SampleType::WEIGHT),
            (self.transaction, SampleType::TRANSACTION),
        ];
        fields.iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, field)| *field).collect()
    }

    /// Returns whether samples with a fixed period have it too.
    pub(super) const fn has_period(&self) -> bool {
        self.period
    }
}

/// The options of the perf tool for something that every recording has here, which change nothing. They are accepted because
/// instructions of other programs name them, as those of JIT compilers name `-k mono`.
#[derive(Args, Clone, Debug)]
struct AlwaysOptions {
    #[arg(short = 'T', long, hide = true)]
    timestamp: bool,
    #[arg(long, hide = true)]
    sample_identifier: bool,
    #[arg(long, hide = true)]
    timestamp_boundary: bool,
    #[arg(long, hide = true)]
    buildid_all: bool,
    #[arg(long, hide = true)]
    buildid_mmap: bool,
    // The cache of build ids is never written.
    #[arg(short = 'N', long, hide = true)]
    no_buildid_cache: bool,
    #[arg(short = 'k', long, hide = true, value_name = "CLOCK", value_parser = clock)]
    clockid: Option<Monotonic>,
}

/// The clock of all times.
#[derive(Clone, Copy, Debug)]
struct Monotonic;

/// Parses the name of a clock, or its number, as the perf tool does.
fn clock(text: &str) -> Result<Monotonic, String> {
    let lower = text.to_ascii_lowercase();
    match lower.strip_prefix("clock_").unwrap_or(&lower) {
        "mono" | "monotonic" | "1" => Ok(Monotonic),
        _ => Err("expected `mono`: all times are those of CLOCK_MONOTONIC".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_of_the_compression_is_one_of_zstd() {
        assert_eq!([level("1"), level("22")], [Ok(1), Ok(22)]);
        for text in ["0", "23", "-1", "x", ""] {
            assert!(level(text).is_err(), "{text}");
        }
    }

    #[test]
    fn clock_is_the_monotonic_one() {
        for text in ["mono", "monotonic", "CLOCK_MONOTONIC", "1"] {
            assert!(clock(text).is_ok(), "{text}");
        }
        for text in ["raw", "monotonic_raw", "CLOCK_REALTIME", "0", ""] {
            assert!(clock(text).unwrap_err().contains("CLOCK_MONOTONIC"), "{text}");
        }
    }
}
