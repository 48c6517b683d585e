//! Makes a recording of the scheduler's events.

use std::io;
use std::process::ExitCode;

use perf_record::WaitEvents;
use perf_session::System;

use super::Options;
use crate::measure::recording_file::RecordingFile;
use crate::measure::waiting::Waiting;
use crate::out::message::note;

/// The events of all CPUs, which are those of `perf sched record` but for `sched_wakeup`, at which
/// the kernel begins to count, in place of `sched_waking`.
const ALL_CPUS: &str =
    "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task";

/// Records until the command or the processes exit, or until Ctrl-C. Returns the exit code, and
/// whether there is a recording.
pub(super) fn record(options: &Options, file: &RecordingFile) -> io::Result<(ExitCode, bool)> {
    let list = |ids: &[u32]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let (pids, tids) = (list(&options.pid), list(&options.tid));
    let is_of_tasks = !(options.command.is_empty() || options.all_cpus);
    let mut words = match (&*pids, &*tids) {
        ("", "") if is_of_tasks => Vec::new(),
        ("", "") => vec!["-a", "-e", ALL_CPUS, "-c", "1", "-m", "4M"],
        ("", tids) => vec!["-t", tids],
        (pids, _) => vec!["-p", pids],
    };
    let wakeups = WaitEvents::new(&System::new()).wakeups;
    if words.first() != Some(&"-a") {
        // A task writes `sched_switch` only where it leaves a CPU, but records of switches are
        // complete.
        words.extend(["--off-cpu", "-e", "dummy"]);
        if let Err(reason) = &wakeups {
            note(format_args!("wakeups are not recorded: {reason}"));
        }
    } else if let Err(reason) = &wakeups {
        note(format_args!("the events of all CPUs cannot be recorded, those of a command can: {reason}"));
        return Ok((ExitCode::FAILURE, false));
    }
    // A thread that waits all the time writes no record.
    let waiting = Waiting::begin_tasks(&System::new(), &options.pid, &options.tid);
    let recorded = file.record(&words, &options.command)?;
    if let Some(waiting) = waiting.describe("recorded") {
        note(waiting);
    }
    Ok(recorded)
}
