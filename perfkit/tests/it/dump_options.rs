//! The options of `perfkit dump` that choose records and fields, and the forms of its output.

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_json::Value;

use crate::support::run::{dump_file, perfkit};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn path(name: &str) -> PathBuf {
    folder("../perf-decode/tests/data").join(format!("{name}.data"))
}

/// Name of a snapshot, file, and options.
const SNAPSHOTS: &[(&str, &str, &[&str])] = &[
    ("text", "cgroup", &[]),
    ("sorted", "switch-task", &["--sorted", "--kind", "switch,comm,exit"]),
    ("fields", "cgroup", &["-F", "time,tid,ip,comm,fields_name"]),
    ("fields-json", "sched-raw", &["-F", "tid,time,tracepoint_comm", "--json"]),
    ("fields-of-a-header", "stat-record", &["-F", "offset,size"]),
    ("flat", "cgroup", &["--flat"]),
    ("flat-json", "cgroup", &["--flat", "--json"]),
    ("flat-fields", "leader-sampling", &["--flat", "-F", "time,read,event,cpu", "--kind", "sample"]),
    ("flat-fields-json", "leader-sampling", &["--flat", "-F", "time,read", "--kind", "sample", "--json"]),
    (
        "flat-tracepoint",
        "irq-exc-tp",
        &["--flat", "-F", "event,tracepoint", "--kind", "sample", "--time", ",3070.2499"],
    ),
    ("comm", "sched-raw", &["--comm", "sort", "--kind", "sample,comm,fork,exit"]),
    ("time", "sched-raw", &["--time", "10%/2,40%-50%", "-F", "name,time,tid"]),
    ("cpu", "switch-cpuwide", &["-C", "1", "-F", "time,cpu,pid,tid"]),
    ("features", "cgroup", &["--features"]),
];

#[test]
fn output_of_a_captured_file_is_that_of_its_snapshot() {
    let is_blessed = env::var_os("PERFKIT_BLESS").is_some();
    let mut different = Vec::new();
    for (name, file, options) in SNAPSHOTS {
        let run = dump_file(&path(file), options);
        assert!(run.is_clean(), "{name}: {run:?}");
        assert!(run.lines.len() > 1, "{name}: {run:?}");
        let snapshot = folder("tests/snapshots/dump").join(format!("{name}.txt"));
        let text = run.lines.join("\n") + "\n";
        if fs::read_to_string(&snapshot).is_ok_and(|known| known == text) {
            continue;
        }
        if is_blessed {
            fs::write(&snapshot, text).unwrap();
        } else {
            different.push(name);
        }
    }
    let how = "PERFKIT_BLESS=1 cargo test -p perfkit --test it dump_options";
    assert!(different.is_empty(), "{different:?}: not as in tests/snapshots/dump; `{how}` writes them");
}

#[test]
fn every_key_of_a_flat_object_is_a_field() {
    let files = fs::read_dir(path("cgroup").parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let mut keys = Vec::new();
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "data")) {
        let run = dump_file(&file, &["--json"]);
        assert!(run.is_clean(), "{run:?}");
        for record in run.records() {
            let fields = record["fields"].as_object().cloned().unwrap_or_default();
            keys.extend(fields.into_iter().map(|(key, _)| key).filter(|key| key != "sample_id"));
        }
    }
    keys.sort();
    keys.dedup();
    assert!(keys.len() > 60, "{keys:?}");
    let run = dump_file(&path("cgroup"), &["-F", &keys.join(",")]);
    assert!(run.is_clean(), "{run:?}");
}

