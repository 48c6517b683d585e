//! The examples, run on this kernel.

#![allow(clippy::unwrap_used)] // a failure fails the test

#[allow(dead_code)] // its `main`
#[path = "../examples/record_file.rs"]
mod record_file;

use std::process::Command;

use perf_record::session::ring::RecordType;

/// Prints the reason for a skipped test, or fails it with `PERFKIT_REQUIRE_LIVE=1`.
#[track_caller]
fn skip(reason: impl std::fmt::Display) {
    let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
    assert!(!required, "{reason}");
    eprintln!("skipped: {reason}");
}

#[test]
fn recorded_file_has_samples_and_mappings_of_the_command() {
    let path = std::env::temp_dir().join(format!("record_file-{}", std::process::id()));
    let mut busy = Command::new("sh");
    busy.args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"]);
    let recorded = record_file::record(std::fs::File::create(&path).unwrap(), &mut busy);
    let mut kinds = Vec::new();
    if recorded.is_ok() {
        let mut reader = perf_file::Reader::open(&path).unwrap();
        while let Some(record) = reader.next().unwrap() {
            kinds.extend(record.kernel().map(perf_file::RawRecord::kind));
        }
    }
    std::fs::remove_file(&path).unwrap();
    if let Err(error) = recorded {
        return skip(error);
    }
    assert!(kinds.contains(&RecordType::SAMPLE) && kinds.contains(&RecordType::MMAP2), "{kinds:?}");
}
