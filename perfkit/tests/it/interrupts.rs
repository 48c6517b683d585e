//! The first signal ends each command, with the results until then.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::thread;

use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::recording::{Folder, perfkit, skip_if_refused};
use crate::support::running::{Burning, Running, is_met};

/// Runs a command until it printed a text, and sends it a signal. Returns the exit code, standard
/// output and standard error.
#[track_caller]
fn interrupted(command: &mut Command, text: &str, signal: Signal) -> Option<(Option<i32>, String, String)> {
    let mut running = Running::start(command);
    if !running.prints(text) {
        return None;
    }
    running.send(signal);
    let output = running.end();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((output.status.code(), text(&output.stdout), text(&output.stderr)))
}

#[test]
fn end_of_the_terminal_ends_a_measurement_with_its_results() {
    let (burning, folder) = (Burning::new(), Folder::new());
    let (pid, data) = (burning.pid(), folder.path("perf.data"));
    let mut record = perfkit();
    record.args(["record", "-e", "cpu-clock", "-p", &pid, "-o", data.to_str().unwrap()]);
    let Some((code, _, errors)) = interrupted(&mut record, "until its exit", Signal::HUP) else { return };
    assert!(code == Some(0) && errors.contains("perf.data"), "{code:?}: {errors}");
    let report = perfkit().args(["report", "-i", data.to_str().unwrap()]).output().unwrap();
    let errors = String::from_utf8_lossy(&report.stderr);
    assert!(report.status.success() && !errors.contains("not finished"), "{errors}");

    let mut trace = perfkit();
    trace.args(["trace", "-S", "-e", "sched:sched_switch", "-e", "write", "-a"]);
    if let Some((code, text, errors)) = interrupted(&mut trace, "sched_switch", Signal::HUP) {
        assert!(code == Some(0) && text.contains(" Summary of events:"), "{code:?} {errors}: {text}");
    }

    let mut stat = perfkit();
    stat.args(["stat", "-e", "cpu-clock", "-I", "100", "--summary", "-p", &pid]);
    let Some((code, text, errors)) = interrupted(&mut stat, "cpu-clock", Signal::HUP) else { return };
    assert!(code == Some(0) && text.contains("seconds elapsed"), "{code:?} {errors}: {text}");
}

#[test]
fn second_hang_up_does_not_end_it_at_once() {
    let folder = Folder::new();
    let data = folder.path("perf.data");
    // At SIGTERM, the command waits for a file.
    let script = "trap 'touch asked; while [ ! -e go ]; do sleep 0.05; done; exit 9' TERM; trap '' HUP
        touch ready; while true; do sleep 0.05; done";
    let mut command = perfkit();
    command.args(["record", "-q", "-e", "cpu-clock", "-o"]).arg(&data).args(["--", "sh", "-c", script]);
    let running = Running::start(command.current_dir(folder.path("")));
    if !is_met(|| folder.path("ready").exists() || data.exists()) || !data.exists() {
        return eprintln!("skipped: {:?}", running.end());
    }
    assert!(is_met(|| folder.path("ready").exists()));
    running.send(Signal::HUP);
    assert!(is_met(|| folder.path("asked").exists()));
    running.send(Signal::HUP);
    fs::write(folder.path("go"), "").unwrap();
    let output = running.end();
    assert_eq!(output.status.code(), Some(9), "{output:?}");
}

#[test]
fn hang_up_that_was_ignored_at_the_start_stays_so() {
    let (burning, folder) = (Burning::new(), Folder::new());
    let data = folder.path("perf.data");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_perfkit")]);
    command.args(["record", "--switch-output=signal", "-e", "cpu-clock", "-p", &burning.pid(), "-o"]);
    let mut running = Running::start(command.arg(&data));
    if !running.prints("until its exit") {
        return;
    }
    running.send(Signal::HUP);
    // It continues with the next file.
    running.send(Signal::USR2);
    assert!(running.prints(" in "));
    assert!(is_met(|| data.exists()));
    running.send(Signal::INT);
    let output = running.end();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.contains("2 files"), "{errors}");
}

