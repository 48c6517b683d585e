//! Wakeups: a pipe replaces the event.

use std::os::fd::OwnedFd;

use super::*;
use crate::ring::ring_of_attr_on_pipe;

const LONG: Option<Duration> = Some(Duration::from_secs(5));

/// A set of one ring whose records are kept for `milliseconds`.
fn set_with_delay(milliseconds: u64) -> (RingSet<usize>, Kernel, OwnedFd) {
    let mut set = RingSet::new().unwrap();
    set.set_sort_delay(Duration::from_millis(milliseconds));
    let (ring, kernel, pipe) = ring_of_attr_on_pipe(ATTR);
    set.add(0, ring).unwrap();
    (set, kernel, pipe)
}

/// Sends a wakeup, which one wait returns.
fn wake(set: &mut RingSet<usize>, pipe: &OwnedFd) {
    rustix::io::write(pipe, b"x").unwrap();
    assert_eq!(set.wait(LONG), Ok(WaitResult::Readable));
    set.get(&0).unwrap().event().read_raw(&mut [0]).unwrap(); // as the kernel, which reports it once
}

fn sleeps(set: &mut RingSet<usize>, milliseconds: u64) {
    let (begin, time) = (Instant::now(), Duration::from_millis(milliseconds));
    assert_eq!(set.wait(Some(time)), Ok(WaitResult::TimedOut));
    assert!(begin.elapsed() >= time);
}

#[test]
fn records_without_a_wakeup_end_no_wait() {
    let (mut set, mut kernel, _pipe) = set_with_delay(2);
    sleeps(&mut set, 1);
    for time in [1, 1000] {
        write(&mut kernel, time, 0);
        sleeps(&mut set, 1);
        round(&mut set);
        sleeps(&mut set, 20);
        assert_eq!(set.next_round(), None);
        assert_eq!(round(&mut set), [(time, 0)], "it became old enough");
    }
}

#[test]
fn wait_ends_once_when_a_record_with_a_wakeup_is_old_enough() {
    let (mut set, mut kernel, pipe) = set_with_delay(300);
    write(&mut kernel, 1, 0);
    wake(&mut set, &pipe);
    let begin = Instant::now();
    assert_eq!(round(&mut set), [], "too young");
    assert!(set.next_round().is_some_and(|due| due >= begin + Duration::from_millis(300)));
    sleeps(&mut set, 1);
    assert_eq!(set.wait(LONG), Ok(WaitResult::Readable), "due");
    assert!((Duration::from_millis(300)..Duration::from_secs(2)).contains(&begin.elapsed()));
    kernel.write_words(&[Kernel::any_header(RecordType::SAMPLE, 24), SECOND + 600_000_000, 0]);
    assert_eq!(round(&mut set), [(1, 0)], "the other one is too young");
    assert_eq!(set.next_round(), None, "and without a wakeup");
    sleeps(&mut set, 20);
}

#[test]
fn later_wakeup_before_the_round_is_due_is_for_all_records() {
    let (mut set, mut kernel, pipe) = set_with_delay(100);
    for _ in 0..3 {
        write(&mut kernel, 1, 0);
        wake(&mut set, &pipe);
        round(&mut set);
    }
    let mut found = 0;
    while set.wait(Some(Duration::from_millis(500))) == Ok(WaitResult::Readable) {
        found += round(&mut set).len();
    }
    assert!(found >= 1, "{found}");
    assert_eq!((set.next_round(), set.get(&0).unwrap().has_records()), (None, false));
}

#[test]
fn round_after_a_poll_of_an_event_loop_takes_every_record_for_one_with_a_wakeup() {
    let (mut set, mut kernel, _pipe) = set_with_delay(50);
    write(&mut kernel, 1, 0);
    assert_eq!(set.wait(Some(Duration::ZERO)), Ok(WaitResult::TimedOut), "the loop consumed the wakeup");
    assert_eq!(round(&mut set), []);
    assert!(set.next_round().is_some());
    assert_eq!(set.wait(LONG), Ok(WaitResult::Readable));
    assert_eq!(round(&mut set), [(1, 0)]);
}

#[test]
fn ring_that_was_read_otherwise_ends_no_wait() {
    let (mut set, mut kernel, pipe) = set_with_delay(2);
    write(&mut kernel, 1, 0);
    wake(&mut set, &pipe);
    assert_eq!(round(&mut set), []);
    assert_eq!(set.batch(&0).unwrap().unwrap().records().count(), 1);
    assert_eq!(set.next_round(), None);
    sleeps(&mut set, 20);
}
