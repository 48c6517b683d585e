//! `perfkit export`: the file that a viewer gets, and what is left after a failure.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Output, Stdio};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::support::made::{KERNEL, Made};
use crate::support::recording::{Folder, perfkit};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `perfkit export` on a recording.
fn export(recording: &Path, options: &[&str]) -> Output {
    let mut command = perfkit();
    command.arg("export").arg("-i").arg(recording).args(options).stdin(Stdio::null());
    command.output().unwrap()
}

/// A recording of two processes, one with a bad name, in a program without a file and in the
/// kernel.
fn made(folder: &Folder) -> std::path::PathBuf {
    let recording = folder.path("perf.data");
    let mut made = Made::new();
    made.comm(10, b"sort it");
    made.map(10, 0x1000, b"/nonexistent/sort", None);
    made.sample(10, 0x1010);
    made.sample(10, 0x1010);
    made.sample(10, 0x9000);
    made.comm(20, b"\x1b[31m;\n\xff");
    made.sample(20, KERNEL + 16);
    made.write(&recording);
    recording
}

#[test]
fn formats_have_all_samples() {
    let folder = Folder::new();
    let recording = made(&folder);
    let output = export(&recording, &["-f", "folded", "-o", "-"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let folded = text(&output.stdout);
    let lines: Vec<_> = folded.lines().collect();
    assert_eq!(lines.len(), 3, "{folded}");
    assert_eq!(lines[..2], ["sort_it;[sort] 2000", "sort_it;[unknown] 1000"]);
    // The kernel's symbols may be missing.
    assert!(
        lines[2].starts_with("\u{fffd}[31m:\u{fffd}\u{fffd};") && lines[2].ends_with(" 1000"),
        "{folded}"
    );

    let counts = export(&recording, &["-f", "folded", "--counts", "--root", "tid", "--comm", "sort it"]);
    assert_eq!(text(&counts.stdout), "sort_it-10/10;[sort] 2\nsort_it-10/10;[unknown] 1\n");

    let output = export(&recording, &["-f", "json"]);
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    let frame = &lines[0]["frames"][0];
    assert_eq!((&frame["object"], &frame["address"]), (&"/nonexistent/sort".into(), &"0x1010".into()));
    assert_eq!(lines[3]["comm"], "\u{1b}[31m;\n\u{fffd}");
    assert!(!text(&output.stdout).contains('\u{1b}'));
    let sums = export(&recording, &["-f", "json", "--sum"]);
    assert_eq!(text(&sums.stdout).lines().count(), 3);

    let file = folder.path("x.pb.gz");
    let output = export(&recording, &["-o", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stderr).contains("x.pb.gz: 4 samples; `go tool pprof"), "{output:?}");
    let mut message = Vec::new();
    GzDecoder::new(fs::File::open(&file).unwrap()).read_to_end(&mut message).unwrap();
    assert!(text(&message).contains("/nonexistent/sort"));
}

#[test]
fn timelines_have_each_sample_at_its_time() {
    let folder = Folder::new();
    let recording = made(&folder);
    let file = folder.path("x.profile.json.gz");
    let output = export(&recording, &["-o", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stderr).contains("4 samples; https://profiler.firefox.com"), "{output:?}");
    let profile: Value = serde_json::from_reader(GzDecoder::new(fs::File::open(&file).unwrap())).unwrap();
    let threads = profile["threads"].as_array().unwrap();
    let names: Vec<_> = threads.iter().map(|thread| &thread["name"]).collect();
    assert_eq!(names, ["sort it", "\u{1b}[31m;\n\u{fffd}"]);
    assert_eq!(threads[0]["samples"]["time"], serde_json::json!([0, 0.001, 0.002]));
    assert_eq!(threads[0]["samples"]["weight"], serde_json::json!([0.001, 0.001, 0.001]));
    assert_eq!(threads[1]["pid"], "20");
    assert_eq!(profile["libs"][0]["path"], "/nonexistent/sort");

    let output = export(&recording, &["-f", "chrome", "--comm", "sort it"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!text(&output.stdout).contains('\u{1b}'));
    let trace: Value = serde_json::from_slice(&output.stdout).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let instants: Vec<_> = events.iter().filter(|event| event["ph"] == "i").collect();
    assert_eq!((instants.len(), trace["samples"].as_array().unwrap().len()), (3, 3));
    let ids = [&instants[0]["name"], &instants[0]["pid"], &instants[0]["args"]["value"]];
    assert_eq!(ids.map(Value::to_string), ["\"cpu-clock\"", "10", "1000"]);
    let frame = &trace["stackFrames"][instants[0]["sf"].to_string()];
    assert_eq!(frame["name"], "[sort]");
}

#[test]
fn format_option_wins_over_the_name_and_gz_compresses() {
    let folder = Folder::new();
    let recording = made(&folder);
    let file = folder.path("x.json.gz");
    let path = file.to_str().unwrap();
    assert_eq!(export(&recording, &["-o", path]).status.code(), Some(0));
    let unpacked = || {
        let mut text = String::new();
        GzDecoder::new(fs::File::open(&file).unwrap()).read_to_string(&mut text).unwrap();
        text
    };
    assert!(unpacked().starts_with("{\"version\":1,"), "{}", unpacked());
    assert_eq!(export(&recording, &["-o", path, "-f", "folded"]).status.code(), Some(0));
    assert!(unpacked().starts_with("sort_it;[sort] 2000\nsort_it;[unknown] 1000\n"), "{}", unpacked());
}

#[test]
fn wrong_options_and_inputs_are_named_in_one_line() {
    let folder = Folder::new();
    let recording = made(&folder);
    let is_refused = |options: &[&str], code: i32, words: &str| {
        let output = export(&recording, options);
        let errors = text(&output.stderr);
        assert_eq!((output.status.code(), errors.lines().count()), (Some(code), 1), "{options:?} {errors}");
        assert!(errors.starts_with("perfkit: ") && errors.contains(words), "{options:?} {errors}");
        assert!(output.stdout.is_empty(), "{options:?}");
    };
    is_refused(&[], 2, "expected a format: name it by -f");
    is_refused(&["-o", "x.svg"], 2, "; `perfkit flamegraph` draws pictures");
    let output = export(&recording, &["-f", "json", "--symfs", "/nonexistent"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("'/nonexistent' for '--symfs <DIR>': No such file"), "{output:?}");
    let output = export(&recording, &["-f", "json", "--buildid-dir", recording.to_str().unwrap()]);
    assert!(text(&output.stderr).contains("expected a folder, found a file"), "{output:?}");
    is_refused(&["-f", "pprof", "--counts"], 2, "--counts is not an option of this format");
    is_refused(&["-f", "folded", "--sum"], 2, "--sum is not");
    is_refused(&["-f", "firefox", "--sum"], 2, "--sum is not");
    is_refused(&["-f", "json", "-e", "cycles"], 1, "no event `cycles`: the recording has cpu-clock");
    let output = export(&folder.path("nothing"), &["-f", "json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nothing: No such file or directory"), "{output:?}");
}

#[test]
fn failed_output_leaves_no_file() {
    let folder = Folder::new();
    let recording = made(&folder);
    let out = folder.path("out");
    fs::create_dir(&out).unwrap();
    let missing = out.join("missing/x.pb.gz");
    let output = export(&recording, &["-o", missing.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("x.pb.gz: No such file or directory"), "{output:?}");
    let output = export(&recording, &["-f", "json", "-o", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("/dev/full: No space left on device"), "{output:?}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn memory_without_a_file_keeps_its_addresses() {
    let folder = Folder::new();
    let recording = folder.path("perf.data");
    let mut made = Made::new();
    made.comm(10, b"jit");
    // At offset 0, as in `/proc/PID/maps`.
    for start in [0x1000_0000, 0x2000_0000] {
        made.map(10, start, b"//anon", None);
        made.sample(10, start + 0x10);
    }
    made.write(&recording);
    let output = export(&recording, &["-f", "json", "-o", "-"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let samples: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let addresses: Vec<_> = samples.iter().map(|sample| &sample["frames"][0]["address"]).collect();
    assert_eq!(addresses, ["0x10000010", "0x20000010"]);
}

#[test]
fn task_that_has_exited_has_the_name_of_the_perf_tool() {
    let folder = Folder::new();
    let recording = folder.path("perf.data");
    let mut made = Made::new();
    made.sample(u32::MAX, 0x1010);
    made.write(&recording);
    let output = export(&recording, &["-f", "folded", "-o", "-"]);
    assert_eq!(text(&output.stdout), ":-1;[unknown] 1000\n", "{output:?}");
}
