//! `perfkit record --off-cpu` on the running kernel: waits of known lengths, with their stacks and wakers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit, record, skip_if_refused};

/// Before each result of [`workload`] in its output.
const RESULT: &str = "waited-for ";

/// Waits in known ways, and prints how long each took by its own clock, in ns.
#[test]
#[ignore = "the program that is recorded"]
fn workload() {
    let print = |name: &str, time: Duration| println!("\n{RESULT}{name} {}", time.as_nanos());
    print("wait_for_sleep", wait_for_sleep());
    let lock = Mutex::new(());
    let (locked, is_locked) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| hold_lock(&lock, &locked));
        is_locked.recv().unwrap();
        print("wait_for_lock", wait_for_lock(&lock));
    });
    let (mut reader, writer) = std::io::pipe().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| write_to_pipe(writer));
        print("wait_for_pipe", wait_for_pipe(&mut reader));
    });
}

#[inline(never)]
fn wait_for_sleep() -> Duration {
    let start = Instant::now();
    thread::sleep(Duration::from_millis(150));
    start.elapsed()
}

#[inline(never)]
fn hold_lock(lock: &Mutex<()>, locked: &mpsc::Sender<()>) {
    let guard = lock.lock().unwrap();
    locked.send(()).unwrap();
    thread::sleep(Duration::from_millis(120));
    drop(guard);
}

#[inline(never)]
fn wait_for_lock(lock: &Mutex<()>) -> Duration {
    let start = Instant::now();
    drop(lock.lock().unwrap());
    start.elapsed()
}

#[inline(never)]
fn write_to_pipe(mut writer: std::io::PipeWriter) {
    thread::sleep(Duration::from_millis(90));
    writer.write_all(b"x").unwrap();
}

#[inline(never)]
fn wait_for_pipe(reader: &mut std::io::PipeReader) -> Duration {
    let start = Instant::now();
    reader.read_exact(&mut [0]).unwrap();
    start.elapsed()
}

/// Waits for the other recorders of switches: samples of two of them have the id of one (kernel errata, "Id and time of
/// another software event").
fn alone() -> MutexGuard<'static, ()> {
    static RECORDER: Mutex<()> = Mutex::new(());
    RECORDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fails unless a time is at least the one of `sleep 0.2`, and shorter than the whole recording.
#[track_caller]
fn assert_is_sleep(found: u64, elapsed: Duration) {
    assert!(Duration::from_millis(199) < Duration::from_nanos(found), "{found} ns");
    assert!(Duration::from_nanos(found) < elapsed, "{found} ns of {elapsed:?}");
}

const WORKLOAD: [&str; 3] = ["--ignored", "--exact", "off_cpu::workload"];

/// Returns the results of the workload, in ns.
fn results(output: &[u8]) -> HashMap<String, u64> {
    let text = String::from_utf8_lossy(output);
    let result = |line: &str| {
        let (name, value) = line.strip_prefix(RESULT)?.split_once(' ')?;
        Some((name.to_owned(), value.parse().unwrap()))
    };
    text.lines().filter_map(result).collect()
}

/// Returns the folded stacks of an event of `--off-cpu`.
fn folded(file: &Path, options: &[&str]) -> Vec<(String, u64)> {
    let mut export = perfkit();
    export.args(["export", "-f", "folded", "--no-inline", "--off-cpu"]).args(options).arg("-i").arg(file);
    let output = export.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let line = |line: &str| {
        let (stack, value) = line.rsplit_once(' ').unwrap();
        (stack.to_owned(), value.parse().unwrap())
    };
    String::from_utf8(output.stdout).unwrap().lines().map(line).collect()
}

/// Returns the sum of the stacks with a frame whose name contains `name`.
fn sum(stacks: &[(String, u64)], name: &str) -> u64 {
    let has_name =
        |stack: &str| stack.split(';').take_while(|frame| *frame != "--").any(|f| f.contains(name));
    stacks.iter().filter(|(stack, _)| has_name(stack)).map(|(_, value)| value).sum()
}

/// Fails unless a time is the program's own one, but for the time on a CPU between the clock and the wait, which a busy
/// machine extends.
#[track_caller]
fn assert_is_about(found: u64, expected: u64, name: &str) {
    let more = expected / 20 + 5_000_000;
    assert!(
        found <= expected + more && expected <= found + more,
        "{name}: {found} ns, expected {expected} ns"
    );
}

