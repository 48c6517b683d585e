//! `perfkit dump` on captured `perf.data` files, compared with the output of another decoder, and
//! on damaged files.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::support::run::{Run, dump_file, dump_stdin, dump_to_closed_pipe, perfkit};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-decode/tests/data")
}

fn path(name: &str) -> PathBuf {
    data().join(format!("{name}.data"))
}

/// Returns the names of all captured files.
fn files() -> Vec<String> {
    let names = fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<_> = names.filter_map(|name| Some(name.strip_suffix(".data")?.to_owned())).collect();
    files.sort();
    files
}

/// Returns the records as the other decoder printed them.
fn oracle(file: &str) -> Vec<Value> {
    let packed = File::open(data().join(format!("{file}.records.json.gz"))).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    whole["records"].as_array().unwrap().clone()
}

/// Returns a record without the fields of tools' records, the names of events and the fields of
/// tracepoints, which the other decoder does not print.
fn comparable(mut record: Value) -> Value {
    for key in ["event", "tracepoint"] {
        record.as_object_mut().unwrap().remove(key);
    }
    if record["type"].as_u64() >= Some(64) && record["name"] != "COMPRESSED" {
        record.as_object_mut().unwrap().remove("fields");
    }
    record
}

#[test]
fn every_record_of_a_captured_file_equals_that_of_the_oracle() {
    let mut compared = 0;
    for file in files() {
        let (run, expected) = (dump_file(&path(&file), &["--json"]), oracle(&file));
        assert!(run.is_clean(), "{file}: {run:?}");
        let found = run.records();
        for (found, expected) in found.into_iter().zip(&expected) {
            assert_eq!(&comparable(found), expected, "{file}");
            compared += 1;
        }
        assert_eq!(run.lines.len(), expected.len(), "{file}");
    }
    println!("{compared} records");
    assert_eq!(compared, 5199);
}

#[test]
fn records_of_tools_have_typed_fields() {
    let run = dump_file(&path("stat-record"), &["--json"]);
    let stat = run.records().into_iter().find(|record| record["type"] == 76).unwrap();
    let keys = ["id", "cpu", "thread", "val", "time_enabled", "time_running"];
    assert!(keys.iter().all(|key| stat["fields"][key].is_u64()), "{stat}");
    let ids = run.records().into_iter().find(|record| record["type"] == 74).unwrap();
    assert_eq!(ids["fields"]["cpus"], serde_json::json!([-1]));
}

