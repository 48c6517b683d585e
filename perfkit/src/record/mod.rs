//! `perfkit record`: samples of events in a `perf.data` file.

use std::io;
use std::process::ExitCode;

use perf_events::{LossLedger, SetError, System, sys};
use perf_file::synthesize::{Host, Synthesizer};
use perf_file::writer::{Features, Inventory, RecordedEvent, WriteError, Writer};

mod features;
mod losses;
mod options;
mod output;
mod plan;
mod programs;
mod session;

pub(crate) use options::Options;

use crate::command::{exit_code, report_failure};
use features::{Described, add_results};
use output::Output;
use plan::Plan;
use session::{Recorded, Session};

/// The reason why a recording could not be made or continued.
#[derive(Debug)]
enum Failure {
    Set(SetError),
    Write(WriteError),
    Other(io::Error),
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Self {
        Self::Set(error)
    }
}

impl From<sys::Error> for Failure {
    fn from(error: sys::Error) -> Self {
        Self::Set(error.into())
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
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
    match record(options) {
        Ok(code) => return Ok(code),
        Err(Failure::Set(error)) => return Ok(report_failure(&error)),
        // Also for a closed pipe, because the recording is not complete.
        Err(Failure::Write(error)) => note(&format!("{}: {error}", Output::name(&options.output))),
        Err(Failure::Other(error)) => return Err(error),
    }
    Ok(ExitCode::FAILURE)
}

fn note(text: &str) {
    eprintln!("perfkit: {text}");
}

fn record(options: &Options) -> Result<ExitCode, Failure> {
    let mut plan = Plan::new(options, &System::new())?;
    let set = plan.open()?;
    let described = Described::new(&set, &plan.group_names())?;
    let host = Host::new();
    let mut notes = std::mem::take(&mut plan.notes);
    let mut features = described.features(&host, &mut notes);
    let names: Vec<&str> = described.events.iter().map(|event| event.name.as_str()).collect();
    let opened: usize = described.events.iter().map(|event| event.ids.len()).sum();
    note(&format!("recording {} ({opened} events opened) to {}", names.join(", "), options.output.display()));

    let first =
        described.events.first().cloned().unwrap_or_else(|| RecordedEvent::new(sys::Attr::default(), ""));
    let output = Output::create(&options.output)?;
    let mut writer = output.start(&described.events, &features, options.compress)?;
    let mut synthesizer = Synthesizer::new(host, &first.attr);
    synthesize(&mut synthesizer, options, &mut notes)?;
    writer.write_plain(synthesizer.records().as_bytes())?;
    synthesizer.clear_records();
    writer.finish_init()?;
    writer.flush()?;
    for text in &notes {
        note(text);
    }

    let mut session = Session::new(set, described, writer, &first.attr);
    let status = session.run(options)?;
    let Recorded { described, inventory, ledger, writer } = session.finish()?;
    add_results(&mut features, &described, &inventory, &mut synthesizer);
    finish(writer, &features)?;
    report(&inventory, &ledger);
    Ok(status.map_or(ExitCode::SUCCESS, exit_code))
}

/// Adds the records of what is there before the recording.
fn synthesize(synthesizer: &mut Synthesizer, options: &Options, notes: &mut Vec<String>) -> io::Result<()> {
    if let Err(error) = synthesizer.kernel() {
        notes.push(error.to_string());
    }
    match programs::loaded() {
        Ok(programs) => synthesizer.bpf_programs(programs),
        Err(error) => notes.push(format!("the file does not name the BPF programs: {error}")),
    }
    if options.all_cgroups {
        if let Err(error) = synthesizer.cgroups() {
            notes.push(format!("the file does not name the cgroups: {error}"));
        }
    }
    if options.is_on_cpus() {
        synthesizer.processes()?;
    } else if let Some(pid) = options.pid {
        synthesizer.process(pid);
    }
    Ok(())
}

fn finish(writer: Writer<std::fs::File>, features: &Features) -> Result<(), WriteError> {
    writer.finish(features).map(drop)
}

fn report(inventory: &Inventory, ledger: &LossLedger) {
    let (samples, others) = (inventory.samples(), inventory.side_band());
    note(&format!("{samples} samples and {others} side-band records, {} bytes", inventory.bytes()));
    let dropped = ledger.dropped();
    if dropped > 0 {
        note(&format!("{dropped} records lost: a ring was full; record fewer samples per second"));
    }
    if inventory.damaged() > 0 {
        note(&format!("{} bytes of the rings are no records", inventory.damaged()));
    }
    match ledger.nothing_lost() {
        Ok(()) if inventory.damaged() == 0 => note("nothing was lost"),
        Ok(()) => {}
        Err(losses) => losses.to_string().lines().for_each(note),
    }
}
