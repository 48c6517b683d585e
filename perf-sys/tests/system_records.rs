//! Records about the whole system: from events that watch a CPU, or that the kernel tells of every task.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use perf_abi::AttrFlags;
use perf_decode::{Record, SampleLayout};
use perf_sys::Target;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
use support::{cgroup2, during, sideband, skip, switch, tid, told};

/// Runs `test` on a thread of its own that stays on one CPU.
fn on_one_cpu(test: fn(u32)) {
    let thread = std::thread::spawn(move || {
        let cpu = sched_getcpu();
        let mut only = CpuSet::new();
        only.set(cpu);
        sched_setaffinity(None, &only).unwrap();
        test(cpu as u32);
    });
    thread.join().unwrap();
}

#[test]
fn a_new_cgroup_is_told_with_its_path_and_its_id() {
    on_one_cpu(|cpu| {
        let Some(root) = cgroup2() else { return eprintln!("skipped: no cgroup2 is mounted") };
        // On a CPU the kernel forgets that this flag too asks for records, unless another does.
        let targets = [
            (AttrFlags::CGROUP, Target::calling_thread()),
            (AttrFlags::CGROUP | AttrFlags::COMM, Target::cpu(cpu)),
        ];
        for (flags, target) in targets {
            let Some(mut ring) = sideband(flags, target) else { return };
            let place = root.join(format!("perf-sys-told-{}", std::process::id()));
            if let Err(error) = during(&ring, || fs::create_dir(&place)) {
                return skip(format_args!("{}: {error}", place.display()));
            }
            let id = fs::metadata(&place).unwrap().ino();
            fs::remove_dir(&place).unwrap();
            let told = told(&mut ring, |record| match record {
                Record::Cgroup(told) => Some((told.id(), String::from_utf8_lossy(told.path()).into_owned())),
                _ => None,
            });
            // Of the path only the end: in a cgroup namespace the mount begins further down.
            let is_told = |(found, path): &(u64, String)| {
                *found == id && Path::new(path).file_name() == place.file_name()
            };
            assert!(told.iter().any(is_told), "{id} {}: {told:?}", place.display());
        }
    });
}

#[test]
fn a_cpu_tells_who_comes_after_whom() {
    on_one_cpu(|cpu| {
        let Some(mut ring) = sideband(AttrFlags::CONTEXT_SWITCH, Target::cpu(cpu)) else { return };
        during(&ring, || switch(3));
        let layout = SampleLayout::new(ring.event().attr());
        let mut batch = ring.batch().unwrap();
        let told = batch.records().map(|record| {
            let record = record.unwrap();
            let Record::SwitchCpuWide(told) = record.decode(&layout).unwrap() else { panic!("{record:?}") };
            (told.direction().out, record.sample_id(&layout).unwrap().tid().unwrap(), told.next_prev_tid())
        });
        let told = told.collect::<Vec<_>>();
        let ours = |out| told.iter().filter(|told| (told.0, told.1) == (out, tid())).count();
        assert!(ours(true) >= 3 && ours(false) >= 3, "{told:?}");
        for pair in told.windows(2) {
            // The idle task tells nothing of its own.
            if let (true, left, next @ 1..) = pair[0] {
                assert_eq!(pair[1], (false, next, left), "{told:?}");
            }
        }
    });
}
