//! The program as a user runs it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read;
use std::process::{Command, Output, Stdio};

use crate::support::recording::{Folder, perfkit as perfkit_command};

const LABEL: &str = "Replay of the built-in recording";

fn perfkit(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_perfkit")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the number of records of one kind in the summary.
fn records(text: &str, kind: &str) -> Option<u64> {
    let mut rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.find_map(|row| match row.as_slice() {
        [name, count, _bytes, _unit] if *name == kind => count.parse().ok(),
        _ => None,
    })
}

#[test]
fn replay_is_labelled_and_counts_every_record() {
    let text = text(&perfkit(&["demo", "--capture"]));
    assert!(text.contains(LABEL), "{text}");
    for (kind, count) in
        [("SAMPLE", 562), ("MMAP2", 30), ("COMM", 14), ("FORK", 8), ("EXIT", 9), ("all", 624)]
    {
        assert_eq!(records(&text, kind), Some(count), "{kind} in {text}");
    }
    assert!(!text.contains("Damaged") && !text.contains("(address in no recorded mapping)"), "{text}");
    assert!(text.contains("/usr/bin/perfkit") && text.contains("hash-words"), "{text}");
    // The program of that machine is not here, or is another one. An instruction is the same in both lists.
    let (instructions, functions) = text.split_once("\nHottest functions ").unwrap();
    let offset = functions.lines().nth(1).and_then(|line| line.split_whitespace().nth(2)).unwrap();
    assert!(
        offset.starts_with("0x") && instructions.contains(&format!(" {offset}  /usr/bin/perfkit")),
        "{text}"
    );
    assert!(functions.contains("\nUnnamed 5"), "{text}");
}

#[test]
fn kept_files_are_named_and_can_be_read() {
    let folder = Folder::new();
    for (options, title) in
        [(&["--seconds", "1"][..], ""), (&["--capture"], ", in place of the file that was there")]
    {
        let demo =
            perfkit_command().current_dir(folder.path("")).args(["demo", "--keep"]).args(options).output();
        let text = text(&demo.unwrap());
        assert!(text.contains(&format!("\nWritten  demo.perf.data{title}\n")), "{text}");
        assert!(text.contains("  try      perfkit report -i demo.perf.data\n"), "{text}");
        let dump = perfkit_command().arg("dump").arg(folder.path("demo.perf.data")).output().unwrap();
        let samples = self::text(&dump).lines().filter(|line| line.contains(" SAMPLE ")).count() as u64;
        assert_eq!(Some(samples), records(&text, "SAMPLE"), "{text}");
        if cfg!(feature = "flamegraph") {
            assert!(text.contains(&format!("\nWritten  demo.svg{title}\n")), "{text}");
            let svg = fs::read_to_string(folder.path("demo.svg")).unwrap();
            assert!(svg.contains(": perfkit demo</text>") && svg.ends_with("</svg>"), "{svg}");
            assert!(svg.contains(&format!(">{samples} samples, 0 lost, ")), "{samples} {svg}");
        }
    }
}

#[test]
fn folder_that_cannot_be_written_to_is_an_error_after_the_summary() {
    let output =
        perfkit_command().current_dir("/proc").args(["demo", "--capture", "--keep"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("perfkit: demo.perf.data: "), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Hottest functions"), "{output:?}");
}

#[test]
fn live_sampling_reads_five_kinds_in_order_and_loses_none() {
    let text = text(&perfkit(&["demo", "--seconds", "1"]));
    if text.contains(LABEL) {
        assert!(text.contains("  failed  "), "no reason: {text}");
        assert!(std::env::var_os("PERFKIT_REQUIRE_LIVE").is_none(), "live sampling is required: {text}");
        eprintln!("skipped, live sampling failed: {text}");
        return;
    }
    for kind in ["SAMPLE", "MMAP2", "COMM", "FORK", "EXIT"] {
        assert!(records(&text, kind).is_some_and(|count| count > 0), "no {kind} in {text}");
    }
    assert_eq!(records(&text, "LOST"), None, "{text}");
    assert!(text.contains("Lost    0 by LOST records"), "{text}");
    assert!(text.contains("Order   0 of "), "{text}");
    assert!(!text.contains("Damaged") && !text.contains("Skipped"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("Count ")), "{text}");
    for name in ["hash-words", "multiply", "sieve", "sort", "demo-child"] {
        assert!(text.contains(name), "no samples of {name} in {text}");
    }
    let functions = text.split_once("\nHottest functions ").unwrap().1;
    assert!(functions.contains("  perfkit::demo::workload::hash  perfkit\n"), "{text}");
}

#[test]
fn event_that_cannot_be_sampled_is_explained() {
    let text = text(&perfkit(&["demo", "--seconds", "1", "--event", "cycles"]));
    if text.contains(LABEL) {
        assert!(text.contains("  failed   cycles") && text.contains("  try  "), "{text}");
    } else {
        assert!(text.contains("  event    cycles (hardware)"), "{text}");
    }
}

#[test]
fn closed_output_ends_the_demo_without_an_error() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_perfkit"))
        .args(["demo", "--capture"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(demo.stdout.take());
    let mut stderr = String::new();
    demo.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(demo.wait().unwrap().success());
    assert_eq!(stderr, "");
}

#[test]
fn help_does_not_list_the_workload() {
    let help = text(&perfkit(&["--help"]));
    assert!(help.contains("demo") && !help.contains("demo-workload"), "{help}");
    assert!(text(&perfkit(&["--version"])).starts_with("perfkit "));
}

#[test]
fn sampling_for_0_seconds_is_refused() {
    let output = perfkit(&["demo", "--seconds", "0"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}
