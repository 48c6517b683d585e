//! The process that is held until events are open.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

fn hold(command: &[&str]) -> Child {
    let mut held = Command::new(env!("CARGO_BIN_EXE_perfkit"));
    held.args(["hold-command", "--"]).args(command).stderr(Stdio::piped()).stdout(Stdio::piped());
    held.spawn().unwrap()
}

/// Waits until the process is stopped, and continues it.
fn release(child: &Child) {
    let stat = format!("/proc/{}/stat", child.id());
    // The state follows the name, which is in parentheses.
    while !fs::read_to_string(&stat).unwrap().contains(") T ") {
        thread::sleep(Duration::from_millis(1));
    }
    let kill = Command::new("kill").args(["-CONT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

#[test]
fn command_runs_when_it_is_continued_and_keeps_its_arguments_and_status() {
    let child = hold(&["sh", "-c", "echo \"$0 $1\"; exit 3", "-a", "--b"]);
    release(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "-a --b\n");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn missing_command_exits_with_127() {
    let child = hold(&["/no/such/command"]);
    release(&child);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.starts_with("perfkit: cannot execute `/no/such/command`: "), "{text}");
    assert_eq!(output.status.code(), Some(127));
}