#[test]
fn waits_have_the_length_the_stack_and_the_waker_that_the_program_knows() {
    let _alone = alone();
    let folder = Folder::new();
    let file = folder.path("waits.data");
    let program = std::env::current_exe().unwrap();
    let mut arguments = vec!["-e", "dummy", "--off-cpu", "--wakers", "--call-graph", "dwarf,16384", "-o"];
    arguments.extend([file.to_str().unwrap(), "--", program.to_str().unwrap()]);
    arguments.extend(WORKLOAD);
    arguments.push("--nocapture");
    let Some(output) = record(&arguments) else { return };
    assert!(output.status.success(), "{output:?}");
    let results = results(&output.stdout);
    assert_eq!(results.len(), 3, "{output:?}");
    let blocked = folded(&file, &["--wakers"]);
    let runnable = folded(&file, &["-e", "runqueue-time"]);
    for (name, expected) in &results {
        assert_is_about(sum(&blocked, name) + sum(&runnable, name), *expected, name);
    }
    for (waiter, waker) in [("wait_for_lock", "hold_lock"), ("wait_for_pipe", "write_to_pipe")] {
        let longest =
            blocked.iter().filter(|(stack, _)| stack.contains(waiter)).max_by_key(|(_, value)| value);
        let (stack, _) = longest.unwrap();
        let (before, after) = stack.split_once(";--;").unwrap();
        assert!(before.contains(waiter) && !before.contains(waker) && after.contains(waker), "{stack}");
    }
    // The same file, with the perf tool.
    if let Ok(version) = Command::new("perf").arg("version").output()
        && version.status.success()
    {
        let mut perf = Command::new("perf");
        perf.args(["script", "-F", "comm,event", "-i"]).arg(&file).env("HOME", folder.path(""));
        let script = perf.stdin(Stdio::null()).output().unwrap();
        assert!(script.status.success() && !script.stdout.is_empty(), "{script:?}");
    }
}

#[test]
fn waits_on_all_cpus_are_those_of_switch_tracepoints_too() {
    let _alone = alone();
    let folder = Folder::new();
    let file = folder.path("all.data");
    for events in [&["-e", "dummy", "--off-cpu"][..], &["-e", "sched:sched_switch", "-g"]] {
        // CPU 0 cannot go offline. After another one did, Linux 6.18 has no hits of the tracepoint in its idle thread, and
        // so not where `sleep` runs again.
        let command = ["-a", "-o", file.to_str().unwrap(), "--", "taskset", "-c", "0", "sleep", "0.2"];
        let start = Instant::now();
        let Some(output) = record(&[events, &command].concat()) else { return };
        assert!(output.status.success(), "{output:?}");
        let elapsed = start.elapsed();
        let stacks = folded(&file, &["--comm", "sleep"]);
        let slept = stacks.iter().filter(|(stack, _)| stack.contains("nanosleep")).map(|(_, ns)| ns).sum();
        assert_is_sleep(slept, elapsed);
    }
}

#[test]
fn user_without_privileges_records_the_waits_of_a_command() {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    let level: i32 = level.trim().parse().unwrap();
    if !rustix::process::geteuid().is_root() || level > 2 {
        return eprintln!("skipped: needs root, to become nobody, and perf_event_paranoid of at most 2");
    }
    let _alone = alone();
    let mut command = perfkit();
    command.args(["record", "--off-cpu", "-o", "-", "--", "sleep", "0.2"]).uid(65534).gid(65534);
    let start = Instant::now();
    let Ok(output) = command.output() else {
        return eprintln!("skipped: nobody cannot execute the program");
    };
    if !output.status.success() {
        return skip_if_refused(&output);
    }
    let elapsed = start.elapsed();
    let folder = Folder::new();
    let file = folder.path("nobody.data");
    fs::write(&file, &output.stdout).unwrap();
    let stacks = folded(&file, &["--comm", "sleep"]);
    let total = stacks.iter().map(|(_, value)| value).sum();
    assert_is_sleep(total, elapsed);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(level > 1, errors.contains("have no stacks"), "{errors}");
    assert_eq!(level <= 1, stacks.iter().any(|(stack, _)| stack.contains("nanosleep")), "{stacks:?}");
}

