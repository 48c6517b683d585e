//! `perfkit sched`: the table and the JSON of a recording, and live.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::recording::{Folder, perfkit, skip_if_refused};

fn sched(arguments: &[&str]) -> Output {
    perfkit().arg("sched").args(arguments).output().unwrap()
}

/// The recording of a test of `perf-profile`.
fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/perf-profile/tests/data/sched.data")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn table_of_a_recording_has_threads_by_their_waits_and_cpus() {
    let path = recorded();
    let path = path.to_str().unwrap();
    let value = json(&sched(&["-i", path, "--json"]));
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sched-json.md");
    let document = fs::read_to_string(document).unwrap();
    for object in [&value, &value["threads"][0], &value["threads"][0]["waits"], &value["cpus"][0]] {
        for key in object.as_object().unwrap().keys() {
            assert!(document.contains(&format!("| `{key}` |")), "docs/sched-json.md has no `{key}`");
        }
    }
    let first = &value["threads"][0];
    let text = String::from_utf8(sched(&["-i", path]).stdout).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let expected = format!(" {} {} ", first["comm"].as_str().unwrap(), first["tid"]);
    assert!(lines[0].starts_with(&expected), "{text}");
    let (threads, cpus) = (value["threads"].as_array().unwrap(), value["cpus"].as_array().unwrap());
    assert_eq!((lines.len(), cpus.len()), (threads.len() + cpus.len(), 2));
    let one = json(&sched(&["-i", path, "--json", "--tid", &first["tid"].to_string()]));
    assert_eq!(one["threads"].as_array().unwrap(), std::slice::from_ref(first));
}

#[test]
fn recording_without_switches_says_how_to_make_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data/cpuclock-fp.data");
    let output = sched(&["-i", path.to_str().unwrap()]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && errors.contains("perf sched record"), "{errors}");
}

#[test]
fn thread_that_waits_all_the_time_is_named_although_it_has_no_row() {
    let mut hung = Command::new("sleep").arg("1000").spawn().unwrap();
    // Until it sleeps.
    let comm = format!("/proc/{}/comm", hung.id());
    let is_asleep =
        || fs::read_to_string(comm.replace("comm", "syscall")).is_ok_and(|text| text.contains(' '));
    let is_running = || !fs::read_to_string(&comm).is_ok_and(|name| name == "sleep\n") || !is_asleep();
    let begun = std::time::Instant::now();
    while is_running() && begun.elapsed().as_secs() < 60 {
        std::thread::yield_now();
    }
    let output = sched(&["-p", &hung.id().to_string(), "--", "sleep", "0.1"]);
    hung.kill().unwrap();
    hung.wait().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return skip_if_refused(&output);
    }
    assert!(errors.contains(&format!("{} sleep: ", hung.id())), "{errors}");
}

#[test]
fn command_is_recorded_and_its_exit_code_passed_on() {
    let folder = Folder::new();
    let mut command = perfkit();
    command.env("TMPDIR", folder.path("")).args(["sched", "--json", "sh", "-c", "sleep 0.01; exit 3"]);
    let output = command.output().unwrap();
    if output.stdout.is_empty() {
        return skip_if_refused(&output);
    }
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 0, "a temporary file is left");
    let value = json(&output);
    let thread = |name: &str| value["threads"].as_array().unwrap().iter().find(|row| row["comm"] == name);
    let sleep = thread("sleep").unwrap();
    assert!(sleep["sleeps"]["total"].as_u64().unwrap() >= 10_000_000, "{sleep}");
    assert!(thread("sh").unwrap()["runtime"].as_u64().unwrap() > 0, "{value}");
}
