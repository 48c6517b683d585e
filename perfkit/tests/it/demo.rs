//! The program as a user runs it first.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};

use rustix::process::Signal;

use crate::support::recording::{Folder, perfkit, skip_if_refused};
use crate::support::running::{Running, is_met};

/// The line before the report of the built-in recording.
const BUILT_IN: &str = "\nThe built-in recording, which was made earlier and NOT on this kernel:\n";

/// Runs `perfkit demo` in a folder, in which it also makes its temporary file.
fn demo(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = perfkit();
    command.arg("demo").args(arguments).current_dir(folder.path("")).env("TMPDIR", folder.path(""));
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the names in a folder.
fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path("")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the number of records of a kind in the output.
fn records(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains(" of the kernel: "))?;
    let mut kinds = line.split_once(": ")?.1.split(", ").filter_map(|kind| kind.split_once(' '));
    kinds.find_map(|(count, name)| (name == kind).then(|| count.parse().unwrap()))
}

/// Returns the output of a demo that sampled. Skips the test if the kernel permits no event.
fn live(output: Output) -> Option<(String, String)> {
    let (out, errors) = (text(&output.stdout), text(&output.stderr));
    if out.contains(BUILT_IN) {
        assert!(output.status.success() && errors.contains("\nremedy "), "{output:?}");
        skip_if_refused(&Output { status: std::process::ExitStatus::default(), ..output });
        return None;
    }
    assert!(output.status.success(), "{output:?}");
    Some((out, errors))
}

#[test]
fn demo_prints_the_command_lines_that_it_runs_and_the_functions_of_its_workload() {
    let folder = Folder::new();
    let Some((out, errors)) = live(demo(&folder, &["--seconds", "1"]).output().unwrap()) else { return };
    let program = env!("CARGO_BIN_EXE_perfkit");
    let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("$ ")).collect();
    let [record, report, tree] = lines.as_slice() else { panic!("{out}") };
    let file = report.rsplit(' ').next().unwrap();
    assert_eq!(
        *record,
        format!("$ {program} record -F 999 --call-graph dwarf -o {file} -- {program} workload --seconds 1"),
        "{out}"
    );
    assert!(file.starts_with(folder.path("perfkit-demo-").to_str().unwrap()), "{out}");
    for line in [report, tree] {
        assert!(line.starts_with(&format!("$ {program} report ")) && line.ends_with(file), "{out}");
    }
    // The line of `record` has the number of lost samples.
    assert!(errors.contains(&format!(" samples in {file} (")) && errors.contains("none lost"), "{errors}");
    for (thread, function) in [("hash-words", "hash"), ("sieve", "sieve"), ("", "sort")] {
        let name = format!("perfkit::demo::workload::{function}");
        let is_row = |line: &str| line.contains(thread) && line.contains('%') && line.contains(&name);
        assert!(out.lines().any(is_row), "no samples of {name} in {out}");
    }
    for kind in ["SAMPLE", "MMAP2", "COMM", "FORK", "EXIT"] {
        assert!(records(&out, kind).is_some_and(|count| count > 0), "no {kind} in {out}");
    }
    assert_eq!(names(&folder), [""; 0], "{out}");
}

#[test]
fn built_in_recording_is_labelled_and_each_record_is_counted() {
    let folder = Folder::new();
    let output = demo(&folder, &["--capture"]).output().unwrap();
    let text = text(&output.stdout);
    assert!(output.status.success() && text.contains(BUILT_IN) && !text.contains(" workload "), "{output:?}");
    for (kind, count) in [("SAMPLE", 562), ("MMAP2", 30), ("COMM", 14), ("FORK", 8), ("EXIT", 9)] {
        assert_eq!(records(&text, kind), Some(count), "{kind} in {text}");
    }
    assert!(text.contains("hash-words"), "{text}");
    assert_eq!(names(&folder), [""; 0], "{text}");
}

