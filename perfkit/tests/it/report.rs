//! `perfkit report` and `perfkit diff`, compared with snapshots and the perf tool.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use perf_abi::CallchainContext;
use serde_json::Value;

use crate::support::captures::Captures;
use crate::support::made::{KERNEL, Made};
use crate::support::recording::{Folder, perfkit, record_workload};
use crate::support::snapshot::expect_snapshot;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command on `perf.data` of a folder, and returns its output.
fn run(folder: &Path, words: &[&str]) -> String {
    let output = perfkit().args(words).current_dir(folder).output();
    assert!(output.as_ref().is_ok_and(|output| output.status.success()), "{words:?}: {output:?}");
    output.map_or_else(|_| String::new(), |output| text(&output.stdout))
}

#[test]
fn files_of_one_name_have_different_names_in_rows() {
    let folder = Folder::new();
    let mut made = Made::new();
    made.comm(7, b"same");
    for (start, path) in [(0x1000, "/srv/old/app"), (0x2000, "/srv/new/app"), (0x3000, "/lib/libc.so")] {
        made.map(7, start, path.as_bytes(), None);
        made.sample(7, start + 0x10);
    }
    made.write(&folder.path("perf.data"));
    let folder = folder.path("");
    let names = |output: &str| {
        let rows = output.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut names: Vec<_> =
            rows.filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect();
        names.sort();
        names
    };
    let expected = ["libc.so", "new/app", "old/app"];
    assert_eq!(names(&run(&folder, &["report", "-q", "-s", "dso"])), expected);
    let tree = run(&folder, &["report", "-q", "-g", "-s", "dso,sym"]);
    assert_eq!(names(&tree), expected.map(|name| format!("({name})")), "{tree}");
    let diff = run(&folder, &["diff", "--percent-limit", "0", "-s", "dso", "perf.data", "perf.data"]);
    assert_eq!(names(&diff), expected);
}

#[test]
fn options_of_the_perf_tool_that_name_the_default_change_nothing() {
    let folder = Folder::new();
    let mut made = Made::new();
    made.comm(7, b"same");
    made.sample(7, 0x1010);
    made.write(&folder.path("perf.data"));
    let folder = folder.path("");
    let report = run(&folder, &["report"]);
    assert!(report.starts_with('#'), "{report}");
    assert_eq!(run(&folder, &["report", "--stdio", "--header", "--children"]), report);
}

#[test]
fn column_of_single_recordings_is_named_for_what_it_leaves_out() {
    let folder = Folder::new();
    let mut made = Made::new();
    made.comm(7, b"noise");
    made.sample(7, 0x1010);
    made.write(&folder.path("a"));
    let folder = folder.path("");
    let single = run(&folder, &["diff", "--percent-limit", "0", "a", "a"]);
    assert!(single.contains(" Sampling  ") && !single.contains(" Noise  "), "{single}");
    assert!(single.contains("# the noise is known of several recordings on each side of --to\n"), "{single}");
    // One recording of a side is enough.
    assert!(run(&folder, &["diff", "a", "a", "--to", "a"]).contains(" Sampling  "));
    let several = run(&folder, &["diff", "a", "a", "--to", "a", "a"]);
    assert!(several.contains(" Noise  ") && !several.contains("Sampling"), "{several}");
}

