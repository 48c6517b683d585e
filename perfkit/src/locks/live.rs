//! Makes a recording of the waits for locks.

use std::io;
use std::process::ExitCode;

use perf_session::{System, Tracefs};

use super::{Kind, Options};
use crate::measure::recording_file::RecordingFile;
use crate::measure::waiting::Waiting;
use crate::out::message::note;

const USER: &str = "syscalls:sys_enter_futex,syscalls:sys_exit_futex";
const KERNEL: &str = "lock:contention_begin,lock:contention_end";

/// Records until the command or the processes exit, or until Ctrl-C. Returns the exit code, and
/// whether there is a recording.
pub(super) fn record(options: &Options, file: &RecordingFile) -> io::Result<(ExitCode, bool)> {
    let tracefs = match Tracefs::find(&System::new()) {
        Ok(tracefs) => tracefs,
        Err(error) => return Ok(refused(&error)),
    };
    let mut words = Vec::new();
    let wanted = [
        (options.kind != Kind::Kernel, ["syscalls", "sys_enter_futex"], USER, "futexes"),
        (options.kind != Kind::User, ["lock", "contention_begin"], KERNEL, "locks of the kernel"),
    ];
    let mut missing = None;
    for (_, [category, name], events, what) in wanted.into_iter().filter(|(is_wanted, ..)| *is_wanted) {
        match tracefs.tracepoint(category, name) {
            Ok(_) => words.extend(["-e", events]),
            Err(error) => {
                if options.kind == Kind::All {
                    note(format_args!("{what} are not recorded: {error}"));
                }
                missing = Some(error);
            }
        }
    }
    if let Some(error) = missing.filter(|_| words.is_empty()) {
        return Ok(refused(&error));
    }
    let list = |ids: &[u32]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let (pids, tids) = (list(&options.pid), list(&options.tid));
    let is_of_cpus = options.all_cpus || options.command.is_empty() && pids.is_empty() && tids.is_empty();
    words.extend(match (&*pids, &*tids) {
        ("", "") if is_of_cpus => vec!["-a"],
        ("", "") => Vec::new(),
        ("", tids) => vec!["-t", tids],
        (pids, _) => vec!["-p", pids],
    });
    // A frame pointer is missing in most C libraries, whose functions wait.
    let default = if is_of_cpus || options.kind == Kind::Kernel { "fp" } else { "dwarf" };
    let call_graph = options.call_graph.as_deref().unwrap_or(default);
    words.extend(["-c", "1", "-m", "4M", "--call-graph", call_graph]);
    if options.kind == Kind::Kernel && call_graph == "fp" {
        words.push("--kernel-callchains");
    }
    // A thread that waits all the time writes no record.
    let waiting = Waiting::begin_tasks(&System::new(), &options.pid, &options.tid);
    let recorded = file.record(&words, &options.command)?;
    if let Some(waiting) = waiting.describe("recorded") {
        note(waiting);
    }
    Ok(recorded)
}

fn refused(error: &impl std::fmt::Display) -> (ExitCode, bool) {
    note(format_args!("waits for locks cannot be recorded: {error}"));
    (ExitCode::FAILURE, false)
}