#[test]
fn kept_files_are_named_and_can_be_read() {
    let folder = Folder::new();
    for options in [&["--keep", "--seconds", "1"][..], &["--keep", "--capture"]] {
        let output = demo(&folder, options).output().unwrap();
        let out = text(&output.stdout);
        assert!(output.status.success() && out.contains(" report "), "{output:?}");
        let dump = perfkit().arg("dump").arg(folder.path("demo.perf.data")).output().unwrap();
        let samples = text(&dump.stdout).lines().filter(|line| line.contains(" SAMPLE ")).count() as u64;
        assert_eq!(Some(samples), records(&out, "SAMPLE"), "{out}");
        if cfg!(feature = "flamegraph") {
            assert!(out.contains(" flamegraph -i demo.perf.data -o demo.svg\n"), "{out}");
            let svg = fs::read_to_string(folder.path("demo.svg")).unwrap();
            assert!(svg.contains(&format!(">{samples} samples, none lost, ")), "{samples} {svg}");
        }
    }
}

#[test]
fn folder_that_cannot_be_written_to_is_an_error() {
    for (folder, file) in [("/proc", "demo.perf.data: "), ("/nonexistent", "/nonexistent/perfkit-demo-")] {
        let mut command = perfkit();
        command.args(["demo", "--capture"]).env("TMPDIR", folder);
        if folder == "/proc" {
            command.arg("--keep").current_dir(folder);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).starts_with(&format!("perfkit: {file}")), "{output:?}");
    }
}

#[test]
fn events_that_cannot_be_opened_are_explained_before_the_built_in_recording() {
    let folder = Folder::new();
    // With too few descriptors, first the files cannot be opened, then the events.
    for limit in 6..1000 {
        let script = format!("ulimit -n {limit}; exec \"$0\" demo --seconds 1");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_perfkit")]).env("TMPDIR", folder.path(""));
        let output = command.output().unwrap();
        let (out, errors) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(names(&folder), [""; 0], "{out}");
        if out.contains(BUILT_IN) {
            assert!(output.status.success() && errors.contains("\nremedy "), "{output:?}");
            return;
        }
        assert!(!output.status.success(), "the events were opened with {limit} descriptors: {output:?}");
    }
}

#[test]
fn user_without_privileges_sees_the_functions_too() {
    let folder = Folder::new();
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    let output = demo(&folder, &["--seconds", "1"]).uid(65534).gid(65534).output();
    let Ok(output) = output else {
        return eprintln!("skipped: nobody cannot run the program, or this is not root: {output:?}");
    };
    let Some((out, errors)) = live(output) else { return };
    assert!(out.contains("perfkit::demo::workload::hash") && errors.contains("none lost"), "{out}{errors}");
    assert_eq!(names(&folder), [""; 0], "{out}");
}

#[test]
fn interrupt_ends_the_demo_and_removes_its_file() {
    let folder = Folder::new();
    let mut running = Running::start(&mut demo(&folder, &["--seconds", "60"]));
    // It is not empty when the workload runs.
    let is_recording = || {
        fs::read_dir(folder.path(""))
            .unwrap()
            .any(|file| file.unwrap().metadata().is_ok_and(|file| file.len() > 100))
    };
    assert!(is_met(|| is_recording() || running.has_ended()));
    if running.has_ended() {
        return assert!(live(running.end()).is_none());
    }
    running.send(Signal::INT);
    let output = running.end();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert_eq!(names(&folder), [""; 0], "{output:?}");
}

#[test]
fn closed_output_ends_the_demo_without_an_error() {
    let folder = Folder::new();
    let mut demo =
        demo(&folder, &["--capture"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(demo.stdout.take());
    let mut stderr = String::new();
    demo.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(demo.wait().unwrap().success());
    assert_eq!(stderr, "");
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn help_does_not_list_the_workload() {
    let help = perfkit().arg("--help").output().unwrap();
    let help = text(&help.stdout);
    assert!(help.lines().any(|line| line.starts_with("  demo ")), "{help}");
    assert!(!help.lines().any(|line| line.starts_with("  workload ")), "{help}");
}

#[test]
fn sampling_for_0_seconds_is_refused() {
    let output = demo(&Folder::new(), &["--seconds", "0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
