//! Waits for many rings, hang-ups, and wakers.

use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use crate::prelude::*;

const SHORT: Option<Duration> = Some(Duration::from_micros(200));

fn dummy() -> Option<Ring> {
    let event = own(&Attr::software(Software::DUMMY))?;
    Some(Ring::map(event, 1).unwrap())
}

/// Returns a ring of a new thread, the sender of its orders, and the thread.
fn thread_that_switches(attr: &Attr) -> Option<(Ring, Sender<u64>, JoinHandle<()>)> {
    let Switcher { tid, order, thread } = Switcher::spawn();
    let ring = Ring::map(open_or_skip(attr, Target::thread(tid))?, 1).unwrap();
    ring.event().enable().unwrap();
    Some((ring, order, thread))
}

#[test]
fn wait_without_records_times_out() {
    let (Some(one), Some(other)) = (dummy(), dummy()) else { return };
    let mut set = set_of([one, other]);
    for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(200)] {
        assert_eq!(set.wait(Some(timeout)), Ok(WaitResult::TimedOut));
    }
    assert_eq!(set.ready().count(), 0);
    assert_eq!((set.len(), set.end(&0), set.end(&2)), (2, None, None));
}

#[test]
fn one_wakeup_makes_all_rings_with_records_ready() {
    let waking = switches().with_wakeup_events(1);
    let (Some(quiet), Some(lazy)) = (dummy(), switch_ring(8)) else { return };
    let waking = Ring::map(Event::open(&waking, Target::calling_thread()).unwrap(), 8).unwrap();
    waking.event().enable().unwrap();
    let mut set = set_of([quiet, lazy, waking]);
    switch(2);
    assert_eq!(set.wait(PATIENCE), Ok(WaitResult::Readable));
    let ready: Vec<_> = set.ready().map(|(&key, batch)| (key, batch_kinds(batch).len() >= 2)).collect();
    assert_eq!(ready, [(1, true), (2, true)], "the second is below its watermark");
}

#[test]
fn records_below_every_watermark_are_ready_after_the_timeout() {
    let Some(ring) = own_ring(&switches(), 64) else { return };
    let mut set = set_of([ring]); // still empty
    set.iter().for_each(|(_, ring)| ring.event().enable().unwrap());
    switch(1);
    set.iter().for_each(|(_, ring)| ring.event().disable().unwrap());
    assert_eq!(set.wait(SHORT), Ok(WaitResult::TimedOut));
    assert_eq!(
        set.ready().map(|(&key, batch)| (key, batch_kinds(batch).is_empty())).next(),
        Some((0, false))
    );
    assert_eq!(set.ready().count(), 0, "it was read");
}

#[test]
fn wakeup_for_records_that_were_read_meanwhile_ends_no_wait() {
    let attr = switches().with_wakeup_events(1);
    let Some(mut ring) = own_ring(&attr, 1) else { return };
    during(&ring, || switch(1));
    assert!(ring.has_records());
    kinds(&mut ring);
    assert!(!ring.has_records());
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::TimedOut));
    during(&ring, || switch(1));
    kinds(&mut ring);
    assert_eq!(set_of([ring]).wait(SHORT), Ok(WaitResult::TimedOut));
}

#[test]
fn poll_of_the_set_by_an_event_loop_hides_no_records() {
    let attr = switches().with_wakeup_events(1);
    let Some(ring) = own_ring(&attr, 1) else { return };
    ring.event().enable().unwrap();
    let mut set = set_of([ring]);
    switch(1);
    let mut outside = [PollFd::new(&set, PollFlags::IN)];
    assert_eq!(poll(&mut outside, None), Ok(1), "and it consumed the kernel's wakeup");
    set.wait(Some(Duration::ZERO)).unwrap();
    assert_eq!(set.ready().count(), 1);
}

#[test]
fn two_threads_are_read_by_one_and_both_hang_ups_are_reported() {
    let attr = switches().with_wakeup_events(1).with_flags(AttrFlags::TASK);
    let (Some(one), Some(other)) = (thread_that_switches(&attr), thread_that_switches(&attr)) else {
        return;
    };
    let mut set = set_of([one.0, other.0]);
    let mut seen = [vec![], vec![]];
    let mut read =
        |set: &mut RingSet<usize>| set.ready().for_each(|(&key, batch)| seen[key].extend(batch_kinds(batch)));
    other.1.send(5).unwrap();
    assert_eq!(set.wait(PATIENCE), Ok(WaitResult::Readable));
    read(&mut set);
    drop(one.1);
    one.2.join().unwrap();
    while set.end(&0).is_none() {
        set.wait(SHORT).unwrap();
    }
    read(&mut set);
    assert_eq!((set.end(&0), set.end(&1)), (Some(WaitResult::HungUp), None));
    other.1.send(5).unwrap();
    drop(other.1);
    while set.wait(PATIENCE).unwrap() == WaitResult::Readable {
        read(&mut set);
    }
    assert_eq!(set.wait(None), Ok(WaitResult::HungUp), "the hang-up is final");
    for kinds in &seen {
        assert_eq!(kinds.last(), Some(&RecordType::EXIT), "delivered before the hang-up");
    }
    assert!(seen[1].iter().filter(|&&kind| kind == RecordType::SAMPLE).count() >= 10);
    assert_eq!(set.into_rings().len(), 2);
}

