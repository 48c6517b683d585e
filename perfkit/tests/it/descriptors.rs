//! The limit of descriptors of the commands that open events.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;

use crate::support::recording::{Folder, perfkit, skip_if_refused};

/// Less than an event of all threads takes, and enough for the program itself.
const SOFT: u64 = 64;
const THREADS: usize = 96;

/// Runs the program with a soft limit below the hard one.
fn limited(arguments: &[&str]) -> Command {
    let program = perfkit();
    let mut command = Command::new("sh");
    let script = format!("ulimit -Sn {SOFT} && exec \"$0\" \"$@\"");
    command.arg("-c").arg(script).arg(program.get_program()).args(arguments);
    command.env("HOME", "/nonexistent");
    command
}

fn run(arguments: &[&str]) -> Output {
    limited(arguments).output().unwrap()
}

#[test]
fn events_take_as_many_descriptors_as_the_hard_limit_permits_and_commands_have_the_soft_one() {
    let one = perfkit().args(["stat", "-e", "task-clock", "true"]).output().unwrap();
    if !one.status.success() {
        return skip_if_refused(&one);
    }
    let end = Arc::new(Barrier::new(THREADS + 1));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let end = end.clone();
            thread::spawn(move || end.wait())
        })
        .collect();
    let (folder, pid) = (Folder::new(), std::process::id().to_string());
    let file = folder.path("a.data");
    let file = file.to_str().unwrap();
    let soft = ["-p", &pid, "--", "sh", "-c", "ulimit -Sn"];
    let record = run(&[&["record", "-e", "task-clock", "-o", file], &soft[..]].concat());
    let stat = run(&[&["stat", "-e", "task-clock,page-faults"], &soft[..]].concat());
    let trace = run(&[&["trace", "-e", "sched:sched_switch"], &soft[..]].concat());
    let mut top = limited(&["top", "-e", "task-clock", "-d", "0.2", "-p", &pid]);
    let mut top = top.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let table = BufReader::new(top.stdout.take().unwrap()).lines().next();
    let _ = top.kill();
    let top = top.wait_with_output().unwrap();
    // A command without other tasks has this limit too.
    let alone = run(&["stat", "-e", "task-clock", "sh", "-c", "ulimit -Sn"]);
    end.wait();
    for thread in threads {
        thread.join().unwrap();
    }
    let soft = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success() && text.lines().any(|line| line == SOFT.to_string())
    };
    for output in [&record, &stat, &alone] {
        assert!(soft(output), "{output:?}");
    }
    assert!(matches!(table, Some(Ok(_))), "{top:?}");
    if String::from_utf8_lossy(&trace.stderr).contains("tracefs") {
        return skip_if_refused(&trace);
    }
    assert!(soft(&trace), "{trace:?}");
}
