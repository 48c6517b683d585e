//! `perfkit stat`: counts of events while a command runs.

use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;

use perf_events::{SetError, SetTarget};

mod events;
mod measure;
mod options;
mod report;
mod row;
mod spread;
mod table;

pub(crate) use options::Options;

use crate::command::{exit_code, report_failure};
use events::Events;
use measure::Measurement;
use report::Report;

/// The reason why nothing was counted.
#[derive(Debug)]
pub(super) enum Failure {
    Set(SetError),
    Other(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Other(error)
    }
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Self {
        Self::Set(error)
    }
}

/// Counts, prints the counts, and returns the exit code of the command.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    match count(options) {
        Ok(code) => Ok(code),
        Err(Failure::Set(error)) => Ok(report_failure(&error)),
        Err(Failure::Other(error)) => Err(error),
    }
}

fn count(options: &Options) -> Result<ExitCode, Failure> {
    let mut out: Box<dyn Write> = match &options.output {
        Some(path) => Box::new(
            File::create(path)
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?,
        ),
        None if options.command.is_empty() => Box::new(io::stdout()),
        None => Box::new(io::stderr()),
    };
    let mut events = Events::parse(&options.events)?;
    let target = target(options);
    let mut report = Report::new(options);
    let mut status = None;
    for _ in 0..options.repeat.get() {
        let Measurement { counts, elapsed, status: exited, is_interrupted } =
            measure::run(options, &mut events, &target, &mut |events, seconds, counts| {
                report.interval(&mut out, events, seconds, counts)
            })?;
        report.add(&events, &counts, elapsed);
        status = exited;
        if is_interrupted {
            break;
        }
    }
    report.print(&mut out)?;
    if events.is_user_only {
        eprintln!(
            "perfkit: counted user space only; `perfkit doctor` reports why the kernel is not permitted"
        );
    }
    Ok(status.map_or(ExitCode::SUCCESS, exit_code))
}

/// Returns the tasks and CPUs to count: without a command and other options, all CPUs.
fn target(options: &Options) -> SetTarget {
    if let Some(cpus) = &options.cpus {
        SetTarget::cpus(cpus.clone())
    } else if let Some(pid) = options.pid {
        SetTarget::process(pid)
    } else if options.all_cpus || options.command.is_empty() {
        SetTarget::all_cpus()
    } else {
        SetTarget::command()
    }
}
