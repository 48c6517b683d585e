//! Waits for one ring: timeouts, wakeups, and the hang-up when the target exits.

use std::sync::mpsc::channel;
use std::time::Duration;

use crate::prelude::*;

#[test]
fn records_below_the_watermark_are_read_after_the_timeout() {
    let attr = switches().with_wakeup_watermark(2048);
    let Some(mut ring) = own_ring(&attr, 1) else { return };
    during(&ring, || switch(1));
    assert_eq!(ring.wait(Some(Duration::from_micros(1))), Ok(WaitResult::TimedOut));
    assert!(!ring.batch().unwrap().is_empty());
}

#[test]
fn hang_up_is_reported_after_the_last_record() {
    let (send_tid, thread_id) = channel();
    let (start, started) = channel();
    let thread = std::thread::spawn(move || {
        send_tid.send(tid()).unwrap();
        started.recv().unwrap();
        switch(5);
    });
    let attr = switches().with_flags(AttrFlags::TASK);
    let Some(event) = open_or_skip(&attr, Target::thread(thread_id.recv().unwrap())) else {
        return start.send(()).unwrap();
    };
    let mut ring = Ring::map(event, 8).unwrap();
    ring.event().enable().unwrap();
    start.send(()).unwrap();
    thread.join().unwrap();

    let mut kinds = Vec::new();
    loop {
        match ring.wait(PATIENCE).unwrap() {
            WaitResult::Readable => {
                kinds.extend(ring.batch().unwrap().records().map(|record| record.unwrap().kind()));
            }
            WaitResult::HungUp => break,
            other => panic!("{other:?} after {kinds:?}"),
        }
    }
    let samples = kinds.iter().filter(|&&kind| kind == RecordType::SAMPLE).count();
    assert!(samples >= 5, "{kinds:?}");
    assert_eq!(kinds.last(), Some(&RecordType::EXIT));
    assert_eq!(ring.wait(None), Ok(WaitResult::HungUp), "the hang-up is final");
}

#[test]
fn ring_is_readable_after_a_batch_left_early() {
    let Some(mut ring) = filled(10) else { return };
    let mut read = 0;
    while ring.has_records() {
        assert_eq!(ring.wait(PATIENCE), Ok(WaitResult::Readable));
        for record in ring.batch().unwrap().records() {
            record.unwrap();
            read += 1;
            break;
        }
    }
    assert!(read >= 10, "{read}");
    assert_eq!(ring.wait(Some(Duration::from_micros(1))), Ok(WaitResult::TimedOut));
}

#[test]
fn ring_is_readable_after_some_records_were_returned() {
    let Some(mut ring) = filled(3) else { return };
    assert!(ring.peek_record().unwrap().is_some() && ring.next_record().unwrap().is_some());
    assert_eq!(ring.wait(PATIENCE), Ok(WaitResult::Readable));
    while ring.next_record().unwrap().is_some() {}
    assert_eq!(ring.wait(Some(Duration::from_micros(1))), Ok(WaitResult::TimedOut));
}

#[test]
fn one_wakeup_ends_the_waits_of_four_threads() {
    let thread = Switcher::spawn();
    let attr = switches().with_wakeup_events(1);
    let Some(event) = open_or_skip(&attr, Target::thread(thread.tid)) else { return };
    let mut ring = Ring::map(event, 1).unwrap();
    ring.event().enable().unwrap();
    for _ in 0..20 {
        let waker = Waker::new().unwrap();
        let found = std::thread::scope(|scope| {
            let waits: Vec<_> = (0..4)
                .map(|number| {
                    let (ring, waker) = (&ring, &waker);
                    scope.spawn(move || match number {
                        0 => ring.wait_or_woken(PATIENCE, waker),
                        _ => ring.wait(PATIENCE),
                    })
                })
                .collect();
            thread.order.send(1).unwrap();
            waits.into_iter().map(|wait| wait.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(found, [Ok(WaitResult::Readable); 4]);
        while ring.wait(Some(Duration::from_micros(100))).unwrap() == WaitResult::Readable {
            kinds(&mut ring);
        }
    }
    thread.exit();
}

#[test]
fn thread_that_becomes_the_leader_keeps_its_timeout() {
    let Some(ring) = switch_ring(1) else { return };
    ring.event().disable().unwrap();
    let waker = Waker::new().unwrap();
    std::thread::scope(|scope| {
        let short = scope.spawn(|| ring.wait(Some(Duration::from_millis(1))));
        let long = scope.spawn(|| ring.wait(Some(Duration::from_millis(20))));
        let woken = scope.spawn(|| ring.wait_or_woken(None, &waker));
        assert_eq!(short.join().unwrap(), Ok(WaitResult::TimedOut));
        assert_eq!(long.join().unwrap(), Ok(WaitResult::TimedOut));
        waker.wake().unwrap();
        assert_eq!(woken.join().unwrap(), Ok(WaitResult::Woken));
    });
}
