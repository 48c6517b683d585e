//! Runs the examples, except the soaks, which have separate tests.

#![allow(clippy::unwrap_used)] // also in shared functions
#![allow(clippy::duplicate_mod)] // each example reads the CPUs itself

mod support;

#[allow(dead_code)] // its `main`
#[path = "../examples/constant_layout.rs"]
mod constant_layout;
#[allow(dead_code)] // its `main`
#[path = "../examples/cursor.rs"]
mod cursor;
#[allow(dead_code)] // its `main`
#[path = "../examples/flight_recorder.rs"]
mod flight_recorder;
#[allow(dead_code)] // its `main`
#[path = "../examples/stat.rs"]
mod stat;
#[allow(dead_code)] // its `main`
#[path = "../examples/system_wide.rs"]
mod system_wide;
#[allow(dead_code)] // its `main`
#[path = "../examples/threads.rs"]
mod threads;
#[allow(dead_code)] // its `main`
#[path = "../examples/tokio.rs"]
mod tokio_rings;
#[allow(dead_code)] // its `main`
#[path = "../examples/workers.rs"]
mod workers;

use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use perf_ring::{Attr, AttrFlags, Errno, Error, Software, Target};
use rustix::time::{ClockId, clock_gettime};
use support::{open_or_skip, skip, switch, tid};

/// Returns whether events of this target are permitted, or skips the test.
#[track_caller]
fn is_permitted(target: Target<'_>) -> bool {
    let own = target == Target::calling_thread();
    let flags = if own { AttrFlags::EXCLUDE_KERNEL } else { AttrFlags::empty() };
    open_or_skip(&Attr::software(Software::CPU_CLOCK).with_flags(flags), target).is_some()
}

/// Runs for this time on a CPU: on a busy machine that takes longer. The clock is read seldom,
/// because the kernel is not sampled.
fn spin(time: Duration) {
    let ran = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let end = ran() + time;
    while ran() < end {
        (0..10_000).for_each(|_| std::hint::spin_loop());
    }
}

#[test]
fn constant_layout_finds_time_and_address() {
    if is_permitted(Target::calling_thread()) {
        let samples = constant_layout::sample(|| spin(Duration::from_millis(100))).unwrap();
        assert!(samples.len() > 10 && samples.iter().all(|&(time, ip)| time > 0 && ip > 0), "{samples:x?}");
    }
}

#[test]
fn cursor_returns_every_sample() {
    if is_permitted(Target::calling_thread()) {
        let lines = cursor::profile(|| spin(Duration::from_millis(100))).unwrap();
        assert!(lines.values().sum::<u64>() > 10, "{lines:?}");
    }
}

#[test]
fn stream_of_all_cpus_has_every_event_in_order() {
    if !is_permitted(Target::cpu(0)) {
        return;
    }
    let caller = thread::spawn(|| {
        thread::sleep(Duration::from_millis(100)); // until it is sampled
        spin(Duration::from_millis(20));
        switch(5);
        std::hint::black_box(vec![1_u8; 1 << 22]);
        tid()
    });
    let summary = system_wide::sample(Duration::from_millis(1500)).unwrap();
    println!("{summary}");
    let caller = caller.join().unwrap();
    for event in [Software::CPU_CLOCK, Software::CONTEXT_SWITCHES, Software::PAGE_FAULTS] {
        let is_found = summary.samples.contains_key(&(event, caller));
        // Another program on this machine may sample the same event, or run so often that rings
        // overflow.
        let is_hidden = summary.lost != 0 || (summary.unknown != 0 && event != Software::CPU_CLOCK);
        assert!(is_found || is_hidden, "{event} of {caller}");
    }
    assert_eq!(summary.late, 0);
}

#[test]
fn recorder_has_the_last_switches_of_all_cpus() {
    if !is_permitted(Target::cpu(0)) {
        return;
    }
    let mut recorder = flight_recorder::Recorder::start(1 << 14).unwrap();
    switch(20);
    let last = recorder.last(1000).unwrap();
    let own = last.iter().filter(|switch| switch.tid == tid()).count();
    assert!(own >= 20 || last.len() == 1000, "{own} of {}", last.len());
    assert!(last.is_sorted_by(|new, old| new.time >= old.time), "{last:?}");
    switch(5);
    let next = recorder.last(1000).unwrap();
    assert!(next[0].time > last[0].time, "recording continues");
}

