//! Records a command into `perf.data`, which perfkit and the perf tool read, and prints
//! what was lost.
//!
//! Usage: `record_command COMMAND [ARGUMENT...]`.

use std::fs::File;
use std::process::Command;
use std::time::Duration;

use perf_record::session::ring::decode::LostCounts;
use perf_record::session::{EventSetOptions, EventSetTarget, System, parse};
use perf_record::{Recorder, Report, recorded};

/// Records `command` until it exits. Returns the number of samples, and what was lost.
pub(crate) fn record(file: File, command: &mut Command) -> Result<(u64, LostCounts), Report> {
    let system = System::new();
    let events = recorded(parse("cpu-clock", &system)?); // or `cycles`, `sched:sched_switch`, ...
    let options = EventSetOptions::new().groups(events).target(EventSetTarget::command());
    let set = options.allow_fallback().user_only_if_refused().ring_pages_within(4..=128).open()?;
    let mut recorder = Recorder::new(set, &system)?;
    let mut recording = recorder.begin_file(file)?;
    let mut child = recorder.spawn(command)?;
    while child.try_wait()?.is_none() {
        recorder.wait_and_drain(&mut recording, Duration::from_millis(100))?;
    }
    let recorded = recorder.finish(recording)?;
    let (losses, _) = recorder.close();
    println!("{losses}"); // each loss, or that nothing was lost
    Ok((recorded.inventory.samples, recorded.lost))
}

fn main() -> Result<(), Report> {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().ok_or("usage: record_command COMMAND [ARGUMENT...]")?;
    let (samples, lost) = record(File::create("perf.data")?, Command::new(program).args(words))?;
    println!("{samples} samples in perf.data, {lost}");
    Ok(())
}
