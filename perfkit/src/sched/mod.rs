//! `perfkit sched`: how long threads run, sleep and wait for a CPU.

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum, ValueHint};
use perf_profile::read::{Filter, ReadSched, SchedReader, TimeSpec};

mod json;
mod live;
mod row;
mod text;

pub(crate) use json::durations;

use crate::cli::help;
use crate::measure::recording_file::RecordingFile;
use crate::out::message::{self, note, shown};
use crate::recording::{InputOptions, Shown, reading};
use row::Row;

/// Print how long threads run, sleep and wait for a CPU
#[derive(Args, Clone, Debug)]
#[command(
    // The last occurrence of an option counts, as in the perf tool.
    args_override_self = true,
    override_usage = "perfkit sched [OPTIONS] [-i FILE]\n       \
        perfkit sched [OPTIONS] CMD [ARGUMENTS]...\n       \
        perfkit sched [OPTIONS] [-a|-p PID,...|-t TID,...]",
    after_help = help::end(
        "A recording is one of `perf sched record`, of the tracepoints sched:sched_switch and sched:sched_wakeup on all CPUs, \
         or with less detail of `perfkit record --off-cpu` or --switch-events. Without a recording, perfkit makes one in a \
         temporary file while CMD runs, or until Ctrl-C, and prints it.\n\n\
         A wait is the time for which a thread was ready and had no CPU, from its wakeup, its preemption or its start; a \
         sleep is the time until its wakeup. The waits are those of `perf sched latency -p`: a thread that is seen for the first \
         time where it begins to run counts as a wait of 0. p99 is up to 1/64 longer than the exact value. -a also prints \
         how long each CPU was busy.\n\n\
         --json prints one object, in the form that docs/sched-json.md describes.",
        &[
            ("perfkit sched CMD", "the threads of a command"),
            ("perfkit sched -a sleep 10", "all threads and CPUs for ten seconds"),
            ("perfkit sched -p 1234", "a process, until Ctrl-C"),
            ("perfkit sched -i perf.data -s max", "a recording, the longest wait first"),
            ("perfkit sched -a --json sleep 1 | jq '.threads[0]'", ""),
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
    /// Only threads of these names
    #[arg(short = 'c', long, alias = "comms", value_name = "NAME,...", value_delimiter = ',')]
    comm: Vec<OsString>,
    /// Only these times: START,STOP in seconds of the recording's clock, or parts as 10%-20%
    #[arg(long, value_name = "START,STOP")]
    time: Option<TimeSpec>,
    /// Column by which threads are sorted
    #[arg(short, long, value_enum, value_name = "KEY", default_value = "wait")]
    sort: Sort,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Keep the recording in this file
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

/// A column by which threads are sorted, the largest value first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// All waits together
    Wait,
    /// The average wait
    Avg,
    /// The 99th percentile of the waits
    P99,
    /// The longest wait
    Max,
    /// How often it ran
    Runs,
    /// How long it ran
    Run,
    /// How long it slept
    Sleep,
    /// How often it was moved to another CPU
    Migrations,
}

impl Options {
    /// Returns whether a recording is to be made.
    fn is_live(&self) -> bool {
        let has_target = self.all_cpus || !self.pid.is_empty() || !self.tid.is_empty();
        self.input.is_none() && (has_target || self.output.is_some() || !self.command.is_empty())
    }
}

/// Prints the threads and CPUs, and returns the exit code of the command. Damage is an error, after
/// all that could be read is printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    if !options.is_live() {
        let path = options.input.clone().unwrap_or_else(|| "perf.data".into());
        return report(out, options, path).map(|()| ExitCode::SUCCESS);
    }
    let file = match &options.output {
        Some(path) => RecordingFile::kept(path),
        None => RecordingFile::temporary("sched"),
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
    let mut times = Filter::default();
    if let Some(time) = &options.time {
        let ranges = time.ranges(recording.metadata().sample_time);
        let unknown =
            "--time: this recording has no times of its first and last sample: give times in seconds";
        times.times = Some(ranges.ok_or_else(|| io::Error::other(unknown))?);
    }
    let of_file = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
    let mut reader = SchedReader::new(recording).map_err(of_file)?.with_times(times);
    if let Some(report) = reading(Shown::BeforeOutput, &name, len) {
        reader = reader.on_progress(report);
    }
    let read = reader.read();
    let rows = row::rows(&read, options);
    let mut out = BufWriter::new(out);
    if options.json {
        writeln!(out, "{}", message::json(&json::sched(&read, &rows)))?;
    } else {
        text::print(&mut out, &read, &rows)?;
    }
    out.flush()?;
    note_unknown(&read, &rows);
    if rows.is_empty() {
        note("no threads: the recording has no switches of threads, or the options choose none of them");
    }
    read.finish()
}

/// Starts of threads that are missing are reported only if they are more than one of this many
/// switches, because the events of a recording do not start all at once.
const FEW: u64 = 20;

/// Prints what is not known.
fn note_unknown(read: &ReadSched, rows: &[Row<'_>]) {
    let (summary, count) = (&read.summary, message::count);
    if summary.lost() > 0 {
        let lost = count(summary.lost(), "record");
        note(format_args!(
            "{lost} lost: what threads did then is not counted, and some waits may be too long"
        ));
    } else if read.has_switches && summary.unpaired() > summary.switches() / FEW {
        let (unpaired, switches) = (summary.unpaired(), count(summary.switches(), "switch"));
        note(format_args!(
            "{unpaired} of {switches} are of a thread whose start is not in the recording, which is of some tasks or CPUs: \
             record with -a"
        ));
    }
    if summary.lost_wakeups() > 0 {
        let lost = count(summary.lost_wakeups(), "wakeup");
        note(format_args!("{lost} lost: a sleep whose wakeup is lost includes the wait for a CPU after it"));
    }
    if read.late > 0 {
        note(format_args!("{} came after a record of a later time", count(read.late, "record")));
    }
    if !read.has_wakeups {
        note("a sleep includes the wait for a CPU after it, because the recording has no wakeups");
    }
    let waiting: Vec<_> = rows.iter().filter_map(|row| Some((row, row.ready_for(summary.end()?)?))).collect();
    if let Some((row, time)) = waiting.iter().max_by_key(|(_, time)| *time) {
        let (threads, it) = (count(waiting.len() as u64, "thread"), shown(&row.name));
        let ms = message::milliseconds(*time);
        note(format_args!(
            "{threads} waited for a CPU at the end, {it} ({}) for {ms} ms, which is not in the table",
            row.tid
        ));
    }
}
