//! `perfkit record --off-cpu` on the running kernel: waits of known lengths, with their stacks and
//! wakers.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit, record, skip_if_refused};
use crate::support::running::is_met;

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
    lines(export.output().unwrap())
}

/// Returns the folded stacks of an output.
fn lines(output: Output) -> Vec<(String, u64)> {
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

/// Fails unless a time matches the program's own measurement, except for the time on a CPU between
/// the clock and the wait, which a busy machine extends.
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
fn wall_time_of_a_thread_has_each_wait_with_its_kind() {
    let folder = Folder::new();
    let file = folder.path("wall.data");
    let program = std::env::current_exe().unwrap();
    let mut arguments = vec!["--wall", "-F", "99", "--call-graph", "dwarf,16384", "-o"];
    arguments.extend([file.to_str().unwrap(), "--", program.to_str().unwrap()]);
    arguments.extend(WORKLOAD);
    arguments.push("--nocapture");
    let Some(output) = record(&arguments) else { return };
    assert!(output.status.success(), "{output:?}");
    let results = results(&output.stdout);
    assert_eq!(results.len(), 3, "{output:?}");
    let mut export = perfkit();
    let output = export.args(["export", "-f", "folded", "--no-inline", "--wall", "-i"]).arg(&file).output();
    let stacks = lines(output.unwrap());
    for (name, kind) in [("wait_for_sleep", "sleep"), ("wait_for_lock", "futex"), ("wait_for_pipe", "pipe")] {
        let own: Vec<_> = stacks.iter().filter(|(stack, _)| stack.contains(name)).cloned().collect();
        let waits = own.iter().filter(|(stack, _)| stack.ends_with(&format!(";[wait: {kind}]")));
        let waited: u64 = waits.map(|(_, ns)| ns).sum();
        let ready: u64 = own.iter().filter(|(stack, _)| stack.ends_with(";[ready]")).map(|(_, ns)| ns).sum();
        assert_is_about(waited + ready, results[name], name);
    }
}

#[test]
fn waits_on_all_cpus_are_those_of_switch_tracepoints_too() {
    let folder = Folder::new();
    let file = folder.path("all.data");
    for events in [&["-e", "dummy", "--off-cpu"][..], &["-e", "sched:sched_switch", "-g"]] {
        // CPU 0 cannot go offline. After another CPU was offline, Linux 6.18 has no hits of the
        // tracepoint in its idle thread, and so none for a `sleep` that wakes there.
        let command = ["-a", "-o", file.to_str().unwrap(), "--", "taskset", "-c", "0", "sleep", "0.2"];
        let start = Instant::now();
        let Some(output) = record(&[events, &command].concat()) else { return };
        assert!(output.status.success(), "{output:?}");
        let elapsed = start.elapsed();
        let stacks = folded(&file, &["--comm", "sleep"]);
        // Others that sleep all the time are there, too, with this frame.
        let own = stacks.iter().filter(|(stack, _)| !stack.ends_with(";[wait: sleep]"));
        let slept = own.filter(|(stack, _)| stack.contains("nanosleep")).map(|(_, ns)| ns).sum();
        assert_is_sleep(slept, elapsed);
    }
}

/// Sleeps of [`napper`].
const NAPS: u32 = 40;

/// Sleeps in a thread, which is named `early`, `napper` and `done` in turn, and prints how long it
/// waited for a CPU and how long it slept, in ns, the former by the kernel's own count. Waits for a
/// line first, and for a second line at the end.
#[test]
#[ignore = "the program that is recorded"]
fn nap() {
    let run_delay = || {
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        let values: Vec<u64> = text.split_whitespace().map(|value| value.parse().unwrap()).collect();
        (values[0], values[1])
    };
    let line = || std::io::stdin().read_line(&mut String::new()).unwrap();
    let naps = move || {
        line();
        // The wait for a CPU after the line, which takes long on a busy machine, is not of the
        // naps.
        fs::write("/proc/thread-self/comm", "napper").unwrap();
        let (start, before) = (Instant::now(), run_delay());
        (0..NAPS).for_each(|_| thread::sleep(Duration::from_millis(5)));
        let (all, after) = (start.elapsed().as_nanos() as u64, run_delay());
        let (ran, ready) = (after.0 - before.0, after.1 - before.1);
        // Nor is the wait until the recording has ended.
        fs::write("/proc/thread-self/comm", "done").unwrap();
        println!("\n{RESULT}ready {ready}\n{RESULT}asleep {}", all - ran - ready);
        line();
    };
    thread::Builder::new().name("early".into()).spawn(naps).unwrap().join().unwrap();
}

/// A process that keeps a CPU busy until it is dropped.
struct Burner(std::process::Child);

impl Burner {
    fn start() -> Self {
        let burn = "while kill -0 $PPID 2>/dev/null; do :; done";
        Self(Command::new("taskset").args(["-c", "0", "sh", "-c", burn]).spawn().unwrap())
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts [`nap`] on the busy CPU, with a low priority.
fn start_nap() -> std::process::Child {
    let mut nap = Command::new("taskset");
    nap.args(["-c", "0", "nice", "-n", "10"]).arg(std::env::current_exe().unwrap());
    nap.args(["--ignored", "--exact", "off_cpu::nap", "--nocapture", "--test-threads=1"]);
    nap.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Returns the id of a thread of a process, when it is there.
fn thread_named(pid: u32, name: &str) -> u32 {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap() {
            let task = task.unwrap();
            if fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name) {
                return task.file_name().to_str().unwrap().parse().unwrap();
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("no thread {name} of {pid}");
}

/// Fails unless the times off the CPU of `napper` match the times that it printed.
fn assert_is_split(file: &Path, results: &HashMap<String, u64>, mode: &str) {
    let mut report = perfkit();
    report.args(["report", "--json", "--no-inline", "--off-cpu", "--comm", "napper", "-i"]).arg(file);
    let output = report.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{mode}: {errors}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let events = report["events"].as_array().unwrap();
    let value = |name: &str| {
        events.iter().find(|event| event["name"] == name).map(|event| event["value"].as_u64().unwrap())
    };
    let (blocked, ready) = (value("offcpu-time"), value("runqueue-time"));
    // A kernel may leave out hits in some threads. Each such wait is reported, and is as long as
    // one for a CPU.
    let unknown = report["losses"]["waits_without_wakeup"].as_u64().unwrap();
    assert!(unknown <= u64::from(NAPS / 10), "{mode}: {unknown} waits have no wakeup: {errors}");
    let [asleep, expected] = ["asleep", "ready"].map(|name| results[name]);
    let most = |expected: u64| expected / 20 + 5_000_000 + unknown * 30_000_000;
    for (found, expected) in [(blocked, asleep), (ready, expected)] {
        let found = found.unwrap();
        assert!(
            found.abs_diff(expected) <= most(expected),
            "{mode}: {found} ns, expected {expected} ns: {errors}"
        );
    }
}

#[test]
fn time_on_the_run_queue_is_that_of_the_kernel_in_each_mode() {
    let folder = Folder::new();
    let file = folder.path("naps.data");
    let trial = ["--off-cpu", "--wakers", "-a", "-e", "dummy", "-o", file.to_str().unwrap(), "--", "true"];
    if record(&trial).is_none() {
        return;
    }
    let _burners = [Burner::start(), Burner::start()];
    for mode in ["-p", "-t", "-a", "--wakers -a", "--wakers -p", "command", "--wakers command"] {
        let mut command = perfkit();
        command.args(["record", "--off-cpu", "-e", "dummy", "-g", "-o"]).arg(&file);
        if mode.contains("--wakers") {
            command.arg("--wakers");
        }
        let output = if mode.ends_with("command") {
            let nap = ["taskset", "-c", "0", "nice", "-n", "10", "sh", "-c"];
            let program = std::env::current_exe().unwrap();
            let test = "--ignored --exact off_cpu::nap --nocapture --test-threads=1";
            let script = format!("(echo; echo) | {} {test}", program.display());
            let recorded = command.arg("--").args(nap).arg(script).output().unwrap();
            assert!(recorded.status.success(), "{recorded:?}");
            recorded.stdout
        } else {
            let mut nap = start_nap();
            let thread = thread_named(nap.id(), "early");
            match mode.rsplit(' ').next().unwrap() {
                "-a" => command.arg("-a"),
                "-t" => command.args(["-t", &thread.to_string()]),
                _ => command.args(["-p", &nap.id().to_string()]),
            };
            let mut recorder = command.stderr(Stdio::piped()).spawn().unwrap();
            let mut errors = BufReader::new(recorder.stderr.take().unwrap());
            let mut text = String::new();
            while !text.contains("recording ") {
                assert!(errors.read_line(&mut text).unwrap() > 0, "{mode}: {text}");
            }
            let mut stdin = nap.stdin.take().unwrap();
            stdin.write_all(b"\n").unwrap();
            let mut stdout = BufReader::new(nap.stdout.take().unwrap());
            let mut printed = String::new();
            while !printed.contains("asleep") {
                assert!(stdout.read_line(&mut printed).unwrap() > 0, "{mode}: {printed}");
            }
            kill_process(Pid::from_child(&recorder), Signal::INT).unwrap();
            errors.read_to_string(&mut text).unwrap();
            assert!(recorder.wait().unwrap().success(), "{mode}: {text}");
            drop(stdin);
            nap.wait().unwrap();
            printed.into_bytes()
        };
        assert_is_split(&file, &results(&output), mode);
    }
}

#[test]
fn recording_of_a_command_has_no_names_of_others() {
    let folder = Folder::new();
    let file = folder.path("names.data");
    // A thread that is woken all the time, and starts processes that are woken all the time.
    let (stop, stopped) = mpsc::channel::<()>();
    let foreign = thread::Builder::new().name("pk-foreign".into());
    let foreign = foreign.spawn(move || {
        while let Err(mpsc::RecvTimeoutError::Timeout) = stopped.recv_timeout(Duration::from_millis(1)) {
            assert!(Command::new("pk-no-such-program").spawn().is_err());
        }
    });
    let arguments = ["--off-cpu", "-e", "dummy", "-o", file.to_str().unwrap(), "--", "sh", "-c"];
    let naps = "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.02; done";
    let recorded = record(&[&arguments[..], &[naps]].concat());
    drop(stop);
    foreign.unwrap().join().unwrap();
    if recorded.is_none() {
        return;
    }
    let bytes = fs::read(&file).unwrap();
    assert!(!bytes.windows(10).any(|window| window == b"pk-foreign"), "its wakeups are in the recording");
    let sleeps = bytes.windows(6).filter(|window| window == b"sleep\0").count();
    assert!(sleeps >= 9, "the names and the wakeups of the recorded ones are there: {sleeps}");
}

#[test]
fn new_tasks_wait_for_a_cpu_until_they_run() {
    let folder = Folder::new();
    let file = folder.path("forks.data");
    let _burners = [Burner::start(), Burner::start()];
    let forks = "i=0; while [ $i -lt 30 ]; do (:); i=$((i+1)); done";
    let arguments = ["--off-cpu", "-e", "dummy", "-o", file.to_str().unwrap(), "--"];
    let command = ["taskset", "-c", "0", "nice", "-n", "10", "sh", "-c", forks];
    let Some(output) = record(&[&arguments[..], &command].concat()) else { return };
    assert!(output.status.success(), "{output:?}");
    let mut export = perfkit();
    export
        .args(["export", "-f", "folded", "--no-inline", "--off-cpu", "-e", "runqueue-time", "-i"])
        .arg(&file);
    let export = export.output().unwrap();
    if !export.status.success() {
        // Without tracepoints, only the time of preempted threads is known.
        let errors = String::from_utf8_lossy(&export.stderr).into_owned();
        assert!(errors.contains("preempted-time"), "{errors}");
        return eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(export.stdout).unwrap();
    let new = text.lines().filter(|line| line.contains(";[new thread] "));
    let ns: u64 = new.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert!(ns > 0, "{text}");
}

#[test]
fn recordings_of_switch_tracepoints_by_the_perf_tool_are_complete_or_say_what_they_need() {
    match Command::new("perf").arg("version").output() {
        Ok(version) if version.status.success() => {}
        other => return eprintln!("skipped: no perf tool: {other:?}"),
    }
    let folder = Folder::new();
    let file = folder.path("perf.data");
    for (options, is_complete) in [(&[][..], false), (&["--switch-events"][..], true)] {
        let mut perf = Command::new("perf");
        perf.args(["record", "-q", "-N", "-B", "-e", "sched:sched_switch", "-g"])
            .args(options)
            .arg("-o")
            .arg(&file);
        let recorded = perf.args(["--", "sleep", "0.2"]).env("HOME", folder.path("")).output().unwrap();
        if !recorded.status.success() {
            return eprintln!("skipped: perf cannot record: {}", String::from_utf8_lossy(&recorded.stderr));
        }
        let report =
            perfkit().args(["report", "--no-inline", "--off-cpu", "-i"]).arg(&file).output().unwrap();
        let errors = String::from_utf8_lossy(&report.stderr).into_owned();
        assert_eq!(report.status.success(), is_complete, "{errors}");
        if is_complete {
            let slept = folded(&file, &["--comm", "sleep"]).iter().map(|(_, value)| value).sum::<u64>();
            assert!(slept >= 199_000_000, "{slept}");
            // The time of the wakeup is unknown.
            assert!(errors.contains("the recording has no wakeups"), "{errors}");
            let report = String::from_utf8(report.stdout).unwrap();
            assert!(report.contains("preempted-time") && !report.contains("runqueue-time"), "{report}");
        } else {
            assert!(errors.contains("-a or --switch-events") && !errors.contains("has none"), "{errors}");
        }
    }
}

#[test]
fn user_without_privileges_records_the_waits_of_a_command() {
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    let level: i32 = level.trim().parse().unwrap();
    if !rustix::process::geteuid().is_root() || level > 2 {
        return eprintln!("skipped: needs root, to become nobody, and perf_event_paranoid of at most 2");
    }
    let mut command = perfkit();
    command
        .args(["record", "--off-cpu", "-e", "dummy", "-o", "-", "--", "sleep", "0.2"])
        .uid(65534)
        .gid(65534);
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
    // The waits are there, with or without stacks, and the reports say which.
    assert!(errors.contains("switches of threads") && !errors.contains("nothing was sampled"), "{errors}");
    assert!(errors.contains("offcpu-time includes waits for a CPU"), "{errors}");
    let report = perfkit().args(["report", "--no-inline", "--off-cpu", "-i"]).arg(&file).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert_eq!(level > 1, report.contains("no stack: no sample was recorded"), "{report}");
    assert!(level <= 1 || !report.contains("all addresses have names"), "{report}");
    assert!(report.contains("preempted-time") && !report.contains("runqueue-time"), "{report}");
}

#[test]
fn process_that_waits_all_the_time_is_named_with_its_system_call() {
    let mut sleep = Command::new("sleep").arg("100000").spawn().unwrap();
    let (pid, folder) = (sleep.id().to_string(), Folder::new());
    let place = || fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap();
    assert!(is_met(|| place().contains("nanosleep")), "{}", place());
    let (file, plain) = (folder.path("hangs.data"), folder.path("plain.data"));
    let (file, plain) = (file.to_str().unwrap(), plain.to_str().unwrap());
    let line = format!("{pid} sleep: clock_nanosleep, 100000 s");
    for (consequence, words) in [
        ("", &["record", "-e", "dummy", "--off-cpu", "-o", file, "-p"][..]),
        (", so that nothing of it is recorded", &["record", "-e", "cpu-clock", "-o", plain, "-p"]),
        (", so that nothing of it is traced", &["trace", "-p"]),
    ] {
        let output = perfkit().args(words).args([&pid, "--", "true"]).output().unwrap();
        if !output.status.success() {
            skip_if_refused(&output);
            break;
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let expected = format!("1 thread waited all the time{consequence}: {line}");
        assert!(errors.contains(&expected), "{errors}");
        assert!(!errors.contains("nothing was sampled"), "{errors}");
    }
    // The recording has the wait, and so has each view of it.
    for view in ["--off-cpu", "--wall"] {
        if !fs::exists(file).unwrap() {
            break;
        }
        let folded =
            perfkit().args(["export", "-f", "folded", view, "-i", file, "-o", "-"]).output().unwrap();
        let (text, errors) =
            (String::from_utf8(folded.stdout).unwrap(), String::from_utf8_lossy(&folded.stderr));
        let (stack, ns) =
            text.trim_end().rsplit_once(' ').unwrap_or_else(|| panic!("{view}: {text}{errors}"));
        assert!(
            stack.starts_with("sleep;clock_nanosleep, 100000 s;") && stack.ends_with(";[wait: sleep]"),
            "{stack}"
        );
        assert!(ns.parse::<u64>().unwrap() > 0, "{text}");
        assert!(errors.contains(&format!("waited all the time: {line}")), "{errors}");
    }
    let _ = sleep.kill();
    let _ = sleep.wait();
}

#[test]
fn wait_of_a_command_that_hangs_lasts_until_the_recording_ends() {
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
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
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

/// Switches as often as it can, and prints the longest time between two readings of the clock, in
/// ns. A thread runs at each reading, so no wait is longer. The first reading is before the thread
/// starts, and the last after it has exited.
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
    // The name of a thread may be lost, too.
    assert!((1..=4).contains(&pings.len()), "{errors}");
    let waits = events.iter().filter(|event| event["ph"] == "X" && pings.contains(&&event["tid"]));
    let ns: Vec<f64> = waits.map(|wait| wait["dur"].as_f64().unwrap() * 1000.0).collect();
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    let too_long = ns.iter().filter(|ns| **ns > longest as f64).count();
    assert_eq!(too_long, 0, "of {} waits, the longest {longest} ns: {errors}", ns.len());
    // The recorder reports losses, and the reader the waits that it left out.
    if String::from_utf8_lossy(&output.stderr).contains("records lost") {
        assert!(errors.contains(" lost") && errors.contains("left out"), "{errors}");
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
