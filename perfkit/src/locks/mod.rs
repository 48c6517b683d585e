//! `perfkit locks`: how long threads wait for locks, where, and who wakes them.

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum, ValueHint};
use perf_profile::read::{Filter, LocksReader, ReadLocks};

mod json;
mod live;
mod place;
mod row;
mod text;

use crate::cli::help;
use crate::measure::recording_file::RecordingFile;
use crate::measure::sampling::call_graph;
use crate::out::message::{self, note};
use crate::recording::{FinderOptions, InputOptions, Shown, StackOptions, note_losses, reading};
use row::Row;

/// Print how long threads wait for locks, where, and who wakes them
#[derive(Args, Clone, Debug)]
#[command(
    // The last occurrence of an option counts, as in the perf tool.
    args_override_self = true,
    override_usage = "perfkit locks [OPTIONS] [-i FILE]\n       \
        perfkit locks [OPTIONS] CMD [ARGUMENTS]...\n       \
        perfkit locks [OPTIONS] [-a|-p PID,...|-t TID,...]",
    after_help = help::end(
        "A recording has the tracepoints syscalls:sys_enter_futex and sys_exit_futex, lock:contention_begin and \
         contention_end (since Linux 5.19, as `perf lock record` records them), or all, with callchains. Without a recording, \
         perfkit makes one in a temporary file while CMD runs, or until Ctrl-C, and prints it. That needs root, or \
         CAP_PERFMON and a readable tracefs, and no BPF.\n\n\
         A futex is in a lock, a condition variable or a join: the column Function shows which. The kernel sees a lock of a program \
         only when a thread has to wait for it. A futex is one row by its process and address, a lock of the kernel by its \
         kind and the function that takes it, as in `perf lock contention`. Waits that had not ended are in the column Open \
         alone, with the time up to the end of the recording: that of a deadlock.\n\n\
         --json prints one object, in the form that docs/locks-json.md describes.",
        &[
            ("perfkit locks CMD", "the locks of a command"),
            ("perfkit locks -g CMD", "with the stacks of waiters and wakers"),
            ("perfkit locks -p 1234", "a process, until Ctrl-C"),
            ("perfkit locks -a --kind kernel sleep 10", "the locks of the kernel for ten seconds"),
            ("perfkit locks -i perf.data -s max", "a recording, the longest wait first"),
        ],
        help::EXIT_OF_PROGRAM
    )
)]
pub(crate) struct Options {
    /// The recording: a perf.data file or directory, a FIFO, or - for the pipe form on standard input [default: perf.data]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["all_cpus", "output", "command"])]
    input: Option<PathBuf>,
    /// All threads on all CPUs
    #[arg(short, long, conflicts_with_all = ["pid", "tid"])]
    all_cpus: bool,
    /// The threads of these processes; without a recording also those that they start
    #[arg(short, long, value_name = "PID,...", value_delimiter = ',', conflicts_with = "tid")]
    pid: Vec<u32>,
    /// These threads
    #[arg(short, long, value_name = "TID,...", value_delimiter = ',')]
    tid: Vec<u32>,
    /// Futexes of user space, locks of the kernel, or both
    #[arg(long, value_enum, value_name = "KIND", default_value = "all")]
    kind: Kind,
    /// Rows of the kernel's locks are their addresses, in place of the functions that take them
    #[arg(short, long)]
    lock_addr: bool,
    /// Print the stacks of waiters and wakers with the largest waits of each lock
    #[arg(short = 'g', long)]
    stacks: bool,
    /// Column by which locks are sorted
    #[arg(short, long, value_enum, value_name = "KEY", default_value = "total")]
    sort: Sort,
    /// Rows to print, at most
    #[arg(short = 'E', long, value_name = "ROWS")]
    entries: Option<usize>,
    /// Record callchains by frame pointers, or by copies of the stack of BYTES
    /// [default: dwarf; with -a and of the kernel's locks alone fp]
    #[arg(long, value_name = "fp|dwarf[,BYTES]", value_parser = checked_call_graph, conflicts_with = "input")]
    call_graph: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Keep the recording in this file
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    #[command(flatten)]
    unwinding: StackOptions,
    #[command(flatten)]
    finder: FinderOptions,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

/// The locks that are recorded and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    User,
    Kernel,
    All,
}

