//! Waits of a loop that reads in time order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use crate::prelude::*;

const SAMPLE: SampleType = SampleType::TIME.union(SampleType::TID);

/// Ends the work of a thread, also when the test fails.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls `read` with a set that samples a busy thread 999 times a second.
fn while_sampled(read: impl FnOnce(&mut RingSet<usize>)) {
    let attr = Attr::software(Software::CPU_CLOCK)
        .with_frequency(999)
        .with_sample_type(SAMPLE)
        .with_flags(AttrFlags::SAMPLE_ID_ALL);
    let ((send_tid, thread_id), stop) = (channel(), AtomicBool::new(false));
    thread::scope(|scope| {
        let _stop = Stop(&stop);
        scope.spawn(|| {
            send_tid.send(tid()).unwrap();
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let Some(event) = open_or_skip(&attr, Target::thread(thread_id.recv().unwrap())) else { return };
        let mut set = set_of([Ring::map(event, 64).unwrap()]);
        read(&mut set);
    });
}

#[test]
fn loop_with_a_timeout_runs_once_a_timeout_and_delivers_what_is_old_enough() {
    while_sampled(|set| {
        let timeout = Duration::from_millis(300);
        let mut rounds = vec![];
        let begin = Instant::now();
        while begin.elapsed() < 4 * timeout {
            let found = set.wait(Some(timeout)).unwrap();
            // Before the reading, because the thread continues.
            let ran = Count::read(set.get(&0).unwrap().event()).unwrap().value;
            rounds.push((found, ran / 1_000_000, set.drain_sorted(|_| ()).unwrap().records));
        }
        assert!((3..=4).contains(&rounds.len()), "{rounds:?}");
        let mut delivered = 0;
        for (found, milliseconds, records) in rounds {
            assert_eq!(found, WaitResult::TimedOut);
            assert!(records > 0, "none of about 290");
            // A sample for each millisecond that the thread ran, which on a busy machine is a part
            // of the time.
            delivered += records;
            assert!(delivered + 100 > milliseconds * 9 / 10, "{delivered} in {milliseconds} ms");
        }
        set.disable().unwrap();
        let left = set.flush_sorted(|_| ()).unwrap();
        assert!(left.records < 100, "{left:?}");
    });
}

#[test]
fn rare_event_with_a_wakeup_is_delivered_after_the_delay() {
    let attr = Attr::software(Software::CONTEXT_SWITCHES)
        .with_period(1)
        .with_sample_type(SAMPLE)
        .with_wakeup_events(1)
        .with_flags(AttrFlags::SAMPLE_ID_ALL.union(AttrFlags::DISABLED));
    let Some(event) = own(&attr) else { return };
    let mut set = set_of([Ring::map(event, 8).unwrap()]);
    set.set_sort_delay(Duration::from_millis(50));
    for _ in 0..3 {
        set.enable().unwrap();
        switch(1);
        set.disable().unwrap();
        let begin = Instant::now();
        let mut records = 0;
        while records == 0 {
            assert_eq!(set.wait(PATIENCE), Ok(WaitResult::Readable));
            records += set.drain_sorted(|_| ()).unwrap().records;
        }
        let latency = begin.elapsed();
        assert!((Duration::from_millis(40)..Duration::from_secs(2)).contains(&latency), "{latency:?}");
    }
    assert_eq!(set.late(), 0);
}