#[test]
fn sorted_records_are_in_the_order_of_time() {
    for file in ["sched-raw", "zstd", "switch-cpuwide", "pipe"] {
        let run = dump_file(&path(file), &["--json", "--sorted"]);
        assert!(run.is_clean(), "{file}: {run:?}");
        let time = |record: &Value| {
            let fields = &record["fields"];
            let time = fields["sample_id"]["time"].as_u64().or(fields["time"].as_u64());
            time.filter(|time| *time > 0 && record["type"].as_u64() < Some(64))
        };
        let times: Vec<_> = run.records().iter().filter_map(time).collect();
        assert!(times.len() > 10 && times.is_sorted(), "{file}: {times:?}");
        let mut found: Vec<_> = run.records().into_iter().map(|record| record.to_string()).collect();
        let unsorted = dump_file(&path(file), &["--json"]).records();
        let mut expected: Vec<_> = unsorted.into_iter().map(|record| record.to_string()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{file}");
    }
}

#[test]
fn text_has_a_line_for_each_record() {
    for file in ["pipe", "zstd", "stat-record", "inject-buildid", "big-stack"] {
        let run = dump_file(&path(file), &[]);
        assert!(run.is_clean(), "{file}: {run:?}");
        let (about, records): (Vec<_>, Vec<_>) = run.lines.iter().partition(|line| line.starts_with("# "));
        assert_eq!(records.len(), oracle(file).len(), "{file}");
        assert!(
            file == "pipe" || about.iter().any(|line| line.starts_with("# event 0 ")),
            "{file}: {about:?}"
        );
    }
    let run = dump_file(&path("zstd"), &[]);
    let line = run.lines.iter().find(|line| line.contains(" COMPRESSED ")).unwrap();
    assert_eq!(line, "0x000278   499 COMPRESSED compressed_bytes=491 decompressed_bytes=3168");
}

#[test]
fn samples_have_the_name_of_their_event() {
    let names = |record: &Value| record["event"].as_str().map(str::to_owned);
    let run = dump_file(&path("irq-exc-tp"), &["--json"]);
    let samples: Vec<_> = run.records().into_iter().filter(|record| record["name"] == "SAMPLE").collect();
    let mut found: Vec<_> = samples.iter().filter_map(names).collect();
    assert_eq!(found.len(), samples.len());
    found.sort();
    found.dedup();
    assert!(found.len() > 3 && found.iter().all(|name| name.contains(':')), "{found:?}");
    let text = dump_file(&path("irq-exc-tp"), &[]).lines;
    for name in &found {
        assert!(text.iter().any(|line| line.contains(&format!("[{name}] SAMPLE"))), "{name}");
        assert!(
            text.iter().any(|line| line.starts_with("# event ") && line.contains(name.as_str())),
            "{name}"
        );
    }
}

#[test]
fn samples_of_tracepoints_have_their_fields() {
    let fields = "../crates/perf-tracepoint/tests/data/irq-exc-tp.tpfields.jsonl.gz";
    let packed = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(fields)).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let run = dump_file(&path("irq-exc-tp"), &["--json"]);
    let samples = run.records().into_iter().filter(|record| record["name"] == "SAMPLE");
    let samples: Vec<Value> = samples.collect();
    assert_eq!(samples.len(), text.lines().count());
    let mut compared = 0;
    // The other decoder prints the samples in time order.
    for line in text.lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let is_same = |found: &&Value| found["fields"]["time"] == expected["sample"]["time"];
        let found = &samples.iter().find(is_same).unwrap()["tracepoint"];
        let numbers = expected["fields"].as_object().unwrap().iter().filter(|(_, value)| value.is_number());
        for (key, value) in numbers.filter(|(key, _)| !key.starts_with("common_")) {
            // It prints pointers as numbers.
            let same = found[key] == *value || found[key] == format!("{:#x}", value.as_u64().unwrap_or(0));
            assert!(same, "{key}: {found} {expected}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
    let lines = dump_file(&path("irq-exc-tp"), &[]).lines;
    let samples: Vec<_> = lines.iter().filter(|line| line.contains(" SAMPLE ")).collect();
    assert!(samples.iter().all(|line| !line.contains(" raw=")), "{samples:?}");
}

#[test]
fn features_of_every_file_are_printed_and_verified() {
    for file in files() {
        let (text, json) =
            (dump_file(&path(&file), &["--features"]), dump_file(&path(&file), &["--features", "--json"]));
        assert!(text.is_clean() && json.is_clean(), "{file}: {text:?} {json:?}");
        assert_eq!(text.lines.len(), json.records().len(), "{file}");
    }
    let run = dump_file(&path("cgroup"), &["--features"]);
    assert!(run.lines.iter().any(|line| line.starts_with("HOSTNAME: \"")), "{run:?}");
}

#[test]
fn truncated_feature_is_an_error() {
    let bytes = fs::read(path("cgroup")).unwrap();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("feature-cut.data");
    fs::write(&file, &bytes[..bytes.len() - 9]).unwrap();
    let run = dump_file(&file, &["--features"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(!run.errors.is_empty(), "{run:?}");
    // After all records, which are whole.
    for more in [&[][..], &["--json"], &["--sorted"]] {
        let (cut, whole) = (dump_file(&file, more), dump_file(&path("cgroup"), more));
        assert!(cut.has_one_error() && whole.is_clean(), "{more:?}: {cut:?}");
        assert!(cut.errors[0].contains("feature-cut.data: the build ids and other metadata"), "{cut:?}");
        let records =
            |run: &Run| run.lines.iter().filter(|line| !line.starts_with('#')).cloned().collect::<Vec<_>>();
        assert_eq!(records(&cut), records(&whole), "{more:?}");
    }
}

#[test]
fn features_of_a_pipe_have_their_content() {
    let run = dump_file(&path("pipe"), &["--json"]);
    assert!(run.is_clean(), "{run:?}");
    let features: Vec<_> = run.records().into_iter().filter(|record| record["name"] == "FEATURE").collect();
    let host = features.iter().find(|feature| feature["fields"]["feature_name"] == "HOSTNAME").unwrap();
    assert!(host["fields"]["content"].is_string(), "{host}");
    let mark = &features.last().unwrap()["fields"];
    assert!(mark["content"].is_null() && mark["feature"].is_u64(), "{mark}");
}

#[test]
fn perf_data_of_the_current_folder_is_the_default() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("default-file");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(path("cgroup"), folder.join("perf.data")).unwrap();
    let output = perfkit().arg("--json").current_dir(&folder).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), oracle("cgroup").len());
}

#[test]
fn standard_input_is_a_pipe_or_a_file() {
    let bytes = fs::read(path("pipe")).unwrap();
    let mut child = perfkit()
        .args(["-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), oracle("pipe").len());
    for name in ["pipe", "cgroup"] {
        let run = dump_stdin(File::open(path(name)).unwrap().into(), &["--json"]);
        assert!(run.is_clean(), "{name}: {run:?}");
        assert_eq!(run.lines.len(), oracle(name).len(), "{name}");
    }
}

/// Writes bytes to a file and dumps it. No other test may use its name.
fn dump_bytes(name: &str, bytes: &[u8]) -> Run {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    dump_file(&path, &["--json"])
}

#[test]
fn truncated_file_gives_its_whole_records_and_one_error() {
    let bytes = fs::read(path("clock-tai")).unwrap();
    let expected = oracle("clock-tai");
    // In the middle of the tenth record.
    let end = usize::try_from(expected[9]["offset"].as_u64().unwrap()).unwrap() + 12;
    let run = dump_bytes("truncated.data", &bytes[..end]);
    assert!(run.has_one_error(), "{run:?}");
    assert_eq!(run.lines.len(), 9);
    assert!(run.errors[0].contains("the file is truncated"), "{run:?}");
}

#[test]
fn interrupted_recording_is_recovered() {
    let mut bytes = fs::read(path("clock-tai")).unwrap();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let end = usize::try_from(word(40) + word(48)).unwrap();
    bytes.truncate(end);
    bytes[48..56].fill(0);
    let run = dump_bytes("interrupted.data", &bytes);
    assert!(run.is_clean(), "{run:?}");
    assert_eq!(run.lines.len(), oracle("clock-tai").len());
}

#[test]
fn other_files_are_refused_with_one_error() {
    for (name, bytes) in [("empty.data", &b""[..]), ("text.data", b"not a perf.data file")] {
        let run = dump_bytes(name, bytes);
        assert!(run.has_one_error() && run.lines.is_empty(), "{name}: {run:?}");
        assert!(run.errors[0].contains("expected a perf.data file"), "{run:?}");
    }
    assert!(dump_file(Path::new("/nowhere/perf.data"), &[]).has_one_error());
}

#[test]
fn closed_output_ends_the_dump_without_an_error() {
    for (lines, more) in [(0, &["--json"][..]), (3, &["--json"]), (1, &[])] {
        // More than the capacity of a pipe, so that a write fails.
        let run = dump_to_closed_pipe(&path("big-stack"), lines, more);
        assert!(run.is_clean() && run.lines.len() == lines, "{lines} lines: {run:?}");
    }
}
