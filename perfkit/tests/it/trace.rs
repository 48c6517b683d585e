//! `perfkit trace` of this machine's system calls and tracepoints.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::{CommandExt as _, parent_id};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::recording::{Folder, perfkit, skip_if_refused};

/// Traces a command, and returns the exit code and the lines as JSON. Skips the test if the kernel
/// permits no event.
fn trace(options: &[&str], command: &[&str]) -> Option<(Option<i32>, Vec<Value>)> {
    let folder = Folder::new();
    let file = folder.path("trace.json");
    let arguments = ["trace", "--json", "-o", file.to_str().unwrap()];
    let output = perfkit().args(arguments).args(options).arg("--").args(command).output().unwrap();
    let Ok(text) = fs::read_to_string(&file) else {
        skip_if_refused(&output);
        return None;
    };
    Some((output.status.code(), text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()))
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the lines of a type.
fn of<'v>(lines: &'v [Value], kind: &'v str) -> impl Iterator<Item = &'v Value> {
    lines.iter().filter(move |line| line["type"] == kind)
}

#[test]
fn calls_of_a_command_are_printed_with_arguments_and_results() {
    let Some((code, lines)) = trace(&[], &["sh", "-c", "cat </nonexistent; exit 7"]) else { return };
    assert_eq!(code, Some(7));
    let calls: Vec<_> = of(&lines, "syscall").collect();
    // The events begin in the `execve`.
    assert_eq!((&calls[0]["syscall"], &calls[0]["state"]), (&"execve".into(), &"resumed".into()));
    let failed = calls.iter().find(|call| call["syscall"] == "openat" && call["error"] == "ENOENT");
    let failed = failed.unwrap_or_else(|| panic!("{lines:?}"));
    assert_eq!((&failed["comm"], &failed["result"]), (&"sh".into(), &(-2).into()));
    assert!(failed["duration"].is_u64() && failed["args"]["flags"].is_number(), "{failed}");
    let last = calls.last().unwrap();
    assert_eq!(
        (&last["syscall"], &last["state"], &last["result"]),
        (&"exit_group".into(), &"exited".into(), &Value::Null)
    );
}

#[test]
fn fork_is_one_call_of_the_parent() {
    // Each subshell is a process.
    let forks = "i=0; while [ $i -lt 100 ]; do (exit 3); i=$((i+1)); done";
    let Some((_, lines)) = trace(&["-S"], &["sh", "-c", forks]) else { return };
    let makes_task =
        |line: &&Value| ["clone", "clone3", "fork", "vfork"].map(Value::from).contains(&line["syscall"]);
    let printed: Vec<_> = of(&lines, "syscall").filter(makes_task).collect();
    assert_eq!(printed.len(), 100, "{printed:?}");
    assert!(printed.iter().all(|call| call["duration"].is_u64() && call["result"].as_i64() > Some(0)));
    let rows: Vec<_> = of(&lines, "summary").filter(makes_task).collect();
    assert_eq!(rows.len(), 1, "only the shell makes processes: {rows:?}");
    assert_eq!((&rows[0]["calls"], &rows[0]["errors"]), (&100.into(), &0.into()));
    let durations: u64 = printed.iter().map(|call| call["duration"].as_u64().unwrap()).sum();
    assert_eq!(rows[0]["total"].as_u64(), Some(durations), "{rows:?}");
}

#[test]
fn only_the_calls_that_the_user_names_are_traced() {
    let Some((_, lines)) = trace(&["-e", "open*,exit_group"], &["true"]) else { return };
    let names = of(&lines, "syscall").map(|call| call["syscall"].as_str().unwrap());
    let (opens, others): (Vec<_>, Vec<_>) = names.partition(|name| name.starts_with("open"));
    assert!(!opens.is_empty());
    assert_eq!(others, ["exit_group"]);
    let Some((_, lines)) = trace(&["-e", "%file"], &["true"]) else { return };
    let calls: Vec<_> = of(&lines, "syscall").collect();
    assert!(calls.iter().all(|call| call["syscall"] != "mmap") && !calls.is_empty());
    let opened = calls.iter().find(|call| call["syscall"] == "openat").unwrap();
    assert_eq!(opened["texts"]["flags"], "O_RDONLY|O_CLOEXEC", "{opened}");
    let Some((_, lines)) = trace(&["-e", "!open*,!close"], &["true"]) else { return };
    let mut names = of(&lines, "syscall").map(|call| call["syscall"].as_str().unwrap());
    assert!(names.all(|name| !name.starts_with("open") && name != "close"));
}

#[test]
fn only_calls_that_fail_are_printed() {
    let Some((_, lines)) = trace(&["--failure"], &["cat", "/nonexistent"]) else { return };
    assert!(of(&lines, "syscall").count() > 0 && of(&lines, "syscall").all(|call| call["error"].is_string()));
}

#[test]
fn signals_and_exits_have_lines_between_the_calls() {
    let Some((_, lines)) = trace(&[], &["sh", "-c", "trap : USR1; kill -USR1 $$; (exit 4); exit 3"]) else {
        return;
    };
    let signals: Vec<_> = of(&lines, "signal").map(|line| (&line["signal"], &line["code"])).collect();
    assert!(signals.contains(&(&"SIGUSR1".into(), &0.into())), "{signals:?}");
    assert!(signals.contains(&(&"SIGCHLD".into(), &1.into())), "{signals:?}");
    let exits: Vec<_> = of(&lines, "exit").map(|line| &line["status"]).collect();
    assert_eq!(exits, [4, 3]);
}

#[test]
fn text_that_was_read_from_the_process_is_marked() {
    let arguments = ["trace", "-e", "openat", "-o", "-", "--", "sh", "-c", "read line"];
    let mut perfkit = perfkit();
    // cargo sets it for tests, and the loader looks there first.
    perfkit.env_remove("LD_LIBRARY_PATH");
    perfkit.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = perfkit.spawn().unwrap();
    // The shell waits for its input, so its memory can be read however slow the trace is.
    let input = running.stdin.take();
    let mut first = String::new();
    BufReader::new(running.stdout.take().unwrap()).read_line(&mut first).unwrap();
    drop(input);
    let output = running.wait_with_output().unwrap();
    if first.is_empty() {
        return skip_if_refused(&output);
    }
    // The loader's constant, which no process changes.
    assert!(first.contains("filename: ~\"/etc/ld.so.cache\""), "{first}");
}

#[test]
fn tracepoints_have_typed_fields_in_the_order_of_time() {
    let options = ["-e", "sched:sched_process_*", "-e", "sched:sched_switch", "--filter", "prev_pid != 0"];
    let Some((_, lines)) = trace(&options, &["sh", "-c", "true & true & wait"]) else { return };
    let times: Vec<u64> = lines.iter().map(|line| line["time"].as_u64().unwrap()).collect();
    assert!(times.is_sorted());
    let hits: Vec<_> = of(&lines, "tracepoint").collect();
    let exec = hits.iter().find(|hit| hit["event"] == "sched:sched_process_exec").unwrap();
    assert!(exec["fields"]["filename"].as_str().unwrap().ends_with("sh"), "{exec}");
    assert!(hits.iter().filter(|hit| hit["event"] == "sched:sched_process_exit").count() >= 3);
}

#[test]
fn enums_are_printed_by_the_print_format_of_the_kernel() {
    let arguments = ["trace", "-e", "sched:sched_switch", "-o", "-", "--", "sh", "-c", "sleep 0.01; true"];
    let output = perfkit().args(arguments).output().unwrap();
    if !output.status.success() {
        return skip_if_refused(&output);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("prev_state=S ==> next_comm="), "{text}");
}

#[test]
fn calls_and_losses_sum_up_to_what_the_program_made() {
    let command = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=100000", "status=none"];
    let Some((_, lines)) = trace(&["-m", "1", "-S", "-e", "write"], &command) else { return };
    let hits: u64 = of(&lines, "syscall").map(|call| if call["state"] == "returned" { 2 } else { 1 }).sum();
    let lost: u64 = of(&lines, "lost").map(|line| line["records"].as_u64().unwrap()).sum();
    // Starts, exits and names of tasks may be lost as well.
    assert!((200_000..200_010).contains(&(hits + lost)), "{hits} + {lost}");
    // No call is joined across a loss. Calls in progress end there.
    let mut lost_at = 0;
    for line in lines.iter().filter(|line| line["type"] != "summary") {
        match line["type"].as_str() {
            Some("lost") => lost_at = line["time"].as_u64().unwrap_or(0),
            _ if line["state"] == "returned" => assert!(line["time"].as_u64() >= Some(lost_at), "{line}"),
            _ => {}
        }
    }
    let summed: u64 = of(&lines, "summary").map(|row| row["calls"].as_u64().unwrap()).sum();
    let returned = of(&lines, "syscall").filter(|call| !call["result"].is_null()).count();
    assert_eq!(summed, returned as u64);
}

#[test]
fn all_tasks_are_traced_but_perfkit() {
    // The command runs while all CPUs are traced.
    let arguments =
        ["trace", "--json", "-a", "-e", "execve,write,read", "-o", "-", "--", "sh", "-c", "true | cat"];
    let running = perfkit().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let own = running.id();
    let output = running.wait_with_output().unwrap();
    if !output.status.success() {
        return skip_if_refused(&output);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(of(&lines, "syscall").any(|call| call["comm"] == "cat" && call["syscall"] == "read"));
    assert!(of(&lines, "syscall").all(|call| call["pid"] != own));
}

#[test]
fn interrupted_trace_ends_with_its_summary() {
    let own = std::process::id().to_string();
    let mut perfkit = perfkit();
    perfkit.args(["trace", "-S", "--summary-mode", "total", "-e", "getppid", "-p", &own]);
    let mut running = perfkit.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = Pid::from_child(&running);
    let (is_over, stdout) = (AtomicBool::new(false), running.stdout.take().unwrap());
    let mut lines = BufReader::new(stdout);
    let mut first = String::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            while !is_over.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(60) {
                let _ = parent_id();
                thread::sleep(Duration::from_millis(1));
            }
        });
        lines.read_line(&mut first).unwrap();
        is_over.store(true, Ordering::Relaxed);
    });
    // Fails only if it has exited, because no event is permitted.
    let _ = kill_process(pid, Signal::INT);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    let output = running.wait_with_output().unwrap();
    if first.is_empty() {
        return skip_if_refused(&output);
    }
    assert!(first.contains("getppid()"), "{first}");
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(rest.contains(" Summary of events:") && rest.contains("   getppid "), "{rest}");
}