/// A column by which locks are sorted, the largest value first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// All waits together, with those that had not ended
    Total,
    /// The number of waits
    Count,
    /// The average wait
    Avg,
    /// The longest wait
    Max,
}

fn checked_call_graph(text: &str) -> Result<String, String> {
    call_graph(text).map(|_| text.to_owned())
}

impl Options {
    /// Returns whether a recording is to be made.
    fn is_live(&self) -> bool {
        let has_target = self.all_cpus || !self.pid.is_empty() || !self.tid.is_empty();
        self.input.is_none() && (has_target || self.output.is_some() || !self.command.is_empty())
    }
}

/// Prints the locks, and returns the exit code of the command. Damage is an error, after all that
/// could be read is printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    if !options.is_live() {
        let path = options.input.clone().unwrap_or_else(|| "perf.data".into());
        return report(out, options, path).map(|()| ExitCode::SUCCESS);
    }
    let file = match &options.output {
        Some(path) => RecordingFile::kept(path),
        None => RecordingFile::temporary("locks"),
    }?;
    let (code, is_written) = live::record(options, &file)?;
    if is_written {
        report(out, options, file.path().to_owned())?;
    }
    Ok(code)
}

fn report(out: &mut dyn Write, options: &Options, path: PathBuf) -> io::Result<()> {
    let recording = InputOptions::of_file(path).open()?;
    let (name, len) = (recording.name().to_owned(), recording.byte_len());
    let of_file = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
    let finder = options.finder.finder(recording.metadata());
    let mut filter = Filter::default();
    if !options.is_live() {
        (filter.pids, filter.tids) = (options.pid.clone(), options.tid.clone());
        filter.pids.sort_unstable();
        filter.tids.sort_unstable();
    }
    let mut reader = LocksReader::new(recording).map_err(of_file)?.with_filter(filter).with_finder(finder);
    reader = reader.with_max_frames(options.unwinding.max_frames());
    if let Some(report) = reading(Shown::BeforeOutput, &name, len) {
        reader = reader.on_progress(report);
    }
    let read = reader.read()?;
    let mut rows = row::rows(&read, options);
    let all = rows.len();
    rows.truncate(options.entries.unwrap_or(usize::MAX));
    let mut out = BufWriter::new(out);
    if options.json {
        writeln!(out, "{}", message::json(&json::locks(&read, &rows)))?;
    } else {
        text::print(&mut out, &read, &rows, options.stacks)?;
        if rows.len() < all {
            writeln!(out, "#\n# {} left out by -E", message::count((all - rows.len()) as u64, "row"))?;
        }
    }
    out.flush()?;
    note_unknown(&read, &rows);
    read.finish()
}

/// Prints what is not known.
fn note_unknown(read: &ReadLocks, rows: &[Row]) {
    let count = message::count;
    if read.locks.lost() > 0 {
        let (lost, broken) = (count(read.locks.lost(), "record"), count(read.locks.broken(), "wait"));
        note(format_args!(
            "{lost} lost: {broken} in progress then left out, and waits among the lost records"
        ));
    }
    if read.late > 0 {
        note(format_args!("{} came after a record of a later time", count(read.late, "record")));
    }
    note_losses(&read.profile);
    if rows.is_empty() {
        let kinds = match (read.has_user, read.has_kernel) {
            (true, true) => "futexes and locks of the kernel",
            (true, false) => "futexes",
            _ => "locks of the kernel",
        };
        note(format_args!("no waits for {kinds} began in the recording, or the options choose none of them"));
    }
}
