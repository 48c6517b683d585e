//! Several threads that open or create the map of one path.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};

use crate::prelude::*;

fn spec(max_entries: u32) -> MapSpec<'static> {
    MapSpec::new(BpfMapType::HASH, max_entries)
}

/// Calls `open_or_create` from four threads at the same time, and returns what each did. All got
/// one map.
fn race(fs: &BpfFs, name: &str) -> Vec<PinOutcome> {
    const THREADS: usize = 4;
    let (start, found) = (Barrier::new(THREADS), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                let (map, outcome) = Pinned::open_or_create(fs.path(name).unwrap(), spec(16)).unwrap();
                found.lock().unwrap().push((map.fd().info().unwrap().id, outcome));
            });
        }
    });
    let (ids, outcomes): (HashSet<u32>, Vec<_>) = found.into_inner().unwrap().into_iter().unzip();
    assert_eq!(ids.len(), 1, "{outcomes:?}");
    outcomes
}

#[test]
fn one_of_several_threads_creates_the_map() {
    with_bpf_fs(|fs| {
        if permitted(MapFd::create(&spec(1).with_sizes(4, 8))).is_none() {
            return;
        }
        for number in 0..50 {
            let outcomes = race(fs, &format!("new_{number}"));
            let created = outcomes.iter().filter(|&outcome| *outcome == PinOutcome::Created).count();
            let opened = outcomes.iter().filter(|&outcome| *outcome == PinOutcome::Opened).count();
            assert_eq!((created, opened), (1, 3), "{outcomes:?}");
        }
    });
}

#[test]
fn one_of_several_threads_replaces_the_map() {
    with_bpf_fs(|fs| {
        for number in 0..50 {
            let name = format!("old_{number}");
            if permitted(Pinned::open_or_create(fs.path(&name).unwrap(), spec(8))).is_none() {
                return;
            }
            let outcomes = race(fs, &name);
            let replaced = outcomes.iter().filter(|found| matches!(found, PinOutcome::Replaced(_))).count();
            assert_eq!(replaced, 1, "{outcomes:?}");
        }
    });
}

#[test]
fn processes_without_the_lock_cause_no_other_error_than_contention() {
    with_bpf_fs(|fs| {
        let Some(foreign) = permitted(MapFd::create(&spec(16).with_sizes(4, 8))) else { return };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    // Either may lose against the other thread.
                    let _ = foreign.pin(fs.path("map").unwrap());
                    let _ = unpin(fs.path("map").unwrap());
                }
            });
            let _done = SetOnDrop(&done);
            for _ in 0..500 {
                match Pinned::open_or_create(fs.path("map").unwrap(), spec(16)) {
                    Ok(_) | Err(Error::Contended { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
    });
}
