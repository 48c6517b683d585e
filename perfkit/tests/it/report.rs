//! `perfkit report` and `perfkit diff`, beside snapshots and beside the perf tool.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::captures::Captures;
use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit, record_workload};
use crate::support::snapshot::expect_snapshot;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn reports_of_captured_files_are_those_of_the_snapshots() {
    let captures = Captures::new();
    let cases: &[(&str, &[&str])] = &[
        ("functions", &["-i", "cpuclock-fp.data"]),
        ("objects", &["-i", "cpuclock-fp.data", "--no-children", "-s", "dso", "-n"]),
        ("threads", &["-i", "sched-raw.data", "-s", "pid,tid,comm", "-q", "--percent-limit", "0"]),
        ("callers", &["-i", "cpuclock-fp.data", "-g", "callee", "-q", "-s", "dso,sym"]),
        ("callees", &["-i", "cpuclock-fp.data", "-g"]),
        ("events", &["-i", "hw-events.data", "-s", "dso"]),
        ("lines", &["-i", "cpuclock-fp.data", "-s", "srcline,sym", "--comm", "other"]),
        ("json", &["-i", "cpuclock-fp.data", "-s", "dso", "--json", "-g", "caller"]),
    ];
    for (name, options) in cases {
        let output = captures.run(&[&["report"], *options].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        expect_snapshot("report", name, &text(&output.stdout));
        // A pipe has no colors unless they are asked for.
        assert!(!text(&output.stdout).contains('\u{1b}'));
    }
    let colored = captures.run(&["report", "-i", "cpuclock-fp.data", "--color", "always"]);
    assert!(text(&colored.stdout).contains("\u{1b}[31m"), "{colored:?}");
    let wrong = captures.run(&["report", "-i", "cpuclock-fp.data", "-e", "cycles"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(text(&wrong.stderr).contains("no event `cycles`: the recording has cpu-clock"), "{wrong:?}");
    assert_eq!(captures.run(&["report", "--percent-limit", "101"]).status.code(), Some(2));
}

#[test]
fn differences_of_captured_files_are_those_of_the_snapshots() {
    let captures = Captures::new();
    let (a, b) = ("cpuclock-fp.data", "clock-monotonic.data");
    let cases: &[(&str, &[&str])] = &[
        ("shares", &[a, b]),
        ("values", &["--absolute", "-s", "comm,dso", "--percent-limit", "0", a, b]),
        ("several", &["--children", "-s", "dso", a, a, "--to", b, a]),
        ("json", &["--json", "-s", "dso", a, b]),
    ];
    for (name, options) in cases {
        let output = captures.run(&[&["diff", "-e", "cpu-clock"], *options].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        expect_snapshot("diff", name, &text(&output.stdout));
    }
    assert_eq!(captures.run(&["diff", a]).status.code(), Some(2));
    assert_eq!(captures.run(&["diff", a, a, a]).status.code(), Some(2));
    assert_eq!(captures.run(&["diff"]).status.code(), Some(2));
}

/// Adds all keys of the objects in a value.
pub(crate) fn keys(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                all.push(key.clone());
                keys(value, all);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, all)),
        _ => {}
    }
}

#[test]
fn each_key_of_the_json_is_documented() {
    let captures = Captures::new();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/report-json.md");
    let document = fs::read_to_string(document).unwrap();
    let report = captures.run(&["report", "-i", "cpuclock-fp.data", "--json", "-g", "caller"]);
    let diff = captures.run(&["diff", "cpuclock-fp.data", "cpuclock-fp.data", "--json"]);
    for output in [report, diff] {
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["version"], 1);
        let mut all = Vec::new();
        keys(&value, &mut all);
        assert!(all.len() > 20);
        for key in all {
            assert!(document.contains(&format!("| `{key}` |")), "docs/report-json.md has no `{key}`");
        }
    }
}

#[test]
fn recording_without_samples_has_a_report_that_says_so() {
    let folder = Folder::new();
    let recording = folder.path("perf.data");
    let mut made = Made::new();
    made.comm(10, b"a");
    made.write(&recording);
    let output = perfkit().arg("report").arg("-i").arg(&recording).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("# cpu-clock: 0 samples"), "{output:?}");
    assert!(
        text(&output.stderr).starts_with("perfkit: no samples: the recording has none, or"),
        "{output:?}"
    );
}

/// Returns the rows of a table by their texts: the shares of a function with its callees, and by itself.
fn rows(report: &str) -> BTreeMap<String, (f64, f64)> {
    let percent = |word: &str| word.strip_suffix('%').and_then(|word| word.parse::<f64>().ok());
    let mut rows = BTreeMap::<String, (f64, f64)>::new();
    for line in report.lines() {
        let mut words = line.split_whitespace();
        let shares = (words.next().and_then(percent), words.next().and_then(percent));
        if let (Some(total), Some(own)) = shares {
            // The perf tool has columns of branch histories, which are empty.
            let key: Vec<_> = words.filter(|&word| word != "-").collect();
            let row = rows.entry(key.join(" ")).or_default();
            *row = (row.0.max(total), row.1 + own);
        }
    }
    rows
}

#[test]
fn shares_are_those_of_the_perf_tool() {
    let folder = Folder::new();
    let file = folder.path("perf.data");
    let path = file.to_str().unwrap();
    if !record_workload(path) {
        return;
    }
    let report = |mut program: Command, options: &[&str]| {
        let output = program.args(["report", "--stdio", "--no-inline", "--percent-limit", "0", "-i", path]);
        let output = output.args(options).output().ok()?;
        assert!(output.status.success(), "{output:?}");
        Some(rows(&text(&output.stdout)))
    };
    let Some(expected) = report(Command::new("perf"), &["-g", "none"]) else {
        eprintln!("skipped: no perf tool");
        return;
    };
    let found = report(perfkit(), &[]).unwrap();
    // The kernel has one name an address, and no addresses without a name.
    let kernel = |rows: &BTreeMap<String, (f64, f64)>| {
        let rows = rows.iter().filter(|(key, _)| key.contains("[kernel.kallsyms] [k] "));
        rows.map(|(key, shares)| (key.clone(), *shares)).collect::<BTreeMap<_, _>>()
    };
    let (found, expected) = (kernel(&found), kernel(&expected));
    let is_close = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 0.1 && (a.1 - b.1).abs() < 0.1;
    let mut different = Vec::new();
    for (key, shares) in &expected {
        match found.get(key) {
            Some(found) if is_close(*found, *shares) => {}
            found => different.push((key, shares, found)),
        }
    }
    assert!(expected.len() > 20, "{} functions", expected.len());
    // Other symbols of the same address.
    assert!(different.len() * 20 <= expected.len(), "{different:?}");
}
