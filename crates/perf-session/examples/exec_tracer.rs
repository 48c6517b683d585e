//! Prints each program that is executed on any CPU, with its arguments, at once.
//!
//! Usage: `exec_tracer [SECONDS]`, without end by default.

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use perf_session::ring::{Record, SampleType};
use perf_session::{EventSetOptions, System, Tracefs};

/// Traces until `end`, or without end. Calls `report` with the id and the arguments of each
/// process.
pub(crate) fn run(
    end: Option<Instant>,
    mut report: impl FnMut(u64, &str, &[String]),
) -> Result<(), Box<dyn Error>> {
    let exec = Tracefs::find(&System::new())?.tracepoint("sched", "sched_process_exec")?;
    let format = exec.format()?;
    let (pid, filename) = (format.integer("pid")?, format.text("filename")?);
    // Without `with_wakeup_events` the kernel wakes the reader when a ring is half full.
    let event = exec
        .event_spec()
        .map_attr(|attr| attr.with_period(1).with_sample_type(SampleType::RAW).with_wakeup_events(1));
    let mut set = EventSetOptions::new().event(event).ring_pages(16).open()?;
    // The arguments are read from the process, which may exit soon. So no record waits for earlier
    // ones of other CPUs.
    set.set_sort_delay(Duration::ZERO)?;
    set.enable()?;
    while end.is_none_or(|end| Instant::now() < end) {
        set.wait(end.map(|end| end.saturating_duration_since(Instant::now())))?;
        set.drain_sorted(|record| {
            let Ok(Record::Sample(sample)) = record.decode() else { return };
            let Some(raw) = sample.raw() else { return };
            let (Some(pid), Some(filename)) = (pid.read_u64(raw), filename.read(raw)) else { return };
            report(pid, &String::from_utf8_lossy(filename), &arguments(pid));
        })?;
        set.refresh()?; // CPUs may come and go
    }
    Ok(())
}

/// Returns the arguments of a process, none if it has exited.
fn arguments(pid: u64) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let arguments =
        line.split(|byte| *byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned());
    let mut arguments: Vec<String> = arguments.collect();
    arguments.pop(); // after the last NUL
    arguments
}

fn main() -> Result<(), perf_session::Report> {
    let seconds = std::env::args().nth(1).map(|text| text.parse()).transpose()?;
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    Ok(run(end, |pid, filename, arguments| println!("{pid:>8}  {filename}  {arguments:?}"))?)
}
