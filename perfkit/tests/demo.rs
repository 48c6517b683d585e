//! The program as its users see it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Read;
use std::process::{Command, Output, Stdio};

const LABEL: &str = "Embedded capture: NOT from this kernel";

fn perfkit(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_perfkit")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Records of one kind in the summary's table.
fn records(text: &str, kind: &str) -> Option<u64> {
    let mut rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.find_map(|row| match row.as_slice() {
        [name, count, _bytes, _unit] if *name == kind => count.parse().ok(),
        _ => None,
    })
}

#[test]
fn the_capture_is_labelled_and_every_record_of_it_counted() {
    let text = text(&perfkit(&["demo", "--capture"]));
    assert!(text.contains(LABEL), "{text}");
    for (kind, count) in
        [("SAMPLE", 87), ("MMAP2", 20), ("SWITCH", 20), ("COMM", 5), ("FORK", 5), ("all", 137)]
    {
        assert_eq!(records(&text, kind), Some(count), "{kind} in {text}");
    }
    assert!(!text.contains("Damaged"), "{text}");
}

#[test]
fn the_live_kernel_shows_five_kinds_and_loses_nothing() {
    let text = text(&perfkit(&["demo", "--seconds", "1"]));
    if text.contains(LABEL) {
        assert!(text.contains("  refused  "), "a refusal without a reason: {text}");
        assert!(std::env::var_os("PERFKIT_REQUIRE_LIVE").is_none(), "live sampling is required: {text}");
        eprintln!("skipped, live sampling was refused: {text}");
        return;
    }
    for kind in ["SAMPLE", "MMAP2", "COMM", "FORK", "EXIT"] {
        assert!(records(&text, kind).is_some_and(|count| count > 0), "no {kind} in {text}");
    }
    assert_eq!(records(&text, "LOST"), None, "{text}");
    assert!(text.contains("Lost    0 (LOST records)"), "{text}");
    assert!(!text.contains("Damaged"), "{text}");
    for name in ["hash-words", "multiply", "sieve", "sort", "demo-child"] {
        assert!(text.contains(name), "no samples of {name} in {text}");
    }
}

#[test]
fn an_event_that_is_refused_is_explained_or_it_samples() {
    let text = text(&perfkit(&["demo", "--seconds", "1", "--event", "cycles"]));
    if text.contains(LABEL) {
        assert!(text.contains("  refused  cycles") && text.contains("  try  "), "{text}");
    } else {
        assert!(text.contains("  event    cycles (hardware)"), "{text}");
    }
}

#[test]
fn a_reader_that_leaves_early_ends_the_demo_quietly() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_perfkit"))
        .args(["demo", "--capture"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(demo.stdout.take());
    let mut complaint = String::new();
    demo.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert!(demo.wait().unwrap().success());
    assert_eq!(complaint, "");
}

#[test]
fn help_and_version_are_there_and_the_workload_is_hidden() {
    let help = text(&perfkit(&["--help"]));
    assert!(help.contains("demo") && !help.contains("demo-workload"), "{help}");
    assert!(text(&perfkit(&["--version"])).starts_with("perfkit "));
}

#[test]
fn a_time_of_zero_is_refused() {
    let output = perfkit(&["demo", "--seconds", "0"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
