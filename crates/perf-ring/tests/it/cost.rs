//! The number of system calls to read records, counted by a tracepoint.
//!
//! The waits have no timeout, because some machines read the clock by a system call.

use crate::prelude::*;

/// Returns an event that counts the system calls of this thread.
fn system_calls() -> Option<Event> {
    let calls = own(&tracepoint("raw_syscalls/sys_enter")?)?;
    calls.enable().unwrap();
    Some(calls)
}

/// Returns a disabled ring of this thread's switches with a wakeup for each.
fn ring() -> Option<Ring> {
    let attr = switches().with_wakeup_events(1);
    own_ring(&attr, 1)
}

fn read_all(ring: &mut Ring) -> usize {
    read(ring.batch().unwrap())
}

fn read(mut batch: Batch<'_>) -> usize {
    batch.records().count()
}

/// Returns the number of system calls that `work` makes.
fn calls_of(calls: &Event, work: impl FnOnce()) -> u64 {
    let before = count(calls);
    work();
    // The second read of the count is counted too.
    count(calls) - before - 1
}

#[test]
fn wakeup_costs_one_system_call() {
    let (Some(calls), Some(mut ring)) = (system_calls(), ring()) else { return };
    for _ in 0..5 {
        during(&ring, || switch(3));
        let made = calls_of(&calls, || {
            assert_eq!(ring.wait(None), Ok(WaitResult::Readable));
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
        set.iter().for_each(|(_, ring)| during(ring, || switch(3)));
        let made = calls_of(&calls, || {
            assert_eq!(set.wait(None), Ok(WaitResult::Readable));
            assert_eq!(set.ready().count(), 2);
            set.ready().for_each(|(_, batch)| assert!(read(batch.unwrap()) >= 3));
        });
        assert_eq!(made, 1);
    }
}

#[test]
fn reading_costs_no_system_call() {
    let (Some(calls), Some(mut ring)) = (system_calls(), ring()) else { return };
    during(&ring, || switch(3));
    let made = calls_of(&calls, || {
        assert!(ring.has_records());
        assert!(read_all(&mut ring) >= 3);
        assert_eq!(read_all(&mut ring), 0);
    });
    assert_eq!(made, 0);
}