#[test]
fn hang_up_is_noticed_while_another_ring_is_written() {
    let attr = switches().with_wakeup_events(1);
    let Some((mut ended, order, thread)) = thread_that_switches(&attr) else { return };
    drop(order);
    thread.join().unwrap();
    while ended.wait(PATIENCE).unwrap() == WaitResult::Readable {
        kinds(&mut ended);
    }
    let busy = Ring::map(Event::open(&attr, Target::calling_thread()).unwrap(), 1).unwrap();
    busy.event().enable().unwrap();
    let mut set = set_of([ended, busy]);
    for _ in 0..100 {
        switch(1);
        assert_eq!(set.wait(PATIENCE), Ok(WaitResult::Readable));
        set.ready().for_each(|(_, batch)| assert!(!batch_kinds(batch).is_empty()));
    }
    assert_eq!((set.end(&0), set.end(&1)), (Some(WaitResult::HungUp), None));
}

#[test]
fn two_threads_wait_at_once_each_for_its_own_ring() {
    let attr = switches().with_wakeup_events(1);
    let (Some(one), Some(other)) = (thread_that_switches(&attr), thread_that_switches(&attr)) else {
        return;
    };
    thread::scope(|scope| {
        for ((mut ring, order, _), times) in [(one, 20), (other, 30)] {
            scope.spawn(move || {
                order.send(times as u64).unwrap();
                let mut samples = 0;
                while samples < times {
                    assert_eq!(ring.wait(PATIENCE), Ok(WaitResult::Readable));
                    samples += kinds(&mut ring).len();
                }
            });
        }
    });
}

#[test]
fn more_rings_than_one_epoll_wait_returns_may_hang_up_together() {
    let attr = switches().with_flags(AttrFlags::TASK);
    let threads: Option<Vec<_>> = (0..40).map(|_| thread_that_switches(&attr)).collect();
    let Some(threads) = threads else { return };
    let (rings, handles): (Vec<_>, Vec<_>) =
        threads.into_iter().map(|(ring, _, thread)| (ring, thread)).unzip();
    for thread in handles {
        thread.join().unwrap();
    }
    let mut set = set_of(rings);
    let mut ends = 0;
    while set.wait(PATIENCE).unwrap() == WaitResult::Readable {
        ends += set
            .ready()
            .filter_map(|(_, batch)| batch_kinds(batch).pop())
            .filter(|&kind| kind == RecordType::EXIT)
            .count();
    }
    assert_eq!(ends, 40);
    assert!((0..40).all(|key| set.end(&key) == Some(WaitResult::HungUp)));
}

#[test]
fn wait_is_ended_from_another_thread() {
    let (Some(one), Some(other)) = (dummy(), dummy()) else { return };
    let waker = Waker::new().unwrap();
    let mut set = set_of([one]);
    thread::scope(|scope| {
        let waits = scope.spawn(|| set.wait_or_woken(None, &waker));
        let waits_too = scope.spawn(|| other.wait_or_woken(None, &waker));
        waker.wake().unwrap();
        assert_eq!(waits.join().unwrap(), Ok(WaitResult::Woken));
        assert_eq!(waits_too.join().unwrap(), Ok(WaitResult::Woken));
    });
    assert_eq!(set.wait_or_woken(None, &waker), Ok(WaitResult::Woken), "until the reset");
    assert_eq!(waker.reset(), Ok(true));
    assert_eq!(set.wait_or_woken(SHORT, &waker), Ok(WaitResult::TimedOut));
}

#[test]
fn wakeup_before_the_ring_was_added_is_reported() {
    let Some(ring) = filled(1) else { return };
    let mut set = set_of([ring]);
    assert_eq!(set.wait(PATIENCE), Ok(WaitResult::Readable));
    set.ready().for_each(|(_, batch)| assert!(!batch_kinds(batch).is_empty()));
    assert_eq!(set.wait(SHORT), Ok(WaitResult::TimedOut));
}

#[test]
fn ring_left_full_is_readable_again() {
    let Some(ring) = filled(400) else { return }; // 24 bytes each: more than a page
    for _ in 0..3 {
        assert_eq!(ring.wait(PATIENCE), Ok(WaitResult::Readable));
    }
    let mut set = set_of([ring]);
    for _ in 0..3 {
        assert_eq!(set.wait(PATIENCE), Ok(WaitResult::Readable));
    }
    let waker = Waker::new().unwrap();
    waker.wake().unwrap();
    assert_eq!(set.wait_or_woken(PATIENCE, &waker), Ok(WaitResult::Woken), "before the records");
    set.ready().for_each(|(_, batch)| assert!(!batch_kinds(batch).is_empty()));
    assert_eq!(set.wait(SHORT), Ok(WaitResult::TimedOut));
}

#[test]
fn wake_hides_no_wakeup() {
    let (Some(mut ring), waker) = (filled(1), Waker::new().unwrap()) else { return };
    waker.wake().unwrap();
    assert_eq!(ring.wait_or_woken(None, &waker), Ok(WaitResult::Woken));
    assert_eq!(ring.wait(PATIENCE), Ok(WaitResult::Readable));
    assert!(!kinds(&mut ring).is_empty());
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::TimedOut));

    let mut set = set_of([ring]);
    set.iter().for_each(|(_, ring)| ring.event().enable().unwrap());
    switch(1);
    set.iter().for_each(|(_, ring)| ring.event().disable().unwrap());
    assert_eq!(set.wait_or_woken(None, &waker), Ok(WaitResult::Woken));
    assert_eq!(set.wait(PATIENCE), Ok(WaitResult::Readable));
    set.ready().for_each(|(_, batch)| assert!(!batch_kinds(batch).is_empty()));
    assert_eq!(set.wait(SHORT), Ok(WaitResult::TimedOut));
}
