//! How many system calls it takes to read records, counted by the kernel's tracepoint of them.
//!
//! The waits have no end, for on some machines it is a system call to look at the clock.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;

use perf_sys::{Batch, Event, Readiness, Ring, Target};
use support::{count, open_or_skip, set_of, switch, switches, tracepoint};

/// Counts the system calls of this thread.
fn system_calls() -> Option<Event> {
    let calls = open_or_skip(&tracepoint("raw_syscalls/sys_enter")?, Target::calling_thread())?;
    calls.enable().unwrap();
    Some(calls)
}

/// A ring of this thread's switches that calls for each of them, not enabled.
fn ring() -> Option<Ring> {
    let attr = switches().with_wakeup_events(1);
    Some(Ring::map(open_or_skip(&attr, Target::calling_thread())?, 1).unwrap())
}

/// Puts records into the ring, and stops it: nothing disturbs what is counted.
fn fill(ring: &Ring) {
    ring.event().enable().unwrap();
    switch(3);
    ring.event().disable().unwrap();
}

fn read_all(ring: &mut Ring) -> usize {
    read(ring.batch().unwrap())
}

fn read(mut batch: Batch<'_>) -> usize {
    batch.records().count()
}

/// The system calls that `work` makes.
fn calls_of(calls: &Event, work: impl FnOnce()) -> u64 {
    let before = count(calls);
    work();
    // The read that ends it has been counted too.
    count(calls) - before - 1
}

#[test]
fn a_wake_up_costs_one_system_call() {
    let (Some(calls), Some(mut ring)) = (system_calls(), ring()) else { return };
    for _ in 0..5 {
        fill(&ring);
        let made = calls_of(&calls, || {
            assert_eq!(ring.wait(None), Ok(Readiness::Readable));
            assert!(read_all(&mut ring) >= 3);
        });
        assert_eq!(made, 1);
    }
}

#[test]
fn wakeup_for_many_rings_costs_one_system_call() {
    let (Some(calls), Some(first), Some(second)) = (system_calls(), ring(), ring()) else { return };
    let mut set = set_of([first, second]);
    for _ in 0..5 {
        set.iter().for_each(|(_, ring)| fill(ring));
        let made = calls_of(&calls, || {
            assert_eq!(set.wait(None), Ok(Readiness::Readable));
            assert_eq!(set.ready().count(), 2);
            set.ready().for_each(|(_, batch)| assert!(read(batch.unwrap()) >= 3));
        });
        assert_eq!(made, 1);
    }
}

#[test]
fn looking_costs_none() {
    let (Some(calls), Some(mut ring)) = (system_calls(), ring()) else { return };
    fill(&ring);
    let made = calls_of(&calls, || {
        assert!(ring.has_records());
        assert!(read_all(&mut ring) >= 3);
        assert_eq!(read_all(&mut ring), 0);
    });
    assert_eq!(made, 0);
}
