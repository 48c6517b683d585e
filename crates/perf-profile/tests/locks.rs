//! Waits for locks in a recording of `perf record` with the events of `perf lock record`.

#![cfg(feature = "perf-data")]
#![allow(clippy::cast_precision_loss, reason = "times of a small recording are exact")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use perf_profile::read::{LocksError, LocksReader, Recording};
use perf_profile::{Durations, LockId};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Returns a time as `perf lock contention` prints it, which divides in single precision.
fn time(ns: f64) -> String {
    let (base, unit) = match ns {
        1e9.. => (1e9_f32, "s"),
        1e6.. => (1e6, "ms"),
        1e3.. => (1e3, "us"),
        _ => (1.0, "ns"),
    };
    format!("{:.2} {unit}", ns as f32 / base)
}

#[test]
fn waits_for_each_lock_are_those_of_perf_lock_contention() {
    let read = LocksReader::new(Recording::open(data("locks.data")).unwrap()).unwrap().read().unwrap();
    let mut by_address: BTreeMap<u64, Durations> = BTreeMap::new();
    for (lock, _, sums) in read.locks.waits() {
        let LockId::Kernel { address, .. } = lock else { panic!("{lock:?}") };
        by_address.entry(address).or_default().merge(&sums.waits);
    }
    // `perf lock contention -l` of perf 7.2: number, sum, maximum, average, address, kind.
    let expected = fs::read_to_string(data("lock-contention.txt")).unwrap();
    for line in expected.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let waits = by_address.remove(&u64::from_str_radix(words[7], 16).unwrap()).unwrap();
        let [total, max] = [waits.total(), waits.max()].map(|ns| time(ns as f64));
        let found = [waits.count().to_string(), total, max, time(waits.mean().unwrap())];
        assert_eq!(found.join(" "), words[..7].join(" "), "{line}");
    }
    assert!(by_address.is_empty() && expected.lines().count() > 5, "{by_address:?}");
    assert!(read.has_kernel && !read.has_user && read.locks.lost() == 0);
    read.finish().unwrap();
}

#[test]
fn recording_without_locks_is_refused() {
    let error = LocksReader::new(Recording::open(data("sched.data")).unwrap()).unwrap_err();
    let reason = error.get_ref().and_then(|error| error.downcast_ref());
    assert_eq!(reason, Some(&LocksError::NoLocks));
}
