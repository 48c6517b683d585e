//! CPU 1 goes offline and returns while a set counts. A separate test binary with one test, because it
//! changes the machine.

#![allow(clippy::unwrap_used)] // a failure here fails the test

mod set_support;

use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use perf_events::sys::{Errno, Record, Software};
use perf_events::{CpuList, Place, Refreshed, Set, SetError, SetOptions, SetTarget, System};
use rustix::thread::{CpuSet, sched_setaffinity};
use set_support::{Tree, open_or_skip, refused, software, switch, switches, tid};

const CPU: u32 = 1;
const ONLINE: &str = "/sys/devices/system/cpu/cpu1/online";

/// CPU 1, which is online again when this is dropped.
struct Plug;

impl Plug {
    /// Takes the CPU offline, or returns why that is not possible.
    fn pull() -> io::Result<Self> {
        if !CpuList::online(&System::new()).unwrap().contains(CPU) {
            return Err(io::Error::other("there is no CPU 1, or it is offline"));
        }
        fs::write(ONLINE, "0").map(|()| Self)
    }
}

impl Drop for Plug {
    fn drop(&mut self) {
        fs::write(ONLINE, "1").unwrap();
    }
}

/// Makes context switches on CPU 1 in a new thread, and returns the thread's id.
fn switch_there(times: u64) -> u32 {
    let there = thread::spawn(move || {
        let mut cpus = CpuSet::new();
        cpus.set(CPU as usize);
        sched_setaffinity(None, &cpus).unwrap();
        switch(times);
        tid()
    });
    there.join().unwrap()
}

/// Returns the context switches of CPU 1.
fn counted(set: &mut Set) -> u64 {
    let counts = set.counts().unwrap();
    let cpus = counts.get(0).unwrap().by_cpu();
    cpus.iter().find(|(cpu, _)| *cpu == CPU).map_or(0, |(_, count)| count.value)
}

fn one() -> CpuList {
    std::iter::once(CPU).collect()
}

/// Drains the set, and returns the number of samples of a thread on CPU 1.
fn samples(set: &mut Set, thread: u32) -> usize {
    let mut found = 0;
    set.flush_sorted(|record| {
        if let (Some(CPU), Ok(Record::Sample(sample))) = (record.place().cpu_id(), record.decode()) {
            found += usize::from(sample.tid() == Some(thread));
        }
    })
    .unwrap();
    found
}

#[test]
fn events_of_a_cpu_that_was_offline_are_opened_again() {
    let options = SetOptions::new().events([switches(), software(Software::CPU_CLOCK)]).ring_pages(64);
    let Some(mut set) = open_or_skip(options.clone()) else { return };
    set.enable().unwrap();
    if !set.cpus().contains(CPU) {
        return eprintln!("skipped: there is no CPU 1, or it is offline");
    }
    let before = switch_there(20);
    assert_eq!(set.refresh().unwrap(), Refreshed::default(), "nothing has changed");

    // The set finds the CPU offline.
    let plug = match Plug::pull() {
        Ok(plug) => plug,
        Err(error) => return eprintln!("skipped: CPU 1 cannot go offline: {error}"),
    };
    let refreshed = set.refresh().unwrap();
    assert_eq!((refreshed.closed, refreshed.opened), (one(), CpuList::default()));
    assert_eq!(set.offline(), &one());
    assert!(!set.cpus().contains(CPU));
    let old = counted(&mut set);
    assert!(old >= 20, "the count of the closed event is kept: {old}");
    assert_eq!(set.ledger().gaps().len(), 1);
    assert_eq!(set.ledger().gaps()[0].to, None);
    assert_eq!(set.rings().unwrap().len(), set.cpus().len() + 1, "the closed ring has records");
    assert!(samples(&mut set, before) >= 20);
    assert_eq!(set.rings().unwrap().len(), set.cpus().len(), "the drained ring is removed");

    // Other sets skip it.
    let other = options.clone().open().unwrap();
    assert_eq!(other.offline(), &one());
    assert!(!other.cpus().contains(CPU));
    let error = refused(options.clone().target(SetTarget::cpus(one())));
    assert!(matches!(&error, SetError::AllOffline { cpus } if *cpus == one()), "{error}");

    // Events of a task open on an offline CPU, and count when it is back.
    let tasks = options.clone().target(SetTarget::process(std::process::id()));
    let mut tasks = tasks.open().unwrap();
    assert!(tasks.cpus().contains(CPU));
    tasks.enable().unwrap();

    // Its list of online CPUs is not that of the kernel.
    let tree = Tree::new(&[("cpu/online", "0-1\n"), ("cpu/possible", "0-1\n")]);
    let descriptors = set_support::descriptors();
    let error = refused(options.clone().system(System::at(&tree.0)));
    let event = error.event().unwrap();
    assert_eq!((event.place, event.error.errno()), (Place::cpu(CPU), Some(Errno::ENODEV)), "{error}");
    assert_eq!(set_support::descriptors(), descriptors, "those of CPU 0 are closed");

    drop(plug);
    assert_eq!(set.refresh().unwrap().opened, one());
    assert!(set.offline().is_empty() && set.cpus().contains(CPU));
    let gap = set.ledger().gaps()[0];
    assert!(gap.to.is_some_and(|to| to > gap.from), "{gap}");
    let after = switch_there(30);
    assert!(counted(&mut set) >= old + 30);
    assert!(samples(&mut set, after) >= 30);
    tasks.disable().unwrap();
    assert!(samples(&mut tasks, after) >= 30);

    // The CPU goes offline and returns between two looks.
    let cgroup = set_support::cgroup2().and_then(|dir| options.target(SetTarget::cgroup(dir)).open().ok());
    let mut sets: Vec<Set> = std::iter::once(set).chain(cgroup).collect();
    for set in &mut sets {
        set.enable().unwrap();
        set.refresh().unwrap(); // sees the events alive
    }
    match Plug::pull() {
        Ok(plug) => drop(plug),
        Err(error) => return eprintln!("skipped: CPU 1 cannot go offline again: {error}"),
    }
    let mut stopped = Vec::new();
    for set in &mut sets {
        stopped.push(counted(set));
        let mut looks = 0;
        while set.refresh().unwrap().opened.is_empty() {
            looks += 1;
            assert!(looks < 10_000, "the set never notices that the events are dead");
            thread::sleep(Duration::from_millis(1));
        }
    }
    let last = switch_there(40);
    for (set, stopped) in sets.iter_mut().zip(stopped) {
        assert!(counted(set) >= stopped + 40);
    }
    let mut set = sets.swap_remove(0);

    assert!(samples(&mut set, last) >= 40);
    assert_eq!(set.rings().unwrap().len(), set.cpus().len());
    let ledger = set.close().unwrap();
    assert_eq!(ledger.gaps().len(), 2);
    let report = ledger.nothing_lost().unwrap_err().to_string();
    assert!(report.contains("CPU 1: 2 times without events while offline"), "{report}");
}
