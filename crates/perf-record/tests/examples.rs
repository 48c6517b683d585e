//! The examples, run on this kernel.

#![allow(clippy::unwrap_used)] // a failure fails the test

#[allow(dead_code)] // its `main`
#[path = "../examples/record_command.rs"]
mod record_command;
mod support;

use std::fs::File;
use std::process::Command;

use perf_record::file::{RawRecord, Reader};
use perf_record::session::ring::RecordType;
use support::skip;

#[test]
fn recorded_command_has_samples_and_the_mappings_of_the_command_and_the_kernel() {
    let path = std::env::temp_dir().join(format!("record_command-{}", std::process::id()));
    let mut busy = Command::new("sh");
    busy.args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"]);
    let recorded = record_command::record(File::create(&path).unwrap(), &mut busy);
    let mut kinds = Vec::new();
    if recorded.is_ok() {
        let mut reader = Reader::open(&path).unwrap();
        while let Some(record) = reader.next().unwrap() {
            kinds.extend(record.kernel().map(RawRecord::kind));
        }
    }
    std::fs::remove_file(&path).unwrap();
    let (samples, _) = match recorded {
        Ok(recorded) => recorded,
        Err(error) => return skip(error),
    };
    let found = |kind| kinds.iter().filter(|found| **found == kind).count();
    assert_eq!(found(RecordType::SAMPLE) as u64, samples);
    assert!(samples > 0 && found(RecordType::MMAP2) > 0 && found(RecordType::MMAP) > 0, "{kinds:?}");
}