#[test]
fn measurement_without_an_end_says_so() {
    let burning = Burning::new();
    let pid = burning.pid();
    for (arguments, note) in [
        (&["stat", "-e", "cpu-clock", "-p", &pid][..], "counting process PID until its exit or Ctrl-C"),
        (&["stat", "-e", "cpu-clock"], "counting all CPUs until Ctrl-C"),
        (&["stat", "-e", "cpu-clock", "-C", "0"], "counting CPU 0 until Ctrl-C"),
    ] {
        let note = note.replace("PID", &pid);
        let interrupted = interrupted(perfkit().args(arguments), &note, Signal::INT);
        let Some((code, text, errors)) = interrupted else { return };
        assert!(code == Some(0) && text.contains("cpu-clock"), "{errors}: {text}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}

/// A program that uses its CPU until it is dropped. It is stripped, and the file that it names for
/// its debug information is a FIFO that nobody writes to.
struct Unreadable {
    child: Child,
    _folder: Folder,
}

impl Unreadable {
    /// Returns `None`, and skips the test, without a compiler.
    fn new() -> Option<Self> {
        let folder = Folder::new();
        let path = |name| folder.path(name);
        fs::write(path("spin.c"), "int main(void) { for (volatile unsigned i = 0; ; i++); }").unwrap();
        // The name, padded, and a checksum.
        fs::write(path("link"), b"spin.debug\0\0\x12\x34\x56\x78").unwrap();
        let program = path("spin");
        let run = |words: &[&str]| {
            let command = Command::new(words[0]).args(&words[1..]).current_dir(path("")).status();
            command.is_ok_and(|status| status.success())
        };
        let link = "--add-section=.gnu_debuglink=link";
        if !run(&["cc", "-s", "-O1", "-o", "spin", "spin.c"]) || !run(&["objcopy", link, "spin"]) {
            eprintln!("skipped: no compiler");
            return None;
        }
        mkfifoat(CWD, path("spin.debug"), Mode::RUSR | Mode::WUSR).unwrap();
        let child = Command::new(program).spawn().unwrap();
        Some(Self { child, _folder: folder })
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Waits until it has used its CPU for some time more.
    fn burns(&self) {
        let ticks = || -> u64 {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
            stat.split(' ').nth(13).unwrap().parse().unwrap()
        };
        let start = ticks();
        assert!(is_met(|| ticks() > start + 40));
    }
}

impl Drop for Unreadable {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn tables_end_though_names_are_not_there() {
    let Some(spinning) = Unreadable::new() else { return };
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut top = perfkit();
        top.args(["top", "--stdio", "-e", "cpu-clock", "-d", "0.5", "-p", &spinning.pid()]);
        let Some((code, text, errors)) = interrupted(&mut top, "# perfkit top", signal) else { return };
        assert_eq!(code, Some(0), "{signal:?}: {errors}");
        assert!(text.lines().filter(|line| line.contains(" spin ")).count() > 0, "{text}");
    }
}

#[test]
fn profiles_are_written_though_names_are_not_there() {
    let Some(spinning) = Unreadable::new() else { return };
    let folder = Folder::new();
    let path = folder.path("").to_str().unwrap().to_owned();
    let mut record = perfkit();
    record.args(["record", "-e", "cpu-clock", "-F", "200", "-p", &spinning.pid()]);
    let mut record = Running::start(record.args(["--every", "100ms", "-f", "pprof", "-o", &path]));
    if !record.prints("until its exit") {
        return;
    }
    spinning.burns();
    record.send(Signal::TERM);
    let output = record.end();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let files = fs::read_dir(&path).unwrap().count();
    assert!(files > 0 && errors.contains(&format!(" samples in {files} profile")), "{files}: {errors}");
}

#[test]
fn collector_that_does_not_answer_does_not_hold_the_end_up() {
    let burning = Burning::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut record = perfkit();
    record.args(["record", "-e", "cpu-clock", "-F", "200", "-p", &burning.pid()]);
    let mut record = Running::start(record.args(["--every", "100ms", "--push", &url]));
    if !record.prints("until its exit") {
        return;
    }
    let (mut stream, _) = listener.accept().unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    // Reads all, and sends no response.
    let reading = thread::spawn(move || _ = stream.read_to_end(&mut Vec::new()));
    record.send(Signal::INT);
    let output = record.end();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("perfkit: 0 profiles sent to") && errors.contains(" lost: "), "{errors}");
    assert_eq!(output.status.code(), Some(1), "{errors}");
    reading.join().unwrap();
}

/// Returns whether a program has begun to look up names.
fn has_names_to_find(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.into_iter().any(|task| {
        fs::read_to_string(task.path().join("comm")).is_ok_and(|comm| comm.trim() == "perf-symbols")
    })
}

/// Sends a signal to a command that reads a recording, as soon as it looks up names, or has ended.
#[track_caller]
fn ends(arguments: &[&str], folder: &Path, signal: Signal) {
    let mut command = perfkit();
    let mut child = command.args(arguments).current_dir(folder).spawn().unwrap();
    let is_ready = is_met(|| child.try_wait().unwrap().is_some() || has_names_to_find(child.id()));
    // Fails if it has ended.
    let _ = kill_process(Pid::from_child(&child), signal);
    let has_ended = is_ready && is_met(|| child.try_wait().unwrap().is_some());
    if !has_ended {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    assert!(has_ended, "{arguments:?} continues");
    assert!(
        status.success() || status.signal() == Some(signal.as_raw()),
        "{arguments:?} after {signal:?}: {status}"
    );
}

#[test]
fn signal_ends_a_command_that_looks_for_names_and_leaves_no_part_of_a_file() {
    let Some(spinning) = Unreadable::new() else { return };
    let folder = Folder::new();
    let mut record = perfkit();
    record.args(["record", "-g", "-e", "cpu-clock", "-p", &spinning.pid()]);
    record.args(["-o", "perf.data", "sleep", "0.5"]);
    let output = record.current_dir(folder.path("")).output().unwrap();
    if !output.status.success() {
        return skip_if_refused(&output);
    }
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        for arguments in [
            &["report"][..],
            &["script"],
            &["export", "-f", "pprof", "-o", "a.pb.gz"],
            #[cfg(feature = "flamegraph")]
            &["flamegraph", "-o", "a.svg"],
            &["diff", "perf.data", "perf.data"],
        ] {
            ends(arguments, &folder.path(""), signal);
        }
    }
    let files = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let known = ["perf.data", "a.pb.gz", "a.svg"];
    let others: Vec<_> = files.filter(|name| !known.iter().any(|known| name == known)).collect();
    assert!(others.is_empty(), "{others:?}");
}