#[test]
fn wait_of_a_command_that_hangs_lasts_until_the_recording_ends() {
    let _alone = alone();
    let folder = Folder::new();
    let file = folder.path("hangs.data");
    let mut command = perfkit();
    command.args(["record", "-e", "dummy", "--off-cpu", "-o"]).arg(&file);
    command.args(["--", "sh", "-c", "echo ready; exec sleep 1000"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = [0; 6];
    let is_ready = child.stdout.as_mut().unwrap().read_exact(&mut line).is_ok();
    if is_ready {
        thread::sleep(Duration::from_millis(700));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    if !is_ready {
        return skip_if_refused(&output);
    }
    let stacks = folded(&file, &["--comm", "sleep"]);
    let slept: u64 = stacks.iter().filter(|(stack, _)| stack.contains("nanosleep")).map(|(_, ns)| ns).sum();
    // The rest is the time that `sleep` took to start.
    assert!(slept > 100_000_000, "{stacks:?}");
}

/// Switches as often as it can, and prints the longest time between two looks at the clock, in ns: a thread runs at each
/// look, so no wait is longer. The first look is before the thread starts, and the last one after it has ended.
#[test]
#[ignore = "the program that is recorded"]
fn ping_pong() {
    let turns = |mut last: Instant, mut reader: std::io::PipeReader, mut writer: std::io::PipeWriter| {
        let mut longest = Duration::ZERO;
        for _ in 0..5000 {
            writer.write_all(b"x").unwrap();
            reader.read_exact(&mut [0]).unwrap();
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
        (longest, last)
    };
    let mut threads = Vec::new();
    for _ in 0..2 {
        let ((one_reader, one_writer), (reader, writer)) =
            (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        for (reader, writer) in [(one_reader, writer), (reader, one_writer)] {
            let start = Instant::now();
            let thread = thread::Builder::new().name("ping".into());
            threads.push(thread.spawn(move || turns(start, reader, writer)).unwrap());
        }
    }
    let ended = threads.into_iter().map(|thread| thread.join().unwrap());
    let longest = ended.map(|(longest, last)| longest.max(last.elapsed())).max().unwrap();
    println!("\n{RESULT}longest {}", longest.as_nanos());
}

#[test]
fn wait_is_not_too_long_because_records_were_lost() {
    let _alone = alone();
    let folder = Folder::new();
    let file = folder.path("lost.data");
    let program = std::env::current_exe().unwrap();
    // Rings that are full most of the time.
    let arguments = ["-m", "1", "-e", "dummy", "--off-cpu", "-o", file.to_str().unwrap(), "--"];
    let workload = [program.to_str().unwrap(), "--ignored", "--exact", "off_cpu::ping_pong", "--nocapture"];
    let Some(output) = record(&[&arguments[..], &workload].concat()) else { return };
    assert!(output.status.success(), "{output:?}");
    let longest = results(&output.stdout)["longest"];
    let mut export = perfkit();
    let export = export.args(["export", "-f", "chrome", "--no-inline", "--off-cpu", "-i"]).arg(&file);
    let export = export.output().unwrap();
    let errors = String::from_utf8_lossy(&export.stderr).into_owned();
    let trace: serde_json::Value = serde_json::from_slice(&export.stdout).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let is_ping =
        |event: &&serde_json::Value| event["name"] == "thread_name" && event["args"]["name"] == "ping";
    let pings: Vec<_> = events.iter().filter(is_ping).map(|event| &event["tid"]).collect();
    assert_eq!(pings.len(), 4, "{errors}");
    let waits = events.iter().filter(|event| event["ph"] == "X" && pings.contains(&&event["tid"]));
    let ns: Vec<f64> = waits.map(|wait| wait["dur"].as_f64().unwrap() * 1000.0).collect();
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    let too_long = ns.iter().filter(|ns| **ns > longest as f64).count();
    assert_eq!(too_long, 0, "of {} waits, the longest {longest} ns: {errors}", ns.len());
    // The recorder says so, and the reader what it left out.
    if String::from_utf8_lossy(&output.stderr).contains("records lost") {
        assert!(errors.contains("were lost") && errors.contains("left out"), "{errors}");
    }
}

#[test]
fn recording_without_switches_or_wakeups_is_refused() {
    let folder = Folder::new();
    let file = folder.path("made.data");
    let mut made = Made::new();
    made.comm(7, b"sh");
    made.sample(7, 0x1000);
    made.write(&file);
    let report = |options: &[&str]| {
        let output = perfkit().arg("report").args(options).arg("-i").arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, errors) = report(&["--off-cpu"]);
    assert!(code == Some(1) && errors.contains("perfkit record --off-cpu"), "{errors}");
    let (code, errors) = report(&["--wakers"]);
    assert!(code == Some(2) && errors.contains("--off-cpu"), "{errors}");
}
