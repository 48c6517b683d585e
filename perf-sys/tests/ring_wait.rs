//! Waiting for one ring: the end of the time, wakeups, and the end of the target.

mod support;

use std::sync::mpsc::channel;
use std::time::Duration;

use perf_abi::{Attr, AttrFlags, RecordType, Software};
use perf_sys::{Readiness, Ring, Target};
use support::{PATIENCE, open_or_skip, switch, switches};

#[test]
fn nothing_in_time_is_a_time_out() {
    let attr = Attr::software(Software::DUMMY);
    let Some(event) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    let ring = Ring::map(event, 1).unwrap();
    for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(200)] {
        assert_eq!(ring.wait(Some(timeout)), Ok(Readiness::TimedOut));
    }
}

#[test]
fn a_wakeup_event_ends_the_wait() {
    let attr = switches().with_wakeup_events(1);
    let Some(event) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    let ring = Ring::map(event, 1).unwrap();
    ring.event().enable().unwrap();
    switch(1);
    assert_eq!(ring.wait(PATIENCE), Ok(Readiness::Readable));
}

#[test]
fn what_lies_below_the_watermark_is_found_by_looking() {
    let attr = switches().with_wakeup_watermark(2048);
    let Some(event) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    let mut ring = Ring::map(event, 1).unwrap();
    ring.event().enable().unwrap();
    switch(1);
    ring.event().disable().unwrap();
    assert_eq!(ring.wait(Some(Duration::from_micros(1))), Ok(Readiness::TimedOut));
    assert!(!ring.batch().unwrap().is_empty());
}

#[test]
fn a_hang_up_comes_after_the_last_record() {
    let (tell_tid, tid) = channel();
    let (start, started) = channel();
    let thread = std::thread::spawn(move || {
        tell_tid.send(support::tid()).unwrap();
        started.recv().unwrap();
        switch(5);
    });
    let attr = switches().with_flags(AttrFlags::TASK);
    let Some(event) = open_or_skip(&attr, Target::thread(tid.recv().unwrap())) else {
        return start.send(()).unwrap();
    };
    let mut ring = Ring::map(event, 8).unwrap();
    ring.event().enable().unwrap();
    start.send(()).unwrap();
    thread.join().unwrap();

    let mut kinds = Vec::new();
    loop {
        match ring.wait(PATIENCE).unwrap() {
            Readiness::Readable => {
                kinds.extend(ring.batch().unwrap().records().map(|record| record.unwrap().kind()));
            }
            Readiness::HungUp => break,
            other => panic!("{other:?} after {kinds:?}"),
        }
    }
    let samples = kinds.iter().filter(|&&kind| kind == RecordType::SAMPLE).count();
    assert!(samples >= 5, "{kinds:?}");
    assert_eq!(kinds.last(), Some(&RecordType::EXIT));
    assert_eq!(ring.wait(None), Ok(Readiness::HungUp), "it stays so");
}
