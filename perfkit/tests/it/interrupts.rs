//! The first signal: it ends each command, with the results until then.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::Command;

use rustix::process::Signal;

use crate::support::recording::{Folder, perfkit};
use crate::support::running::{Burning, Running, is_met};

/// Runs a command until it printed a text, and sends it a signal. Returns the exit code, standard output and standard error.
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
    // At the request to end, it waits for a file.
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
