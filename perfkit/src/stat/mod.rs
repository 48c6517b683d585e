//! `perfkit stat`: counts of events while a command runs.

use std::io;
use std::process::ExitCode;

use perf_session::EventSetTarget;

mod baseline;
mod cgroups;
mod cpu_times;
mod events;
mod measure;
mod options;
mod report;
mod row;
mod split;
mod spread;
mod totals;

pub(crate) use options::Options;

use crate::cli::arguments;
use crate::measure::command::exit_code;
use crate::measure::failure::Failure;
use crate::measure::target::describe_cgroups;
use crate::out::message::note;
use baseline::{Baseline, GREW};
use events::Events;
use measure::{Ends, Measurement};
use report::Report;

/// Counts, prints the counts, and returns the exit code of the command.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    if let Some(error) = options.misuse() {
        return Ok(arguments::report(&error));
    }
    count(options).or_else(|failure| failure.report(described(options).as_deref()))
}

fn count(options: &Options) -> Result<ExitCode, Failure> {
    let mut events = Events::parse(options)?;
    // The target is all CPUs without a command and other tasks, and for `--for-each-cgroup`. Each
    // event has its own cgroup.
    let other = if options.is_on_cpus() { EventSetTarget::all_cpus() } else { EventSetTarget::command() };
    let target = options.target.without_cgroups().unwrap_or(other);
    // Before the command runs, which can take long.
    let baseline = options.baseline.as_deref().map(Baseline::read).transpose()?;
    let mut report = Report::new(options)?;
    let ends = Ends::new()?;
    let mut status = None;
    for run in 1_u32.. {
        let Measurement { counts, elapsed, cpu_times, status: exited, is_last } =
            measure::run(options, &mut events, &target, &ends, &mut report)?;
        report.add(counts, elapsed, cpu_times);
        status = exited;
        if is_last || run == options.repeat {
            break;
        }
    }
    report.print(&events)?;
    if events.is_user_only {
        note("counted user space only; `perfkit doctor` reports why the kernel is not permitted");
    }
    let code = status.map_or(ExitCode::SUCCESS, exit_code);
    let Some(baseline) = baseline else { return Ok(code) };
    let verdict = baseline.compare(&report.objects(&events), options.fail_above);
    verdict.lines.iter().for_each(note);
    // A command that failed has its own code.
    Ok(if verdict.has_grown && code == ExitCode::SUCCESS { GREW.into() } else { code })
}

/// Returns the tasks and CPUs as the user named them, `None` for a command.
fn described(options: &Options) -> Option<String> {
    let cgroups = describe_cgroups(&options.for_each_cgroup);
    cgroups
        .or_else(|| options.target.describe())
        .or_else(|| options.command.is_empty().then(|| "all CPUs".to_owned()))
}
