//! `perfkit stat` and `perf stat` count the same, with each option that both have: the processes
//! that a script starts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use serde_json::Value;

use crate::stat::{NewCgroup, fields, fields_of_perf, output_of_perf, stat};

/// The number of processes that [`SCRIPT`] starts.
const FORKS: u64 = 10;
const SCRIPT: &str = "sleep 0.05; for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; :";
const EVENT: &str = "sched:sched_process_fork";

/// Returns the sum of the rows of an event, without the row of `--summary`. The count is two
/// columns before the name.
fn sum(rows: &[Vec<String>]) -> u64 {
    let count = |row: &Vec<String>| match row.windows(3).find(|fields| fields.last().unwrap() == EVENT) {
        Some([count, ..]) if !row.iter().any(|field| field.trim() == "summary") => {
            count.parse().unwrap_or(0) // 0 if it was not counted
        }
        _ => 0,
    };
    rows.iter().map(count).sum()
}

/// Repeats a measurement while it counted too little, because events of a cgroup sometimes do
/// (kernel errata).
fn counted(measure: impl Fn() -> Option<Vec<Vec<String>>>) -> Option<Vec<Vec<String>>> {
    let mut rows = measure();
    for _ in 0..10 {
        if rows.as_deref().is_none_or(|rows| sum(rows) >= FORKS) {
            break;
        }
        rows = measure();
    }
    rows
}

/// Compares the counts of both programs with each other and with what the script does. Returns
/// whether both can count.
fn counts_are_equal(arguments: &[&str]) -> bool {
    let Some(theirs) = counted(|| fields_of_perf(arguments)) else {
        eprintln!("skipped: perf 6.1 is not installed");
        return false;
    };
    let Some(ours) = counted(|| fields(arguments)) else { return false };
    if !theirs.iter().flatten().any(|field| field == EVENT) {
        eprintln!("skipped: {theirs:?}");
        return false;
    }
    assert_eq!(sum(&ours), FORKS, "{arguments:?}: {ours:?}");
    assert_eq!(sum(&theirs), FORKS, "{arguments:?}: {theirs:?}");
    true
}

#[test]
fn counts_of_a_command_are_those_of_the_perf_tool() {
    for options in [&[][..], &["-r", "3"], &["-I", "20"], &["-I", "20", "--summary"]] {
        if !counts_are_equal(&[options, &["-e", EVENT, "sh", "-c", SCRIPT]].concat()) {
            return;
        }
    }
}

#[test]
fn counts_of_a_cgroup_are_those_of_the_perf_tool() {
    let [Some(cgroup), Some(empty)] = ["values", "values-empty"].map(NewCgroup::new) else { return };
    let script = format!("echo $$ > {}; {SCRIPT}", cgroup.path.join("cgroup.procs").display());
    let both = format!("{},{}", cgroup.name, empty.name);
    for options in [
        &["-a", "-e", EVENT, "-G", &cgroup.name][..],
        &["-a", "-A", "-e", EVENT, "-G", &cgroup.name],
        &["-a", "--per-core", "-e", EVENT, "-G", &cgroup.name],
        &["-a", "--per-die", "-e", EVENT, "-G", &cgroup.name],
        &["-a", "--per-socket", "-e", EVENT, "-G", &cgroup.name],
        &["-a", "-e", EVENT, "-e", "cpu-clock", "-G", &both],
        &["-a", "-e", EVENT, "--for-each-cgroup", &both],
        // Not with -A: a CPU on which no task of the cgroup ran is not counted, and has the mean of
        // the other runs.
        &["-a", "-r", "2", "-e", EVENT, "--for-each-cgroup", &both],
        &["-C", "0", "-e", EVENT, "-G", &cgroup.name, "taskset", "-c", "0"],
    ] {
        if !counts_are_equal(&[options, &["sh", "-c", &script]].concat()) {
            return;
        }
    }
}

/// A process that runs [`SCRIPT`] whenever it is asked to. Killed on drop.
struct Server {
    child: Child,
    directory: PathBuf,
    /// The command that asks it, and waits until it has finished.
    ask: String,
}

impl Server {
    fn new(name: &str) -> Self {
        let name = format!("perfkit-stat-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        let [go, done] = ["go", "done"].map(|name| directory.join(name).display().to_string());
        assert!(Command::new("mkfifo").args([&go, &done]).status().unwrap().success());
        let script = format!("while read x < {go}; do {SCRIPT} echo > {done}; done");
        let child = Command::new("sh").args(["-c", &script]).spawn().unwrap();
        Self { child, directory, ask: format!("echo > {go}; read x < {done}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[test]
fn counts_of_a_process_are_those_of_the_perf_tool() {
    let server = Server::new("one");
    let id = server.child.id().to_string();
    for options in [&["-p", &id][..], &["-t", &id], &["-p", &id, "--per-thread"]] {
        let ask = ["-e", EVENT, "timeout", "60", "sh", "-c", &server.ask];
        if !counts_are_equal(&[options, &ask].concat()) {
            return;
        }
    }
}

#[test]
fn what_a_process_starts_is_not_counted_without_inheritance() {
    let server = Server::new("two");
    let id = server.child.id().to_string();
    let cases = [(&["-p"][..], "10"), (&["-t"], "10"), (&["-i", "-p"], "0"), (&["--no-inherit", "-t"], "0")];
    for (options, expected) in cases {
        let ask = ["-x,", "-e", "sched:sched_process_exec"];
        let arguments = [&ask, options, &[&*id, "timeout", "60", "sh", "-c", &server.ask]].concat();
        let (Some(ours), Some(theirs)) = (stat(&arguments), output_of_perf(&arguments)) else { return };
        let count = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).into_owned();
            text.split(',').next().unwrap().replace("<not counted>", "0")
        };
        if !ours.status.success() {
            return eprintln!("skipped: {ours:?}");
        }
        assert_eq!((&*count(&ours.stderr), &*count(&theirs.stderr)), (expected, expected), "{options:?}");
    }
}

#[test]
fn json_has_the_values_and_keys_of_the_perf_tool() {
    let arguments = ["-j", "-e", EVENT, "-e", "duration_time,user_time,system_time", "sh", "-c", SCRIPT];
    let Some(theirs) = output_of_perf(&arguments) else {
        return eprintln!("skipped: perf 6.1 is not installed");
    };
    let Some(ours) = stat(&["-j", "-e", EVENT, "sh", "-c", SCRIPT]) else { return };
    let rows = |text: &[u8]| -> Vec<Value> {
        String::from_utf8_lossy(text).lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let (ours, theirs) = (rows(&ours.stderr), rows(&theirs.stderr));
    if theirs.is_empty() {
        return eprintln!("skipped: perf has no JSON");
    }
    assert_eq!(ours.len(), theirs.len(), "{ours:?} {theirs:?}");
    for (our, their) in ours.iter().zip(&theirs) {
        assert_eq!((&our["event"], &our["unit"]), (&their["event"], &their["unit"]));
        let Value::Object(keys) = our else { panic!("{our}") };
        // The perf tool writes `(null)` for a missing metric.
        assert!(keys.keys().all(|key| their.get(key).is_some()), "{our} {their}");
    }
    assert_eq!(ours[0]["counter-value"], theirs[0]["counter-value"]);
    assert_eq!(ours[0]["counter-value"], format!("{FORKS}.000000"));
}
