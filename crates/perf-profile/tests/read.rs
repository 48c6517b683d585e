//! Profiles of the recordings of `perf-decode/tests/data`, which the perf tool has made.

#![cfg(feature = "perf-data")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use perf_decode::Record;
use perf_file::Reader;
use perf_profile::read::{Filter, OffCpuError, ProfileReader, Recording};
use perf_profile::{Column, Profile};

#[allow(dead_code, reason = "the function is run by the test below")]
#[path = "../examples/profile_of_file.rs"]
mod profile_of_file;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../perf-decode/tests/data")
}

fn samples(profile: &Profile) -> u64 {
    profile.event_ids().map(|(event, _)| profile.sample_count(event)).sum()
}

/// Returns the number of samples in the records of a file, counted by a plain loop.
fn samples_in_records(path: &Path) -> u64 {
    let mut reader = Reader::open(path).unwrap();
    let mut samples = 0;
    while let Ok(Some(record)) = reader.next() {
        let is_sample = || matches!(record.decode(), Ok(Record::Sample(_)));
        samples += u64::from(record.kernel().is_some() && is_sample());
    }
    samples
}

#[test]
fn profile_of_each_recording_has_its_samples() {
    let mut recordings = 0;
    for entry in fs::read_dir(data()).unwrap() {
        let path = entry.unwrap().path();
        // A leader's samples have the counts of a group.
        let is_group = path.ends_with("leader-sampling.data");
        if path.extension().is_none_or(|extension| extension != "data") || is_group {
            continue;
        }
        let read = ProfileReader::open(&path).unwrap().without_lines().read().unwrap();
        assert_eq!(samples(&read.profile), samples_in_records(&path), "{}", path.display());
        read.finish().unwrap();
        recordings += 1;
    }
    assert!(recordings > 30, "{recordings}");
}

#[test]
fn table_has_the_totals_of_the_profile() {
    let path = data().join("cpuclock-fp.data");
    let read = ProfileReader::open(&path).unwrap().read().unwrap();
    let table = ProfileReader::open(&path).unwrap().with_table(&[Column::Function]).read().unwrap();
    let (event, _) = read.profile.event_ids().next().unwrap();
    assert!(read.profile.total(event) > 0);
    assert_eq!(table.profile.total(event), read.profile.total(event));
    assert!(table.table.is_some() && read.table.is_none());
}

#[test]
fn filter_and_events_leave_out_samples() {
    let path = data().join("cpuclock-fp.data");
    let reader = || ProfileReader::open(&path).unwrap();
    let mut filter = Filter::default();
    filter.pids = vec![0];
    assert_eq!(samples(&reader().with_filter(filter).read().unwrap().profile), 0);
    let names = reader().event_names().len();
    let none = reader().with_events(vec![false; names]).read().unwrap();
    assert_eq!(samples(&none.profile), 0);
    assert!(samples(&reader().read().unwrap().profile) > 0);
}

#[test]
fn waits_of_a_recording_without_switches_are_an_error() {
    let reader = ProfileReader::open(data().join("cpuclock-fp.data")).unwrap();
    let error = reader.with_waits(false).unwrap_err();
    let error = error.get_ref().and_then(|error| error.downcast_ref::<OffCpuError>());
    assert_eq!(error, Some(&OffCpuError::NoSwitches));
}

#[test]
fn damage_is_returned_after_the_profile_of_what_could_be_read() {
    let whole = fs::read(data().join("pipe.data")).unwrap();
    let path = std::env::temp_dir().join(format!("perf-profile-{}.data", std::process::id()));
    fs::write(&path, &whole[..whole.len() - 4]).unwrap();
    let read = ProfileReader::open(&path);
    fs::remove_file(&path).unwrap();
    let read = read.unwrap().read().unwrap();
    assert!(samples(&read.profile) > 0);
    let error = read.finish().unwrap_err().to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
}

#[test]
fn metadata_names_the_machine_and_the_events() {
    let recording = Recording::open(data().join("cpuclock-fp.data")).unwrap();
    let metadata = recording.metadata();
    assert!(metadata.arch.is_some() && metadata.release.is_some());
    assert!(metadata.events().any(|(name, _)| name.starts_with("cpu-clock")));
}