#[test]
fn thread_that_starts_later_is_followed() {
    if !is_permitted(Target::calling_thread()) {
        return;
    }
    let (start, started) = channel::<()>();
    let (send, sent) = channel();
    let parent = thread::spawn(move || {
        // The other end is dropped when the events have had time to open.
        let _ = started.recv();
        let child = thread::Builder::new().name("followed".into());
        let child = child.spawn(|| (tid(), spin(Duration::from_millis(100))).0).unwrap();
        send.send((tid(), child.join().unwrap())).unwrap();
    });
    let timer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(500));
        drop(start);
    });
    let threads = threads::sample(std::process::id(), Some(Duration::from_millis(1500))).unwrap();
    timer.join().unwrap();
    parent.join().unwrap();
    let (parent, child) = sent.recv().unwrap();
    let found = threads.get(&child);
    assert!(found.is_some_and(|thread| thread.samples > 10), "{child} of {threads:?}");
    assert_eq!(found.and_then(|thread| thread.parent), Some(parent), "{threads:?}");
    assert_eq!(found.and_then(|thread| thread.name.as_deref()), Some("followed"), "{threads:?}");
}

#[test]
fn worker_is_sampled_from_when_it_joins_until_it_leaves() {
    if !is_permitted(Target::calling_thread()) {
        return;
    }
    let profiler = workers::Profiler::new().unwrap();
    let (leaves, exits) = thread::scope(|scope| {
        let leaves = scope.spawn(|| {
            let number = profiler.join().unwrap();
            spin(Duration::from_millis(100));
            profiler.leave(number).unwrap();
            let before = profiler.collect().unwrap().threads;
            spin(Duration::from_millis(100));
            assert_eq!(before.get(&tid()), profiler.collect().unwrap().threads.get(&tid()));
            tid()
        });
        let exits = scope.spawn(|| {
            profiler.join().unwrap();
            spin(Duration::from_millis(100));
            tid()
        });
        (leaves.join().unwrap(), exits.join().unwrap())
    });
    let profile = profiler.collect().unwrap();
    let samples = [leaves, exits].map(|tid| profile.threads.get(&tid).copied().unwrap_or(0));
    assert!(samples.iter().all(|samples| (1..=110).contains(samples)), "{samples:?}");
    assert_eq!((profile.rings, profile.lost), (0, 0), "the ring of an exited thread is dropped");
}

#[test]
fn threads_are_followed_to_the_exit_of_their_process() {
    if !is_permitted(Target::calling_thread()) {
        return;
    }
    let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let pid = child.id();
    let killer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        child.kill().unwrap();
        child.wait().unwrap();
    });
    let threads = threads::sample(pid, None).unwrap();
    killer.join().unwrap();
    assert!(threads.get(&pid).is_some_and(|thread| thread.samples > 10), "{threads:?}");
}

#[test]
fn counts_are_of_the_program_and_its_children_alone() {
    if !is_permitted(Target::calling_thread()) {
        return;
    }
    std::hint::black_box(vec![1_u8; 1 << 24]); // 4096 page faults before the program
    let mut sh = Command::new("sh");
    sh.args(["-c", "for i in 1 2 3 4 5; do true; (exit); done"]);
    let counts = stat::run(&mut sh, |status, counts| {
        println!("{counts}");
        assert!(status.success());
        counts
            .events()
            .zip(counts.iter())
            .map(|(event, count)| (event.to_string(), count.value))
            .collect::<Vec<_>>()
    });
    let counts = counts.unwrap();
    let value = |event: &str| counts.iter().find(|(name, _)| name == event).unwrap().1;
    assert!(value("TASK_CLOCK") > 0, "{counts:?}");
    assert!((50..4000).contains(&value("PAGE_FAULTS")), "{counts:?}");
}

#[test]
fn missing_program_is_an_error_with_its_name() {
    if is_permitted(Target::calling_thread()) {
        let error = stat::run(&mut Command::new("/no/such/program"), |_, _| ()).unwrap_err();
        assert!(error.to_string().starts_with("/no/such/program: "), "{error}");
    }
}

#[test]
fn one_task_reads_many_rings_to_their_ends() {
    let samples = match tokio_rings::watch(6, 20) {
        Ok(samples) => samples,
        Err(error) => {
            let errno = error.downcast_ref().and_then(Error::errno);
            let refused = matches!(errno, Some(Errno::EACCES | Errno::EPERM | Errno::ENOSYS));
            assert!(refused, "{error}");
            return skip(error);
        }
    };
    assert!(samples.len() == 6 && samples.iter().all(|&samples| samples >= 20), "{samples:?}");
}
