//! CPU 1 goes offline and returns while a set counts. A separate test binary whose tests run one
//! after the other, because they change the machine.

#![allow(clippy::unwrap_used)] // a failure here fails the test

mod support;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use perf_session::ring::{Errno, Record, Software};
use perf_session::{
    CpuList, EventSet, EventSetError, EventSetOptions, EventSetTarget, Refreshed, Scope, System,
};
use rustix::thread::{CpuSet, sched_setaffinity};
use support::set::{Tree, open_or_skip, refused, software, switch, switches, tid};

const CPU: u32 = 1;
const ONLINE: &str = "/sys/devices/system/cpu/cpu1/online";

/// The right to take the CPU offline. It is online again after the test, also if another thread of
/// a failed test was to do that.
struct Alone {
    _machine: MutexGuard<'static, ()>,
    was_online: bool,
}

impl Drop for Alone {
    fn drop(&mut self) {
        if self.was_online && !is_online() {
            fs::write(ONLINE, "1").unwrap();
        }
    }
}

fn alone() -> Alone {
    static MACHINE: Mutex<()> = Mutex::new(());
    let machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    Alone { _machine: machine, was_online: is_online() }
}

fn is_online() -> bool {
    CpuList::online(&System::new()).unwrap().contains(CPU)
}

/// CPU 1, which is online again when this is dropped.
struct Plug;

