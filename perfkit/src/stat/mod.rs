//! `perfkit stat`: counts of events while a command runs.

use std::io::{self, Write as _};
use std::process::ExitCode;

use perf_session::EventSetTarget;

mod events;
mod measure;
mod options;
mod report;
mod row;
mod spread;
mod table;

pub(crate) use options::Options;

use crate::command::{Failure, exit_code, report_failure};
use crate::message::{note, of_file};
use crate::output;
use events::Events;
use measure::Measurement;
use report::Report;

/// Counts, prints the counts, and returns the exit code of the command.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    match count(options) {
        Ok(code) => Ok(code),
        Err(Failure::Set(error)) => Ok(report_failure(&error, described(options).as_deref())),
        Err(Failure::Other(error)) => Err(error),
    }
}

fn count(options: &Options) -> Result<ExitCode, Failure> {
    let mut events = Events::parse(options)?;
    // Without a command and other tasks, all CPUs.
    let other =
        if options.command.is_empty() { EventSetTarget::all_cpus() } else { EventSetTarget::command() };
    let target = options.target.target()?.unwrap_or(other);
    let (path, mut out) = output::open(options.output.as_deref(), !options.command.is_empty())?;
    let of_output = |error: io::Error| match error.kind() {
        // The reader of the output exited early, as `head` does.
        io::ErrorKind::BrokenPipe => error,
        _ => of_file(&path, &error),
    };
    let mut report = Report::new(options);
    let mut status = None;
    for _ in 0..options.repeat.get() {
        let Measurement { counts, elapsed, status: exited, is_interrupted } =
            measure::run(options, &mut events, &target, &mut |events, seconds, counts| {
                report.interval(&mut out, events, seconds, counts).map_err(of_output)
            })?;
        report.add(&events, &counts, elapsed);
        status = exited;
        if is_interrupted {
            break;
        }
    }
    report.print(&mut out).and_then(|()| out.flush()).map_err(of_output)?;
    if events.is_user_only {
        note("counted user space only; `perfkit doctor` reports why the kernel is not permitted");
    }
    Ok(status.map_or(ExitCode::SUCCESS, exit_code))
}

/// Returns the tasks and CPUs as the user named them, `None` for a command.
fn described(options: &Options) -> Option<String> {
    options.target.describe().or_else(|| options.command.is_empty().then(|| "all CPUs".to_owned()))
}