#[test]
fn growth_beyond_the_limit_is_an_exit_status() {
    let folder = Folder::new();
    for (file, hot) in [("a1", 100), ("a2", 102), ("b1", 200), ("b2", 202)] {
        let mut made = Made::new();
        made.comm(7, b"gate");
        made.kernel_function(KERNEL, b"hot|`x");
        for _ in 0..hot {
            made.sample(7, KERNEL + 16);
        }
        made.write(&folder.path(file));
    }
    let folder = folder.path("");
    let gate = |options: &[&str]| {
        let words = [&["diff", "--absolute", "-s", "sym", "--fail-above"], options].concat();
        let output = perfkit().args(words).current_dir(&folder).output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, errors) = gate(&["20", "a1", "a2", "--to", "b1", "b2"]);
    assert_eq!((code, errors.as_str()), (Some(3), ""), "{out}");
    assert!(out.ends_with("#\n# grew by more than 20 % beyond the noise: the total; [k] hot|`x\n"), "{out}");
    let (code, out, _) = gate(&["20", "b1", "b2", "--to", "a1", "a2"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.ends_with("# nothing grew by more than 20 % beyond its noise\n"), "{out}");
    let (code, out, _) = gate(&["20", "--markdown", "a1", "a2", "--to", "b1", "b2"]);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains(r"| ``[k] hot\|`x`` |") || out.contains(r"`` [k] hot\|`x `` |"), "{out}");
    let (code, out, _) = gate(&["20", "--json", "a1", "a2", "--to", "b1", "b2"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["fail_above"], &json["grown"]), (Some(3), &20.0.into(), &2.into()));
    let (_, _, errors) = gate(&["20", "a1", "b1"]);
    assert!(errors.contains("the verdict may be wrong"), "{errors}");
}

#[test]
fn reasons_are_not_printed_for_a_few_samples_without_names() {
    let folder = Folder::new();
    for (file, unnamed) in [("few", 1), ("many", 3)] {
        let mut made = Made::new();
        made.comm(7, b"names");
        made.kernel_function(KERNEL, b"function");
        for _ in 0..300 {
            made.sample(7, KERNEL + 16);
        }
        for _ in 0..unnamed {
            made.sample(7, 0x1010);
        }
        made.write(&folder.path(file));
    }
    let folder = folder.path("");
    let few = run(&folder, &["report", "-i", "few"]);
    assert!(few.contains("# nothing was lost and all addresses but 1 have names\n"), "{few}");
    let many = run(&folder, &["report", "-i", "many"]);
    assert!(many.contains("# 1 address without a name: "), "{many}");
    let diff = run(&folder, &["diff", "few", "many"]);
    assert_eq!(diff.matches("without a name").count(), 1, "{diff}");
    let json: Value = serde_json::from_str(&run(&folder, &["report", "--json", "-i", "few"])).unwrap();
    assert_eq!(
        (&json["losses"]["unnamed_samples"], &json["losses"]["unnamed_addresses"][0]["count"]),
        (&1.into(), &1.into())
    );
    for words in [&["script", "-i"][..], &["export", "-f", "folded", "-i"]] {
        for (file, has_reason) in [("few", false), ("many", true)] {
            let output = perfkit().args(words).arg(file).current_dir(&folder).output().unwrap();
            let errors = text(&output.stderr);
            assert_eq!(errors.contains("without a name"), has_reason, "{errors}");
        }
    }
}

#[test]
fn precise_samples_count_for_their_address_in_every_view() {
    let folder = Folder::new();
    let mut made = Made::with_callchains();
    made.comm(7, b"exact");
    for (start, path) in [(0x1000, "/bin/event"), (0x2000, "/bin/interrupt"), (0x3000, "/bin/caller")] {
        made.map(7, start, path.as_bytes(), None);
    }
    let user = CallchainContext::USER.0;
    for interrupted in [0x2010, 0x2020, 0x1010] {
        made.precise_sample(7, 0x1010, &[user, interrupted, 0x3011]);
    }
    made.write(&folder.path("perf.data"));
    let folder = folder.path("");
    let folded = run(&folder, &["export", "-f", "folded"]);
    assert_eq!(folded, "exact;[caller];[event] 3000\n");
    let report = run(&folder, &["report", "-q", "-s", "dso"]);
    assert!(report.contains("100.00%   100.00%  event") && !report.contains("interrupt"), "{report}");
    assert!(run(&folder, &["report", "-q", "-g", "-s", "dso,sym"]).contains("(event)"));
    let script = run(&folder, &["script", "-F", "ip,dso"]);
    assert_eq!(script.matches("(/bin/event)\n\t              11 (/bin/caller)\n").count(), 3, "{script}");
    let single = run(&folder, &["script", "-G", "-F", "ip,dso"]);
    assert!(single.lines().all(|line| line.trim() == "1010 (/bin/event)"), "{single}");
    for format in ["json", "firefox", "chrome"] {
        let exported = run(&folder, &["export", "-f", format]);
        assert!(exported.contains("event") && !exported.contains("/bin/interrupt"), "{exported}");
    }
    let diff = run(&folder, &["diff", "-s", "dso", "--percent-limit", "0", "perf.data", "perf.data"]);
    assert!(diff.contains("event") && !diff.contains("interrupt"), "{diff}");
}