#[test]
fn unknown_call_is_named_with_the_nearest() {
    let output = perfkit().args(["trace", "-e", "opnat", "true"]).output().unwrap();
    let text = errors(&output);
    if text.contains("tracefs") {
        return skip_if_refused(&output);
    }
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("opnat: no system call has this name; the nearest is openat"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn user_without_permission_reads_what_is_needed() {
    let folder = Folder::new();
    let program = folder.path("perfkit");
    fs::copy(env!("CARGO_BIN_EXE_perfkit"), &program).unwrap();
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can run a program as another user");
    }
    let output = Command::new(program).args(["trace", "true"]).uid(65534).gid(65534).output().unwrap();
    let text = errors(&output);
    if output.status.success() || text.contains("tracefs is not mounted") {
        return eprintln!("skipped: {text}");
    }
    assert_eq!(output.status.code(), Some(1), "{text}");
    // The error is one line about tracefs, or names the event with the remedy.
    assert!(
        text.contains("run as root, or let a group read tracefs") || text.contains("\nremedy "),
        "{text}"
    );
}

#[test]
fn command_that_does_not_exist_leaves_the_output() {
    let folder = Folder::new();
    let file = folder.path("old");
    fs::write(&file, "old").unwrap();
    let arguments = ["trace", "-o", file.to_str().unwrap(), "--", "/no/such/command"];
    let output = perfkit().args(arguments).output().unwrap();
    if output.status.code() != Some(127) {
        return skip_if_refused(&output);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "old");
}
