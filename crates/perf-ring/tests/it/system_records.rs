//! Records about the whole system, of events on a CPU and of cgroups.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use perf_decode::SwitchDirection;
use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

use crate::prelude::*;

/// Runs `test` on a new thread that stays on one CPU.
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
fn new_cgroup_is_recorded_with_its_path_and_its_id() {
    on_one_cpu(|cpu| {
        let Some(root) = cgroup2() else { return eprintln!("skipped: no cgroup2 is mounted") };
        // On a CPU, some kernels ignore this flag unless another flag requests side-band records.
        let targets = [
            (AttrFlags::CGROUP, Target::calling_thread()),
            (AttrFlags::CGROUP | AttrFlags::COMM, Target::cpu(cpu)),
        ];
        for (flags, target) in targets {
            let Some(mut ring) = sideband(flags, target) else { return };
            let place = root.join(format!("perf-ring-test-{}", std::process::id()));
            if let Err(error) = during(&ring, || fs::create_dir(&place)) {
                return skip(format_args!("{}: {error}", place.display()));
            }
            let id = fs::metadata(&place).unwrap().ino();
            fs::remove_dir(&place).unwrap();
            let found = filter_map(&mut ring, |record| match record {
                Record::Cgroup(cgroup) => {
                    Some((cgroup.id(), String::from_utf8_lossy(cgroup.path()).into_owned()))
                }
                _ => None,
            });
            // Only the last component, because in a cgroup namespace the mount is not the root.
            let is_it = |(found, path): &(u64, String)| {
                *found == id && Path::new(path).file_name() == place.file_name()
            };
            assert!(found.iter().any(is_it), "{id} {}: {found:?}", place.display());
        }
    });
}

#[test]
fn switches_of_a_cpu_have_the_next_and_the_previous_task() {
    on_one_cpu(|cpu| {
        let Some(mut ring) = sideband(AttrFlags::CONTEXT_SWITCH, Target::cpu(cpu)) else { return };
        during(&ring, || switch(3));
        let layout = SampleLayout::new(ring.event().attr());
        let mut batch = ring.batch().unwrap();
        let switches = batch.records().map(|record| {
            let record = record.unwrap();
            let Record::SwitchCpuWide(switch) = record.decode(&layout).unwrap() else { panic!("{record:?}") };
            (
                switch.direction() != SwitchDirection::In,
                record.sample_id(&layout).unwrap().tid().unwrap(),
                switch.next_prev_tid(),
            )
        });
        let switches = switches.collect::<Vec<_>>();
        let ours = |out| switches.iter().filter(|switch| (switch.0, switch.1) == (out, tid())).count();
        assert!(ours(true) >= 3 && ours(false) >= 3, "{switches:?}");
        for pair in switches.windows(2) {
            // The kernel writes no records for some kernel threads.
            if let (true, left, next @ 1..) = pair[0] {
                if next == tid() || pair[1].1 == next {
                    assert_eq!(pair[1], (false, next, left), "{switches:?}");
                }
            }
        }
    });
}
