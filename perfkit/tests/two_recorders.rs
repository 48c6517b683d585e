//! Two recorders of one software event on all CPUs. The kernel writes the id, and the time, of one
//! event into the samples of the other: kernel errata, "Id and time of another software event". A
//! separate test binary, because its recorders would disturb other tests.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use perf_decode::Record;
use perf_file::Reader;
use rustix::process::{Pid, Signal, kill_process};
use support::recording::{Folder, perfkit, record};

/// A recorder of all CPUs that runs.
struct Recorder {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Recorder {
    fn start(options: &[&str], file: &Path) -> Self {
        let mut command = perfkit();
        command.arg("record").args(options).arg("-a").arg("-o").arg(file);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut text = String::new();
        while !text.contains("recording all CPUs") {
            assert!(stderr.read_line(&mut text).unwrap() > 0, "{text}");
        }
        Self { child, stderr }
    }

    /// Ends the recording. Returns the exit code and what it printed.
    fn finish(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}

/// Samples and losses of the recordings by event. Fails for a record without an event.
fn counts(file: &Path) -> BTreeMap<String, (u64, u64)> {
    let bytes = fs::read(file).unwrap();
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_none() {
            continue;
        }
        let name = String::from_utf8_lossy(record.event().unwrap().1.name().unwrap()).into_owned();
        let count = counts.entry(name).or_default();
        match record.decode().unwrap() {
            Record::Sample(_) => count.0 += 1,
            Record::Lost(lost) => count.1 += lost.lost(),
            Record::LostSamples(lost) => count.1 += lost.lost(),
            _ => {}
        }
    }
    counts
}

/// Waits for the other tests: a third recorder would disturb the two of a test, too.
fn alone() -> MutexGuard<'static, ()> {
    static RECORDERS: Mutex<()> = Mutex::new(());
    RECORDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether all CPUs may be recorded.
fn is_permitted(folder: &Folder) -> bool {
    let file = folder.path("trial.data");
    record(&["-a", "-e", "page-faults", "-o", file.to_str().unwrap(), "--", "true"]).is_some()
}

/// Faults that nothing else causes: pages that a separate process touches.
const PAGES: u64 = 20_000;

/// Touches [`PAGES`] new pages.
#[test]
#[ignore = "the program that is recorded"]
fn workload() {
    let mut pages = vec![0_u8; PAGES as usize * 4096];
    pages.iter_mut().step_by(4096).for_each(|page| *page = 1);
    std::hint::black_box(pages);
    (0..200).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(100)));
}

fn run_workload() -> u32 {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program)
        .args(["--ignored", "--exact", "workload"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert!(child.wait().unwrap().success());
    child.id()
}

/// Returns the samples of a process by event.
fn samples_of(file: &Path, pid: u32) -> BTreeMap<String, u64> {
    let bytes = fs::read(file).unwrap();
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    let mut samples: BTreeMap<String, u64> = BTreeMap::new();
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_none() {
            continue;
        }
        let name = String::from_utf8_lossy(record.event().unwrap().1.name().unwrap()).into_owned();
        if let Record::Sample(sample) = record.decode().unwrap()
            && sample.pid() == Some(pid)
        {
            *samples.entry(name).or_default() += 1;
        }
    }
    samples
}

#[test]
fn two_recorders_of_a_software_event_have_all_samples() {
    let _alone = alone();
    let folder = Folder::new();
    if !is_permitted(&folder) {
        return;
    }
    let files = ["a.data", "b.data"].map(|name| folder.path(name));
    // Rings that are large enough to lose nothing.
    let options = ["-e", "page-faults", "-c", "1", "-m", "8192"];
    let recorders = files.each_ref().map(|file| Recorder::start(&options, file));
    let pid = run_workload();
    let ends = recorders.map(Recorder::finish);
    let found = files.each_ref().map(|file| samples_of(file, pid)["page-faults"]);
    for ((code, text), file) in ends.iter().zip(&files) {
        assert_eq!(*code, Some(0), "{text}");
        assert!(text.contains("none lost"), "{text}");
        let counts = counts(file);
        assert_eq!(counts.values().map(|(_, lost)| lost).sum::<u64>(), 0, "{counts:?}");
        let report = perfkit().args(["report", "--no-inline", "-i"]).arg(file).output().unwrap();
        assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    }
    // The same faults, except for faults of the process before the second recorder saw it.
    assert!(found[0] == found[1] && found[0] >= PAGES, "{found:?}");
}

