//! `perfkit record`: samples of events in a `perf.data` file.

use std::io;
use std::process::ExitCode;

use perf_file::FeatureData;
use perf_file::format::Feature;
use perf_record::Recorder;
use perf_session::{EventSetError, LossKind, System};

mod branches;
mod control;
mod file;
mod off_cpu;
mod options;
mod output;
mod plan;
mod profiles;
mod report;
mod requests;
mod session;
mod sink;
mod switch;

pub(crate) use options::Options;

use crate::measure::bpf_programs;
use crate::measure::command::exit_code;
use crate::measure::events::set_filters;
use crate::measure::failure::Failure;
use crate::measure::waiting::Waiting;
use crate::out::message::note;
use file::{Files, FlightRecorder};
use output::Output;
use plan::Plan;
use profiles::Profiles;
use report::{OfCpus, Report};
use session::Session;
use sink::Sink;

/// Records, and returns the exit code of the command.
pub(crate) fn run(options: &Options) -> io::Result<ExitCode> {
    let mut options = options.clone();
    if options.command.is_empty() && options.target.is_empty() {
        options.target.add_all_cpus();
    }
    record(&options).or_else(|failure| failure.report(options.target.describe().as_deref()))
}

fn record(options: &Options) -> Result<ExitCode, Failure> {
    let system = System::new();
    let channel = options.control.open()?;
    let mut plan = Plan::new(options, &system)?;
    let set = plan.open()?;
    let mut recorder = Recorder::new(set, &system)?.with_bpf_programs(bpf_programs::loaded);
    let has_all_threads = options.target.is_on_all_cpus() || !options.target.is_on_cpus();
    let has_states = options.off_cpu.is_on() && has_all_threads && !options.profiles.is_used();
    if has_states {
        recorder = recorder.with_thread_states();
    }
    if let Some(tasks) = recorder.tasks() {
        plan.choose_wakeups(tasks);
    }
    let filters = plan.filters();
    set_filters(recorder.set(), &filters)?;
    let mut notes = std::mem::take(&mut plan.notes);
    let tids = recorder.set().threads();
    let mut out: Box<dyn Sink> = if options.profiles.is_used() {
        Box::new(Profiles::start(options, &mut recorder, &mut notes)?)
    } else {
        let version = concat!("perfkit ", env!("CARGO_PKG_VERSION")).as_bytes();
        recorder.features_mut().set(Feature::VERSION, &FeatureData::Text(version));
        let files = Files::new(options);
        if options.switch.is_overwrite() { Box::new(FlightRecorder::new(files)) } else { Box::new(files) }
    };
    let begun = out.begin(&mut recorder);
    let begun = begun.map(|missing| notes.extend(missing.iter().map(ToString::to_string)));
    if !options.quiet {
        notes.iter().for_each(note);
    }
    if let Err(failure) = begun {
        out.discard();
        return match failure {
            Failure::Write(error) => Ok(report_unwritten(options, &error)),
            failure => Err(failure),
        };
    }

    let waiting = Waiting::begin(&system, &tids);
    let mut session = Session::new(recorder, filters, &mut *out, plan.controlled());
    let status = session.run(options, channel);
    let waiting = if has_states { waiting.describe_recorded() } else { waiting.describe("recorded") };
    let (ledger, lost) = session.close();
    let of_cpus = if options.target.is_on_cpus() { OfCpus::All } else { OfCpus::Wakeups };
    let (written, ledger) = (out.written(), &ledger);
    let report = Report { written, ledger, lost, clause: plan.clause, of_cpus, waiting };
    match status {
        Ok(status) => {
            if !options.quiet {
                report.print();
            }
            out.print_outcome(options.quiet);
            let is_attributed = ledger.amount(LossKind::Unattributed) == 0;
            if !(out.is_written() && is_attributed) {
                return Ok(ExitCode::FAILURE);
            }
            Ok(status.map_or(ExitCode::SUCCESS, exit_code))
        }
        // A closed pipe is an error too, because the recording is not complete.
        Err(Failure::Write(error)) => {
            let code = report_unwritten(options, &error);
            report.print_unwritten();
            Ok(code)
        }
        Err(failure @ Failure::Set(EventSetError::Command { .. })) => {
            out.discard();
            Err(failure)
        }
        Err(failure) => {
            note(format_args!("{}: the recording is not complete", Output::name(options.output())));
            Err(failure)
        }
    }
}

/// Prints why the recording could not be written.
fn report_unwritten(options: &Options, error: &perf_file::Error) -> ExitCode {
    note(format_args!("{}: {error}", Output::name(options.output())));
    ExitCode::FAILURE
}