#[test]
fn every_documented_field_can_be_chosen() {
    let text = fs::read_to_string(folder("../docs/dump-json.md")).unwrap();
    let (_, tables) = text.split_once("## Fields of samples").unwrap();
    let (tables, _) = tables.split_once("\n## Counts").unwrap();
    let mut names = Vec::new();
    for row in tables.lines().filter(|line| line.starts_with("| ")) {
        // The names before the forms: `pid`, `tid` signed; `addr` hex. Inner keys follow a colon or
        // the word objects.
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let cell = if row.starts_with("| `")
            && cells.get(2).is_some_and(|cell| cell.contains('`'))
            && !row.contains("_STACK`")
        {
            cells.get(2)
        } else {
            cells.get(1)
        };
        let cell = cell.copied().unwrap_or_default();
        for part in cell.split(';') {
            let outer =
                part.split([':', '(']).next().unwrap_or_default().split("objects").next().unwrap_or_default();
            names.extend(outer.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    names.retain(|name| {
        name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_' || letter.is_ascii_digit())
    });
    assert!(names.len() > 90, "{names:?}");
    let run = dump_file(&path("cgroup"), &["-F", &names.join(",")]);
    assert!(run.is_clean(), "{run:?}");
}

#[test]
fn fields_of_a_table_are_its_columns() {
    let run = dump_file(&path("cpuclock-fp"), &["--flat", "-F", "tid,callchain,time", "--kind", "SAMPLE"]);
    assert!(run.is_clean(), "{run:?}");
    let (head, rows) = run.lines.split_first().unwrap();
    assert_eq!(head, "tid\tcallchain\ttime");
    let samples = dump_file(&path("cpuclock-fp"), &["--json", "--kind", "9"]).records();
    assert_eq!(rows.len(), samples.len());
    for (row, sample) in rows.iter().zip(samples) {
        let cells: Vec<_> = row.split('\t').collect();
        let [tid, _, time] = cells[..] else { panic!("{row}") };
        assert_eq!(
            (tid, time),
            (&*sample["fields"]["tid"].to_string(), &*sample["fields"]["time"].to_string())
        );
    }
}

#[test]
fn flat_objects_have_no_inner_objects() {
    for file in ["regs-intr-user", "stat-record", "pipe-tracepoint", "leader-sampling"] {
        let run = dump_file(&path(file), &["--json", "--flat"]);
        assert!(run.is_clean() && run.lines.len() > 5, "{file}: {run:?}");
        for record in run.records() {
            assert!(record.as_object().unwrap().values().all(|value| !value.is_object()), "{record}");
        }
    }
}

#[test]
fn chosen_fields_are_those_of_the_whole_record() {
    let whole = dump_file(&path("sched-raw"), &["--json", "--kind", "sample"]).records();
    let chosen =
        dump_file(&path("sched-raw"), &["--json", "--kind", "sample", "-F", "ip,tracepoint_comm"]).records();
    assert_eq!(whole.len(), chosen.len());
    for (whole, chosen) in whole.iter().zip(&chosen) {
        assert_eq!(chosen["fields"]["ip"], whole["fields"]["ip"]);
        assert_eq!(chosen["fields"].as_object().unwrap().len(), 1);
        let comm = |record: &Value| record["tracepoint"]["comm"].clone();
        assert_eq!(comm(chosen), comm(whole));
    }
}

#[test]
fn parts_of_a_recording_have_its_samples_once() {
    let count = |options: &[&str]| {
        let options = [&["--kind", "sample", "-F", "time"], options].concat();
        dump_file(&path("sched-raw"), &options).lines.len()
    };
    let parts = (1..=10).map(|number| count(&["--time", &format!("10%/{number}")]));
    assert_eq!(parts.sum::<usize>(), count(&[]));
    assert_eq!(count(&["--time", "0%-50%,50%-100%"]), count(&[]));
}

#[test]
fn unknown_names_are_errors_with_the_nearest() {
    for (options, text) in [
        (["-F", "timee"], "unknown field; the nearest is time; all fields: addr, "),
        (["--kind", "sampel"], "unknown kind; the nearest is SAMPLE; all kinds: MMAP, "),
        (["--time", "5,2"], "expected START,STOP in seconds"),
        (["--cpu", "x"], "CPU list: expected a CPU"),
    ] {
        let run = dump_file(&path("cgroup"), &options);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.errors.iter().any(|line| line.contains(text)), "{run:?}");
    }
}

#[test]
fn options_that_the_recording_cannot_serve_are_errors() {
    for (file, options, text) in [
        ("cgroup", ["--cpu", "0"], "--cpu: the samples of this recording have no CPU"),
        (
            "pipe",
            ["--time", "10%"],
            "--time: the times of the first and the last sample are not in this recording",
        ),
        (
            "sched-raw",
            ["-F", "tracepoint_pfn"],
            "no tracepoint of the recording has the field tracepoint_pfn",
        ),
    ] {
        let run = dump_file(&path(file), &options);
        assert!(run.has_one_error() && run.lines.is_empty(), "{run:?}");
        assert!(run.errors.iter().any(|line| line.contains(text)), "{run:?}");
    }
}

#[test]
fn recording_is_an_option_or_an_argument() {
    let output = perfkit().arg("-i").arg(path("cgroup")).arg("--force").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, perfkit().arg(path("cgroup")).output().unwrap().stdout);
    let both = perfkit().arg("-i").arg(path("cgroup")).arg(path("cgroup")).output().unwrap();
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn names_with_escape_sequences_are_printed_without_them() {
    let mut bytes = fs::read(path("cgroup")).unwrap();
    // ESC, the control sequence introducer of one character, a mark that reverses text, and a tab.
    let (name, hostile) = (b"worker-0", b"\x1b\xc2\x9b\xe2\x80\xaeA\t");
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at..at + name.len()].copy_from_slice(&hostile[..name.len()]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("escapes.data");
    fs::write(&file, bytes).unwrap();
    for options in [
        &[][..],
        &["--json"],
        &["--flat", "-F", "name,comm"],
        &["--flat", "--json"],
        &["-F", "comm"],
        &["-F", "comm", "--json"],
    ] {
        let run = dump_file(&file, options);
        assert!(run.is_clean(), "{run:?}");
        assert_eq!(
            run.lines.iter().filter(|line| line.contains("001b") || line.contains("u{1b}")).count(),
            1,
            "{options:?}"
        );
        for line in &run.lines {
            // A tab separates the columns of a table.
            let is_hidden = |letter: char| letter.is_control() && letter != '\t' || letter == '\u{202e}';
            assert!(!line.contains(is_hidden), "{options:?}: {line:?}");
            assert!(line.matches('\t').count() < 2, "{options:?}: {line:?}");
        }
    }
}
