//! `perfkit record`: samples of events in a `perf.data` file.

use std::fs::File;
use std::io;
use std::process::ExitCode;

use perf_file::writer::{RecordedEvent, Writer};
use perf_session::synthesize::Synthesizer;
use perf_session::sys::AttrFlags;
use perf_session::{EventSetError, System, sys};

mod always;
mod branches;
mod call_graph;
mod control;
mod features;
mod fields;
mod losses;
mod off_cpu;
mod options;
mod output;
mod plan;
mod programs;
mod report;
mod requests;
mod session;

pub(crate) use options::Options;

use crate::command::{exit_code, report_failure};
use crate::events::set_filters;
use crate::message::note;
use features::{Described, add_results};
use output::Output;
use plan::Plan;
use report::Report;
use session::{Recorded, Session};

/// The reason why a recording could not be made or continued.
#[derive(Debug)]
enum Failure {
    Set(EventSetError),
    Write(perf_file::Error),
    Other(io::Error),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Set(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::Other(error) => error.fmt(f),
        }
    }
}

impl From<EventSetError> for Failure {
    fn from(error: EventSetError) -> Self {
        Self::Set(error)
    }
}

impl From<sys::Error> for Failure {
    fn from(error: sys::Error) -> Self {
        Self::Set(error.into())
    }
}

impl From<perf_file::Error> for Failure {
    fn from(error: perf_file::Error) -> Self {
        Self::Write(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Other(error)
    }
}

/// Records, and returns the exit code of the command.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let mut options = options.clone();
    if options.command.is_empty() && options.target.is_empty() {
        options.target.add_all_cpus();
    }
    match record(&options) {
        Ok(code) => Ok(code),
        Err(Failure::Set(error)) => Ok(report_failure(&error, options.target.describe().as_deref())),
        Err(Failure::Write(error)) => Err(io::Error::other(error)),
        Err(Failure::Other(error)) => Err(error),
    }
}

fn record(options: &Options) -> Result<ExitCode, Failure> {
    let system = System::new();
    let channel = options.control.open()?;
    let mut plan = Plan::new(options, &system)?;
    let set = plan.open()?;
    let filters = plan.filters();
    set_filters(&set, &filters)?;
    let described = Described::new(&set, &plan.group_names())?;
    let mut notes = std::mem::take(&mut plan.notes);
    let features = described.features(&system, &mut notes);
    let output = Output::create(options.output())?;
    let (handle, place) = (output.handle()?, output.place());
    let first =
        described.events.first().cloned().unwrap_or_else(|| RecordedEvent::new(sys::Attr::default(), ""));
    let mut synthesizer = Synthesizer::new(&system, &first.attr);
    let has_kernel =
        described.events.iter().any(|event| !event.attr.flags.contains(AttrFlags::EXCLUDE_KERNEL));
    synthesize(&mut synthesizer, options, has_kernel, &mut notes)?;
    if !options.quiet {
        notes.iter().for_each(note);
    }
    let started = output
        .start(&described.events, &features, options.compression)
        .and_then(|writer| write_start(writer, &synthesizer));
    synthesizer.clear_records();
    let writer = match started {
        Ok(writer) => writer,
        Err(error) => {
            place.discard();
            return Ok(report_unwritten(options, &error));
        }
    };

    let mut session = Session::new(set, described, filters, writer, &first.attr, plan.controlled());
    let status = session.run(options, channel);
    let Recorded { described, inventory, ledger, writer } = session.finish();
    let (status, finished) = match status {
        Ok(status) => {
            let mut features = features;
            add_results(&mut features, &described, &inventory, &mut synthesizer);
            (status, writer.finish(&features).map(drop))
        }
        Err(Failure::Write(error)) => {
            drop(writer);
            (None, Err(error))
        }
        Err(failure @ Failure::Set(EventSetError::Command { .. })) => {
            drop(writer);
            place.discard();
            return Err(failure);
        }
        Err(failure) => {
            drop(writer);
            note(format_args!("{}: the recording is not complete", Output::name(options.output())));
            return Err(failure);
        }
    };
    let report =
        Report { inventory: &inventory, ledger: &ledger, path: options.output(), clause: plan.clause };
    match finished {
        Ok(()) => {
            if !options.quiet {
                report.print(&handle);
            }
            Ok(status.map_or(ExitCode::SUCCESS, exit_code))
        }
        // Also for a closed pipe, because the recording is not complete.
        Err(error) => {
            let code = report_unwritten(options, &error);
            report.print_unwritten();
            Ok(code)
        }
    }
}

/// Writes the records of what is there before the recording.
fn write_start(mut writer: Writer<File>, synthesizer: &Synthesizer) -> perf_file::Result<Writer<File>> {
    writer.write_plain(synthesizer.records().as_bytes())?;
    writer.finish_init()?;
    writer.flush()?;
    Ok(writer)
}

/// Adds the records of what is there before the recording.
fn synthesize(
    synthesizer: &mut Synthesizer,
    options: &Options,
    has_kernel: bool,
    notes: &mut Vec<String>,
) -> io::Result<()> {
    if let Err(error) = synthesizer.kernel() {
        // Nobody misses it in a recording of user space.
        notes.extend(has_kernel.then(|| error.to_string()));
    }
    match programs::loaded() {
        Ok(programs) => synthesizer.bpf_programs(programs),
        Err(error) => notes.push(format!("the file does not name the BPF programs: {error}")),
    }
    if options.all_cgroups
        && let Err(error) = synthesizer.cgroups()
    {
        notes.push(format!("the file does not name the cgroups: {error}"));
    }
    if options.target.is_on_cpus() {
        synthesizer.processes()?;
    }
    for pid in options.target.processes() {
        synthesizer.process(*pid);
    }
    Ok(())
}

/// Prints why the recording could not be written.
fn report_unwritten(options: &Options, error: &perf_file::Error) -> ExitCode {
    note(format_args!("{}: {error}", Output::name(options.output())));
    ExitCode::FAILURE
}