#[test]
fn rows_without_a_line_say_whether_they_are_of_the_kernel() {
    let folder = Folder::new();
    let mut made = Made::new();
    made.comm(7, b"lines");
    made.map(7, 0x1000, b"/no/such/file", None);
    made.sample(7, 0x1010);
    made.sample(7, KERNEL);
    made.write(&folder.path("perf.data"));
    let report = run(&folder.path(""), &["report", "-q", "-s", "srcline"]);
    let mut rows: Vec<_> = report.lines().filter(|line| !line.starts_with('#')).map(str::trim).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["50.00%  [kernel]", "50.00%  [unknown]"]);
}

#[test]
fn control_groups_are_columns_fields_and_roots() {
    let folder = Folder::new();
    let mut made = Made::with_cgroups();
    made.comm(7, b"group");
    made.cgroup(5, b"/a");
    made.cgroup(6, b"/b c");
    for cgroup in [5, 5, 6, 9] {
        made.sample_in(7, 0x1010, cgroup);
    }
    made.write(&folder.path("perf.data"));
    let groups = folder.path("");
    let report = run(&groups, &["report", "-q", "-s", "cgroup,comm"]);
    for row in ["50.00%  /a         group", "25.00%  /b c       group", "25.00%  [unknown]  group"] {
        assert!(report.contains(row), "{report}");
    }
    let json: Value = serde_json::from_str(&run(&groups, &["report", "--json", "-s", "cgroup"])).unwrap();
    let rows = json["rows"].as_array().unwrap().iter().map(|row| row["cgroup"].clone());
    assert_eq!(rows.collect::<Vec<_>>(), [Value::from("/a"), Value::from("/b c"), Value::Null]);
    let script = run(&groups, &["script", "-F", "comm,cgroup"]);
    let fields = script.lines().map(|line| line.trim().trim_start_matches("group").trim());
    assert_eq!(fields.collect::<Vec<_>>(), ["/a", "/a", "/b c", "[unknown]"]);
    let folded = run(&groups, &["export", "-f", "folded", "--root", "cgroup"]);
    assert_eq!(
        folded,
        "/a;group;[unknown] 2000\n/b c;group;[unknown] 1000\n[unknown];group;[unknown] 1000\n"
    );
    let lines = run(&groups, &["export", "-f", "json"]);
    assert!(lines.lines().next().unwrap().contains("\"cgroup\":\"/a\""), "{lines}");

    let folder = Folder::new();
    Made::new().write(&folder.path("perf.data"));
    for words in [
        &["report", "-s", "cgroup"][..],
        &["script", "-F", "cgroup"],
        &["export", "-f", "folded", "--root", "cgroup"],
        &["diff", "-s", "cgroup", "perf.data", "perf.data"],
    ] {
        let output = perfkit().args(words).current_dir(folder.path("")).output().unwrap();
        let errors = text(&output.stderr);
        assert!(output.status.code() == Some(1) && errors.contains("record with --all-cgroups"), "{errors}");
    }
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

/// Returns the rows of a table by their texts, each with the shares of a function with and without
/// its callees.
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