#[test]
fn samples_of_several_software_events_are_counted_as_lost_where_their_event_is_unknown() {
    let _alone = alone();
    let folder = Folder::new();
    if !is_permitted(&folder) {
        return;
    }
    let files = ["a.data", "b.data"].map(|name| folder.path(name));
    let options = ["-e", "page-faults,minor-faults", "-c", "1", "-m", "8192"];
    let recorders = files.each_ref().map(|file| Recorder::start(&options, file));
    run_workload();
    let ends = recorders.map(Recorder::finish);
    let mut lost = 0;
    for ((code, text), file) in ends.iter().zip(&files) {
        let counts = counts(file);
        let unknown: u64 = counts.values().map(|(_, lost)| lost).sum();
        lost += unknown;
        assert_eq!(*code, Some(i32::from(unknown > 0)), "{text}");
        assert_eq!(unknown > 0, text.contains("another program's event"), "{text}");
        // Each fault is a sample of both, or lost.
        let samples: u64 = counts.values().map(|(samples, _)| samples).sum();
        assert!(samples + unknown >= 2 * PAGES, "{counts:?}");
        let report = perfkit().args(["report", "--no-inline", "-i"]).arg(file).output().unwrap();
        assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
        let report = String::from_utf8_lossy(&report.stdout).into_owned();
        // The report may lack names of other programs only.
        let lost = |line: &str| line.contains(" lost") && !line.contains("nothing was lost");
        assert_eq!(unknown > 0, report.lines().any(lost), "{report}");
    }
    println!("{lost} samples have the id of the other recorder");
}

/// Returns the time off the CPU of a program, in ns.
fn off_cpu(file: &Path, name: &str) -> u64 {
    let mut sum = 0;
    for event in ["offcpu-time", "runqueue-time"] {
        let mut export = perfkit();
        export.args([
            "export",
            "-f",
            "folded",
            "--no-inline",
            "--off-cpu",
            "--comm",
            name,
            "-e",
            event,
            "-i",
        ]);
        let output = export.arg(file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        sum += text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum::<u64>();
    }
    sum
}

#[test]
fn waits_are_complete_beside_another_recorder_with_another_clock() {
    let _alone = alone();
    let folder = Folder::new();
    if !is_permitted(&folder) {
        return;
    }
    match Command::new("perf").arg("version").output() {
        Ok(version) if version.status.success() => {}
        other => return eprintln!("skipped: no perf tool: {other:?}"),
    }
    let (file, foreign) = (folder.path("waits.data"), folder.path("foreign.data"));
    let recorder = Recorder::start(&["--off-cpu", "-e", "dummy", "-m", "4096"], &file);
    // The kernel serves this recorder first, because it is opened last. Its times use the kernel's
    // default clock, with the id of the event or, for a single event, without an id.
    for events in ["context-switches,sched:sched_switch", "context-switches"] {
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-N", "-B", "-c", "1", "-a", "-e", events, "-o"]).arg(&foreign);
        let output = perf.args(["--", "sleep", "0.3"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let (code, text) = recorder.finish();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("none lost"), "{text}");
    // Each wait of `sleep` has its stack, also where the sample has another time.
    let slept = off_cpu(&file, "sleep");
    assert!(slept >= 590_000_000, "{slept}");
    let mut export = perfkit();
    export.args(["export", "-f", "folded", "--no-inline", "--off-cpu", "--comm", "sleep", "-i"]).arg(&file);
    let text = String::from_utf8(export.output().unwrap().stdout).unwrap();
    let in_sleep = text.lines().filter(|line| line.contains("nanosleep"));
    let in_sleep = in_sleep.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum::<u64>();
    assert!(in_sleep >= 590_000_000, "{in_sleep}: {text}");
}
