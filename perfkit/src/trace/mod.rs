//! `perfkit trace`: system calls and tracepoints as they happen.

use std::io;
use std::process::ExitCode;

use perf_session::{EventSetTarget, System};
use perf_tracepoint::SyscallTable;

mod entry;
mod json;
mod names;
mod options;
mod plan;
mod session;
mod summary;
mod text;
mod tracer;

pub(crate) use options::Options;

use crate::measure::command::exit_code;
use crate::measure::events::set_filters;
use crate::measure::failure::Failure;
use crate::measure::waiting::Waiting;
use crate::out::destination;
use crate::out::message::{count, note};
use plan::Plan;
use tracer::{Missing, Tracer};

/// Traces, and returns the exit code of the command.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let mut options = options.clone();
    if options.command.is_empty() && options.target.is_empty() {
        options.target.add_all_cpus();
    }
    trace(&options).or_else(|failure| failure.report(options.target.describe().as_deref()))
}

fn trace(options: &Options) -> Result<ExitCode, Failure> {
    let system = System::new();
    let plan = Plan::new(options, &system)?;
    if plan.calls.is_some() && !SyscallTable::HAS_NAMES {
        note("names of system calls are not known on this architecture: their numbers are printed");
    }
    let target = options.target.target()?.unwrap_or_else(EventSetTarget::command);
    let mut set = plan.open(options, target)?;
    let filters = plan.filters()?;
    set_filters(&set, &filters)?;
    let out = destination::open(options.output.as_deref(), !options.command.is_empty(), false)?;
    let mut tracer = Tracer::new(options, &plan, out)?;
    let waiting = Waiting::begin(&system, &set.threads());
    let status = session::run(options, &mut set, &filters, &mut tracer)?;
    let waiting = waiting.describe("traced");
    let Missing { lost, malformed, late } = tracer.finish(set.losses()?)?;
    if !lost.is_empty() {
        note(format_args!("{lost}: a ring was full, use larger ones (-m) or fewer events"));
    }
    if late > 0 {
        note(format_args!("{} came after a record of a later time", count(late, "record")));
    }
    if malformed > 0 {
        note(format_args!("{} could not be decoded", count(malformed, "record")));
    }
    if let Some(waiting) = waiting {
        note(waiting);
    }
    Ok(status.map_or(ExitCode::SUCCESS, exit_code))
}
