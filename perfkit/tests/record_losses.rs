//! Losses of `perfkit record`: for each event, the samples and the losses in the recording sum to
//! its count.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use perf_decode::Record;
use perf_file::Reader;
use rustix::process::{Pid, Signal, kill_process};
use support::recording::{Folder, perfkit, record, skip_if_refused};

/// The two calls of each round of [`CALLS`].
const EVENTS: [&str; 4] =
    ["-e", "syscalls:sys_enter_write", "-e", "syscalls:sys_enter_read,syscalls:sys_exit_read"];

/// Writes and reads of one byte, many more than fit into a ring while nobody reads it.
const CALLS: &str = "dd if=/dev/zero of=/dev/null bs=1 count=400000 status=none";

/// The records of one event in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    samples: u64,
    /// By `LOST` and `LOST_SAMPLES` records.
    lost: u64,
}

fn found(bytes: &[u8]) -> BTreeMap<usize, Found> {
    let mut found: BTreeMap<usize, Found> = BTreeMap::new();
    let mut reader = Reader::from_bytes(bytes).unwrap();
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_none() {
            continue;
        }
        let event = found.entry(record.event().unwrap().0).or_default();
        match record.decode().unwrap() {
            Record::Sample(_) => event.samples += 1,
            Record::Lost(lost) => event.lost += lost.lost(),
            Record::LostSamples(lost) => event.lost += lost.lost(),
            _ => {}
        }
    }
    found
}

/// Returns the counts of the events, by `perfkit stat`.
fn counts(command: &str) -> Vec<u64> {
    let mut stat = perfkit();
    let output = stat.arg("stat").args(EVENTS).args(["-j", "--", "sh", "-c", command]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let count = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_time = row["event"].as_str()?.ends_with("_time"); // of the command
        row["counter-value"].as_str().filter(|_| !is_time)?.split('.').next()?.parse::<u64>().ok()
    };
    let counts: Vec<u64> = errors.lines().filter_map(count).collect();
    assert_eq!(counts.len(), 3, "{errors}");
    counts
}

/// Fails unless the samples and losses of each event are its count, and some were lost.
#[track_caller]
fn assert_complete(bytes: &[u8], command: &str) {
    let (found, mut lost) = (found(bytes), 0);
    for (index, count) in (0..).zip(counts(command)) {
        let event = found[&index];
        assert_eq!(event.samples + event.lost, count, "event {index}: {event:?}");
        lost += event.lost;
    }
    assert!(lost > 0, "nothing was lost: {found:?}");
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Records `command`, and stops the recorder for two seconds when the command has started.
fn record_stopped(events: &[&str], options: &[&str], command: &str) -> Option<Output> {
    let mut recorder = perfkit();
    let command = format!("echo started; {command}");
    recorder.arg("record").args(events).args(options).args(["--", "sh", "-c", &command]);
    let mut child = recorder.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut started = [0; 8];
    if child.stdout.as_mut().unwrap().read_exact(&mut started).is_ok() {
        signal(&child, Signal::STOP);
        thread::sleep(Duration::from_secs(2));
        signal(&child, Signal::CONT);
    }
    let output = child.wait_with_output().unwrap();
    if !output.status.success() {
        skip_if_refused(&output);
        return None;
    }
    Some(output)
}

fn stopped_recorder_is_complete(options: &[&str], command: &str) {
    let folder = Folder::new();
    let file = folder.path("stopped.data");
    if record_stopped(&EVENTS, &[options, &["-o", file.to_str().unwrap()]].concat(), command).is_none() {
        return;
    }
    let bytes = std::fs::read(&file).unwrap();
    assert_complete(&bytes, &format!("echo started; {command}"));
    perf_tool_shows_the_losses(&folder, "stopped.data", &bytes);
}

/// Compares the losses that the perf tool reports with the losses in the file.
fn perf_tool_shows_the_losses(folder: &Folder, name: &str, bytes: &[u8]) {
    // Some distributions install a script, which fails if it has no tool for this kernel.
    match Command::new("perf").arg("version").output() {
        Ok(version) if version.status.success() => {}
        other => return eprintln!("skipped: no perf tool: {other:?}"),
    }
    let perf = |arguments: &[&str]| {
        let mut perf = Command::new("perf");
        perf.args(arguments).arg("-i").arg(folder.path(name));
        let output = perf.env("HOME", folder.path("")).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let lost: u64 = found(bytes).values().map(|event| event.lost).sum();
    let samples: u64 = found(bytes).values().map(|event| event.samples).sum();
    let script = perf(&["script", "-F", "event"]).lines().count() as u64;
    if script == 0 {
        // A tool without zstd.
        return eprintln!("skipped: perf reads no compressed records");
    }
    assert_eq!(script, samples);
    let report = perf(&["report", "--stdio"]);
    assert!(report.contains(&format!("Total Lost Samples: {lost}\n")), "{lost} lost: {report}");
}

#[test]
fn samples_and_losses_of_each_event_are_its_count_after_a_stop() {
    stopped_recorder_is_complete(&[], CALLS);
}

#[test]
fn samples_and_losses_of_each_event_are_its_count_in_compressed_records() {
    stopped_recorder_is_complete(&["-z"], CALLS);
}

#[test]
fn samples_and_losses_of_each_event_are_its_count_with_the_children() {
    stopped_recorder_is_complete(&[], &format!("({CALLS}) & ({CALLS}) & {CALLS}; wait"));
}

#[test]
fn samples_and_losses_of_each_event_are_its_count_in_a_slow_pipe() {
    let mut recorder = perfkit();
    recorder.arg("record").args(EVENTS).args(["-o", "-", "--", "sh", "-c", CALLS]);
    let mut child = recorder.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_secs(3));
    let mut bytes = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    if !output.status.success() {
        return skip_if_refused(&output);
    }
    assert_complete(&bytes, CALLS);
}

#[test]
fn samples_and_losses_of_all_cpus_are_the_count() {
    let folder = Folder::new();
    let file = folder.path("all.data");
    // Nothing else writes as many bytes at once.
    let events = ["-a", "-e", "syscalls:sys_enter_write", "--filter", "fd == 1 && count == 7919"];
    let calls = "dd if=/dev/zero of=/dev/null bs=7919 count=400000 status=none";
    let both = format!("{calls} & {calls}; wait");
    if record_stopped(&events, &["-o", file.to_str().unwrap()], &both).is_none() {
        return;
    }
    let found = found(&std::fs::read(&file).unwrap());
    let event = found[&0];
    assert!(event.lost > 0 && event.samples > 0, "{event:?}");
    assert_eq!(event.samples + event.lost, 800_000, "{event:?}");
}

#[test]
fn recording_without_losses_reports_none() {
    let folder = Folder::new();
    let file = folder.path("few.data");
    let few = "dd if=/dev/zero of=/dev/null bs=1 count=100 status=none";
    let arguments = ["-o", file.to_str().unwrap(), "--", "sh", "-c", few];
    if record(&[&EVENTS[..], &arguments].concat()).is_none() {
        return;
    }
    let found = found(&std::fs::read(&file).unwrap());
    for (index, count) in (0..).zip(counts(few)) {
        assert_eq!(found[&index], Found { samples: count, lost: 0 });
    }
}
