//! `perfkit demo`: records a workload that it starts, and reports it, by command lines of this
//! program.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Parser as _};

pub(crate) mod workload;

use crate::Arguments;
use crate::cli::help;
use crate::measure::recording_file::RecordingFile;
use crate::out::interrupt;
use crate::out::message::{count, shown};
use crate::out::whole_file;
use crate::recording::InputOptions;

/// A recording of the workload: all threads on two CPUs, with the mappings of each process.
const BUILT_IN: &[u8] = include_bytes!("../../data/demo.data");

/// The recording of `--keep`, in the current folder.
const KEPT: &str = "demo.perf.data";

/// Help of `--keep`.
const KEEP: &str = if cfg!(feature = "flamegraph") {
    "Leave the recording in demo.perf.data and its flame graph in demo.svg, in the current folder"
} else {
    "Leave the recording in demo.perf.data, in the current folder"
};

/// Record a small program and report where it spends its time
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "It prints the command lines that it runs. Where the kernel permits no sampling, it prints the reason and reports a \
     built-in recording.",
    &[
        ("perfkit demo", "record for two seconds"),
        ("perfkit demo --keep", "leave the recording in this folder, to look at it"),
        ("perfkit demo --capture", "report the built-in recording, which needs no permission"),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    /// Report the built-in recording instead of sampling
    #[arg(long)]
    capture: bool,
    /// Seconds to sample, 1 to 60
    #[arg(long, value_name = "N", default_value_t = workload::SECONDS, value_parser = workload::seconds())]
    seconds: u64,
    #[arg(long, help = KEEP)]
    keep: bool,
}

/// Records the workload and reports it. If sampling is not permitted, the report is about the
/// built-in recording.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    let file = if options.keep { RecordingFile::kept(KEPT) } else { RecordingFile::temporary("demo") }?;
    let mut is_live = !options.capture;
    if is_live {
        let before = file.inode();
        // Programs are usually compiled without the frame pointers that `-g` needs, as this one is.
        let record = format!(
            "record -F 999 --call-graph dwarf -o FILE -- PERFKIT {} --seconds {}",
            workload::SUBCOMMAND,
            options.seconds
        );
        let code = file.while_recording(|| perfkit(&file, out, &record))?;
        if interrupt::has_occurred() {
            return Ok(ExitCode::from(interrupt::EXIT_CODE));
        }
        is_live = code == ExitCode::SUCCESS;
        // `record` has printed the reason. The file is unchanged if no event could be opened.
        if !is_live && (code != ExitCode::FAILURE || file.inode() != before) {
            return Ok(code);
        }
    }
    if !is_live {
        whole_file::write_private(file.path(), |file| file.write_all(BUILT_IN))?;
        writeln!(out, "\nThe built-in recording, which was made earlier and NOT on this kernel:")?;
    }
    writeln!(out)?;
    perfkit(&file, out, "report --no-children --percent-limit 1 -i FILE")?;
    if is_live {
        // The functions of the built-in recording have no names on this machine.
        writeln!(out)?;
        perfkit(&file, out, "report -q -g caller --percent-limit 10 --comm sort -i FILE")?;
    }
    writeln!(out)?;
    print_kinds(out, file.path())?;
    if !options.keep {
        writeln!(out, "\n{} is removed now; --keep leaves one here.", shown(file.path()))?;
    } else if cfg!(feature = "flamegraph") {
        writeln!(out)?;
        perfkit(&file, out, "flamegraph -i FILE -o demo.svg")?;
    }
    out.write_all(NEXT.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The last lines: commands to try next.
const NEXT: &str = "
Next:
  perfkit doctor                           what you can measure here, and what blocks the rest
  perfkit record --call-graph dwarf CMD    your own program, then perfkit report
  perfkit top                              the functions that run now
";

/// Prints the number of records of each kind of the kernel.
fn print_kinds(out: &mut dyn Write, file: &Path) -> io::Result<()> {
    let (_, mut records) = InputOptions::of_file(file).open()?.in_file_order();
    let mut kinds = BTreeMap::<_, u64>::new();
    while let Some(record) = records.next() {
        if let Some(record) = record.kernel() {
            *kinds.entry(record.kind()).or_default() += 1;
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().map(|(kind, count)| (count, kind.to_string())).collect();
    kinds.sort_by(|(left, _), (right, _)| right.cmp(left));
    let sum = kinds.iter().map(|(count, _)| count).sum();
    let kinds: Vec<_> = kinds.into_iter().map(|(count, kind)| format!("{count} {kind}")).collect();
    writeln!(out, "{} of the kernel: {}", count(sum, "record"), kinds.join(", "))?;
    records.finish()
}

/// Prints a command line of this program, and runs it. The words FILE and PERFKIT are the
/// recording and this program.
fn perfkit(file: &RecordingFile, out: &mut dyn Write, line: &str) -> io::Result<ExitCode> {
    // The name that the user typed, so that the line can be repeated.
    let program = env::args_os().next().unwrap_or_else(|| "perfkit".into());
    let words = ["PERFKIT"].into_iter().chain(line.split(' ')).map(|word| match word {
        "FILE" => file.path().into(),
        "PERFKIT" => program.clone(),
        word => word.into(),
    });
    let words: Vec<OsString> = words.collect();
    let quoted: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    writeln!(out, "$ {}", quoted.join(" "))?;
    out.flush()?;
    let arguments = Arguments::try_parse_from(words).map_err(io::Error::other)?;
    crate::run(out, &arguments.command)
}

/// Returns a word as a shell reads it.
fn quoted(word: &OsStr) -> String {
    let word = shown(word);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+:,=@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
