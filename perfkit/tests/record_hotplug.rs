//! CPU 1 goes offline and returns while `perfkit record` runs. A separate test binary with one
//! test, because it changes the machine.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};
use std::thread;
use std::time::Duration;

use perf_decode::Record;
use perf_file::Reader;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, gettid, sched_setaffinity};
use support::recording::{Folder, perfkit, record};

const ONLINE: &str = "/sys/devices/system/cpu/cpu1/online";

/// CPU 1, which is online again when this is dropped.
struct Plug;

impl Drop for Plug {
    fn drop(&mut self) {
        fs::write(ONLINE, "1").unwrap();
    }
}

/// A running recorder, and what it prints.
struct Recorder(Child, BufReader<ChildStderr>);

impl Recorder {
    fn start(target: &[&str], output: &str, stdout: Stdio) -> Self {
        let mut command = perfkit();
        command.arg("record").args(target).args([
            "-e",
            "task-clock,page-faults",
            "-c",
            "1000000",
            "-o",
            output,
        ]);
        let mut child = command.stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        Self(child, lines)
    }

    /// Waits for a line that contains this text.
    fn wait_for(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert_ne!(self.1.read_line(&mut line).unwrap(), 0, "exited without: {text}");
        }
    }

    /// Ends the recording, and returns the rest of its output.
    fn interrupt(mut self) -> String {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let rest = self.1.lines().map(Result::unwrap).collect::<Vec<_>>().join("\n");
        assert!(self.0.wait().unwrap().success(), "{rest}");
        rest
    }
}

/// Runs for some ms on CPU 1, in a new thread, and returns the thread's id.
fn run_there() -> u32 {
    let there = thread::spawn(|| {
        let mut cpus = CpuSet::new();
        cpus.set(1);
        sched_setaffinity(None, &cpus).unwrap();
        // Longer than the interval of samples, 1 ms.
        for number in 0..100_000_000_u64 {
            black_box(number);
        }
        gettid().as_raw_nonzero().get().unsigned_abs()
    });
    there.join().unwrap()
}

/// Returns the number of samples of a thread on CPU 1, and the longest time in seconds between two
/// samples of any thread there. Fails for a record whose event is not known.
fn samples(bytes: &[u8], thread: u32) -> (usize, f64) {
    let mut reader = Reader::from_bytes(bytes).unwrap();
    let (mut found, mut times) = (0, Vec::new());
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_none() {
            continue;
        }
        if let Record::Sample(sample) = record.decode().unwrap()
            && sample.cpu() == Some(1)
        {
            found += usize::from(sample.tid() == Some(thread));
            times.push(sample.time().unwrap());
        }
    }
    times.sort_unstable();
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    (found, Duration::from_nanos(longest).as_secs_f64())
}

/// Returns the time in seconds that a report gives for the gap of CPU 1.
fn gap(report: &str) -> f64 {
    let rest = report.split("CPU 1: not recorded for at most ").nth(1).unwrap_or_else(|| panic!("{report}"));
    let (number, rest) = rest.split_once(' ').unwrap();
    let factor = if rest.starts_with("ms,") { 1e-3 } else { 1.0 };
    number.parse::<f64>().unwrap() * factor
}

#[test]
fn events_of_a_cpu_that_returns_are_in_the_recording() {
    let folder = Folder::new();
    let [file, piped, one] = ["a.data", "b.data", "c.data"].map(|name| folder.path(name));
    let trial = ["-a", "-e", "task-clock", "-o", file.to_str().unwrap(), "--", "true"];
    if record(&trial).is_none() {
        return;
    }
    if fs::read_to_string(ONLINE).is_ok_and(|online| online.trim() != "1") || fs::metadata(ONLINE).is_err() {
        return eprintln!("skipped: there is no CPU 1, or it is offline");
    }
    let stdout = fs::File::create(&piped).unwrap();
    let mut recorders = [
        Recorder::start(&["-a"], file.to_str().unwrap(), Stdio::null()),
        Recorder::start(&["-a"], "-", stdout.into()),
        // All of its CPUs are offline meanwhile.
        Recorder::start(&["-C", "1"], one.to_str().unwrap(), Stdio::null()),
    ];
    for recorder in &mut recorders {
        recorder.wait_for("recording");
    }
    run_there();
    if let Err(error) = fs::write(ONLINE, "0") {
        for recorder in recorders {
            recorder.interrupt();
        }
        return eprintln!("skipped: CPU 1 cannot go offline: {error}");
    }
    let plug = Plug;
    for recorder in &mut recorders {
        recorder.wait_for("CPU 1 is offline");
    }
    drop(plug);
    for recorder in &mut recorders {
        recorder.wait_for("CPU 1: online, events opened");
    }
    let thread = run_there();
    let reports = recorders.map(Recorder::interrupt);
    for (path, report) in [file, piped, one].iter().zip(reports) {
        let (found, longest) = samples(&fs::read(path).unwrap(), thread);
        assert!(found > 0, "{report}");
        // The tolerance is the rounding of the report.
        assert!(gap(&report) <= longest + 0.01, "{longest} s: {report}");
    }
}