impl Plug {
    /// Takes the CPU offline, or returns why that is not possible.
    fn pull() -> io::Result<Self> {
        if !is_online() {
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
fn counted(set: &mut EventSet) -> u64 {
    let counts = set.counts().unwrap();
    let cpus = counts.split_by(Scope::cpu_id);
    cpus.iter().find(|(cpu, _)| *cpu == CPU).map_or(0, |(_, counts)| counts.get(0).unwrap().total().value)
}

fn one() -> CpuList {
    std::iter::once(CPU).collect()
}

/// Drains the set, and returns the number of samples of a thread on CPU 1.
fn samples(set: &mut EventSet, thread: u32) -> usize {
    let mut found = 0;
    set.flush_sorted(|record| {
        if let (Some(CPU), Ok(Record::Sample(sample))) = (record.scope().cpu_id(), record.decode()) {
            found += usize::from(sample.tid() == Some(thread));
        }
    })
    .unwrap();
    found
}

#[test]
fn events_of_a_cpu_that_was_offline_are_opened_again() {
    let _alone = alone();
    let options = EventSetOptions::new().events([switches(), software(Software::CPU_CLOCK)]).ring_pages(64);
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
    let error = refused(options.clone().target(EventSetTarget::cpus(one())));
    assert!(matches!(&error, EventSetError::AllOffline { cpus } if *cpus == one()), "{error}");

    // Events of a task open on an offline CPU, and count when it is back.
    let tasks = options.clone().target(EventSetTarget::process(std::process::id()));
    let mut tasks = tasks.open().unwrap();
    assert!(tasks.cpus().contains(CPU));
    tasks.enable().unwrap();

    // Its list of online CPUs differs from the kernel's.
    let tree = Tree::new(&[("cpu/online", "0-1\n"), ("cpu/possible", "0-1\n")]);
    let descriptors = support::set::descriptors();
    let error = refused(options.clone().system(System::at(&tree.0)));
    let event = error.event().unwrap();
    assert_eq!((event.scope, event.error.errno()), (Scope::cpu(CPU), Some(Errno::ENODEV)), "{error}");
    assert_eq!(support::set::descriptors(), descriptors, "those of CPU 0 are closed");

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
    let cgroup =
        support::set::cgroup2().and_then(|dir| options.target(EventSetTarget::cgroup(dir)).open().ok());
    let mut sets: Vec<EventSet> = std::iter::once(set).chain(cgroup).collect();
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

/// Takes the CPU offline and online again. Returns `false`, with the reason printed, if that is not
/// possible.
fn replug() -> bool {
    match Plug::pull() {
        Ok(plug) => drop(plug),
        Err(error) => {
            eprintln!("skipped: CPU 1 cannot go offline: {error}");
            return false;
        }
    }
    true
}

#[test]
fn disabled_events_stay_disabled_when_their_cpu_returns() {
    let _alone = alone();
    let on_cpu = |set: &EventSet| {
        set.events().filter(|event| event.scope == Scope::cpu(CPU)).for_each(|event| {
            event.event.disable().unwrap();
        });
    };
    let disable: [(Disable<'_>, bool); 3] = [
        (&on_cpu, true),
        (&|set| set.rings().unwrap().disable().unwrap(), false), // not seen before the CPU is offline
        (&|set| set.events().for_each(|event| event.event.disable().unwrap()), false),
    ];
    for (disable, is_seen) in disable {
        let clocks = [software(Software::CPU_CLOCK), switches()];
        let Some(mut set) = open_or_skip(EventSetOptions::new().events(clocks).ring_pages(8)) else { return };
        set.enable().unwrap();
        set.refresh().unwrap();
        thread::sleep(Duration::from_millis(30));
        disable(&set);
        let stopped = counted(&mut set);
        if is_seen {
            thread::sleep(Duration::from_millis(30));
            assert_eq!(set.refresh().unwrap(), Refreshed::default());
        }
        if !set.cpus().contains(CPU) || !replug() {
            return;
        }
        let refreshed = set.refresh().unwrap();
        assert_eq!((refreshed.closed, refreshed.opened), (one(), one()));
        thread::sleep(Duration::from_millis(5));
        assert_eq!(counted(&mut set), stopped);
        assert_eq!(set.ledger().gaps(), [], "nothing was to be counted");
        set.enable().unwrap();
        thread::sleep(Duration::from_millis(5));
        assert!(counted(&mut set) > stopped);
    }
}

#[test]
fn cpus_that_came_online_are_counted_once_for_their_package() {
    let _alone = alone();
    let package = |cpu: u32| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        fs::read_to_string(path).ok()
    };
    if package(0).is_none() || package(0) != package(CPU) {
        return eprintln!("skipped: CPUs 0 and 1 are not of one package");
    }
    let plug = match Plug::pull() {
        Ok(plug) => plug,
        Err(error) => return eprintln!("skipped: CPU 1 cannot go offline: {error}"),
    };
    let clock = software(Software::CPU_CLOCK).with_per_package(true);
    let Some(mut set) = open_or_skip(EventSetOptions::new().event(clock)) else { return };
    drop(plug);
    set.enable().unwrap();
    assert_eq!(set.refresh().unwrap().opened, one());
    let counts = set.counts().unwrap();
    let repeated = counts.get(0).unwrap().scopes.iter().map(|count| count.is_repeated);
    assert_eq!(repeated.collect::<Vec<bool>>(), [false, true]);
}

/// Disables events of a set by another handle.
type Disable<'a> = &'a dyn Fn(&EventSet);

/// A text, and what happens before it is written.
type Step = (&'static str, Box<dyn FnOnce() + Send>);

/// Writes each text to a separate reader of the file, after the step before it.
fn serve(file: &Path, steps: Vec<Step>) {
    let new = file.with_extension("new");
    let fifo = || assert!(Command::new("mkfifo").arg(&new).status().unwrap().success());
    fifo();
    fs::rename(&new, file).unwrap();
    let mut steps = steps.into_iter().peekable();
    while let Some((text, step)) = steps.next() {
        let mut reader = OpenOptions::new().write(true).open(file).unwrap(); // waits for the reader
        if steps.peek().is_some() {
            fifo();
        } else {
            fs::write(&new, text).unwrap();
        }
        fs::rename(&new, file).unwrap();
        step();
        reader.write_all(text.as_bytes()).unwrap();
    }
}

#[test]
fn cpu_that_comes_or_goes_while_events_are_opened_has_the_right_events() {
    let _alone = alone();
    let tree = Tree::new(&[("cpu/online", ""), ("cpu/possible", "0-1\n")]);
    let online = tree.0.join("sys/devices/system/cpu/online");
    let options = EventSetOptions::new().event(software(Software::CPU_CLOCK)).system(System::at(&tree.0));
    let plug = match Plug::pull() {
        Ok(plug) => plug,
        Err(error) => return eprintln!("skipped: CPU 1 cannot go offline: {error}"),
    };
    let open = |steps: Vec<Step>| {
        let (sender, done) = channel();
        let online = online.clone();
        thread::spawn(move || {
            serve(&online, steps);
            sender.send(()).unwrap();
        });
        while fs::symlink_metadata(tree.0.join("sys/devices/system/cpu/online")).unwrap().is_file() {
            thread::sleep(Duration::from_millis(1)); // until the thread serves it
        }
        let set = open_or_skip(options.clone());
        done.recv_timeout(support::set::PATIENCE.unwrap()).unwrap();
        set
    };

    // The CPU is in the list before the kernel has brought it up, and is opened as soon as it is
    // up.
    let Some(set) = open(vec![
        ("0-1\n", Box::new(|| {})),
        ("0-1\n", Box::new(|| drop(plug))),
        ("0-1\n", Box::new(|| {})),
    ]) else {
        return;
    };
    assert!(set.cpus().contains(CPU) && set.offline().is_empty());

    // It goes offline after its events were opened.
    let set = open(vec![("0-1\n", Box::new(|| {})), ("0\n", Box::new(|| {}))]).unwrap();
    assert!(!set.cpus().contains(CPU));
    assert_eq!(set.offline(), &one());
}
