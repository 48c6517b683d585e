//! Waits and reads of rings whose event is a pipe.

use core::time::Duration;
use std::os::fd::OwnedFd;

use perf_abi::{Attr, RecordType};
use perf_sys::testing::{SimulatedKernel as Kernel, event_on_pipe, quiet_event};
use rustix::io::write;

use super::*;

mod batch;
mod two_threads;

const SHORT: Option<Duration> = Some(Duration::from_millis(1));
/// For waits that end at once: a limit, so that a hanging test fails.
const LONG: Option<Duration> = Some(Duration::from_secs(5));

impl Ring {
    /// Returns a ring that no kernel writes, whose event is never readable.
    pub(crate) fn on(data: DataRing, attr: Attr) -> Self {
        crate::watchdog::limit_time();
        Self::new(data, Arc::new(quiet_event(attr).unwrap()))
    }
}

/// Returns an event that is readable while the returned pipe holds bytes, and hangs up with it.
fn event() -> (Arc<Event>, OwnedFd) {
    let (event, pipe) = event_on_pipe(Attr::default()).unwrap();
    (Arc::new(event), pipe)
}

/// Returns a ring of one page with its kernel, and the pipe that its event reads.
pub(crate) fn ring_on_pipe() -> (Ring, Kernel, OwnedFd) {
    ring_of_attr_on_pipe(Attr::default())
}

/// Returns the rings of [`ring_on_pipe`] for an event with this attr.
pub(crate) fn ring_of_attr_on_pipe(attr: Attr) -> (Ring, Kernel, OwnedFd) {
    crate::watchdog::limit_time();
    let (kernel, data) = Kernel::new(1).unwrap();
    let (event, pipe) = event_on_pipe(attr).unwrap();
    (Ring::new(data, Arc::new(event)), kernel, pipe)
}

/// Writes numbered records of 24 bytes.
fn fill(kernel: &mut Kernel, mut numbers: core::ops::Range<u64>) {
    assert!(numbers.all(|number| kernel.write(&[0, number])));
}

/// The number in the next record, by a look and by consuming it.
fn next(ring: &mut Ring) -> Option<u64> {
    let number = |record: RawRecord<'_>| record.words()[2];
    let peeked = ring.peek_record().unwrap().map(number);
    assert_eq!(ring.peek_record().unwrap().map(number), peeked, "a look consumes nothing");
    assert_eq!(ring.next_record().unwrap().map(number), peeked);
    peeked
}

#[test]
fn consumed_records_are_released_when_asked_and_when_none_is_left() {
    let (mut ring, mut kernel, _pipe) = ring_on_pipe();
    assert_eq!(next(&mut ring), None);
    fill(&mut kernel, 0..2);
    assert_eq!((next(&mut ring), kernel.tail()), (Some(0), 0));
    fill(&mut kernel, 2..3);
    ring.release();
    assert_eq!((kernel.tail(), next(&mut ring), kernel.tail()), (24, Some(1), 24));
    assert_eq!((next(&mut ring), kernel.tail()), (Some(2), 48), "found by another look");
    assert_eq!((next(&mut ring), kernel.tail(), ring.has_records()), (None, 72, false));
    assert_eq!(ring.head(), 72);
}

#[test]
fn record_that_wraps_is_joined_record_by_record() {
    let (mut ring, mut kernel, _pipe) = ring_on_pipe();
    fill(&mut kernel, 0..170); // of 170.67 that fit
    assert_eq!(ring.batch().unwrap().records().count(), 170);
    fill(&mut kernel, 200..203);
    let numbers: Vec<_> = core::iter::from_fn(|| next(&mut ring)).collect();
    assert_eq!(numbers, [200, 201, 202]);
    assert_eq!(kernel.tail(), 173 * 24);
}

#[test]
fn damage_is_skipped_once_record_by_record() {
    let (mut ring, mut kernel, _pipe) = ring_on_pipe();
    fill(&mut kernel, 0..1);
    kernel.write_words(&[Kernel::any_header(RecordType::LOST, 4), 0]);
    assert_eq!(next(&mut ring), Some(0));
    assert!(ring.peek_record().is_err() && ring.next_record().is_err());
    assert_eq!((next(&mut ring), ring.damage().count, ring.damage().bytes), (None, 1, 16));
}

#[test]
fn copy_has_what_the_kernel_has_written_by_now() {
    let (mut ring, mut kernel, _pipe) = ring_on_pipe();
    fill(&mut kernel, 0..2);
    let mut copy = vec![];
    let records = ring.copy_into(&mut copy).unwrap().records(&mut []).count();
    assert_eq!((records, kernel.tail(), ring.has_records()), (2, 48, false));
}

#[test]
fn records_that_are_kept_are_not_new() {
    let (mut ring, mut kernel, _pipe) = ring_on_pipe();
    assert!(!ring.has_new_records());
    fill(&mut kernel, 0..1);
    assert!(ring.has_new_records());
    ring.look().unwrap();
    assert!(ring.has_new_records() && ring.must_not_block(), "left unread");
    ring.is_kept = true;
    assert!(!ring.has_new_records() && !ring.must_not_block());
    fill(&mut kernel, 1..2);
    assert!(ring.has_new_records() && !ring.must_not_block());
    ring.look().unwrap();
    assert!(!ring.is_kept);
}

#[test]
fn wakeup_is_kept_until_the_records_are_read() {
    let (mut ring, mut kernel, pipe) = ring_on_pipe();
    fill(&mut kernel, 0..1);
    for _ in 0..2 {
        assert_eq!(ring.wait(SHORT), Ok(WaitResult::TimedOut), "below the watermark");
    }
    write(&pipe, b"x").unwrap();
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::Readable));
    ring.event().read_raw(&mut [0]).unwrap(); // as the kernel, which reports it once
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::Readable), "again");
    assert_eq!(ring.batch().unwrap().records().count(), 1);
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::TimedOut));
}

#[test]
fn wakeup_is_not_kept_for_records_after_those_that_were_read() {
    let (mut ring, mut kernel, pipe) = ring_on_pipe();
    fill(&mut kernel, 0..1);
    write(&pipe, b"x").unwrap();
    assert_eq!(ring.wait(LONG), Ok(WaitResult::Readable));
    ring.event().read_raw(&mut [0]).unwrap(); // as the kernel, which reports it once
    assert_eq!(ring.batch().unwrap().records().count(), 1);
    fill(&mut kernel, 1..2);
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::TimedOut), "below the watermark");
}

#[test]
fn wake_keeps_the_wakeup() {
    let (ring, mut kernel, pipe) = ring_on_pipe();
    fill(&mut kernel, 0..1);
    write(&pipe, b"x").unwrap();
    let waker = Waker::new().unwrap();
    waker.wake().unwrap();
    assert_eq!(ring.wait_or_woken(SHORT, &waker), Ok(WaitResult::Woken));
    ring.event().read_raw(&mut [0]).unwrap();
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::Readable));
}

#[test]
fn half_full_ring_needs_no_wakeup() {
    let (mut ring, mut kernel, _pipe) = ring_on_pipe();
    fill(&mut kernel, 0..85); // 2040 of 4096 bytes
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::TimedOut));
    fill(&mut kernel, 85..86);
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::Readable));
    assert_eq!(ring.batch().unwrap().records().count(), 86);
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::TimedOut));
}

#[test]
fn ring_hangs_up_after_its_last_record_and_its_last_event() {
    let (mut ring, mut kernel, pipe) = ring_on_pipe();
    let (redirected, other_pipe) = event();
    ring.redirected.push(redirected);
    assert_eq!((ring.redirected().len(), ring.events().count()), (1, 2));
    assert!(Arc::ptr_eq(ring.events().next().unwrap(), ring.event()));
    drop(pipe);
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::TimedOut));
    drop(other_pipe);
    fill(&mut kernel, 0..1);
    assert_eq!(ring.wait(SHORT), Ok(WaitResult::Readable));
    assert_eq!(ring.batch().unwrap().records().count(), 1);
    assert_eq!(ring.wait(LONG), Ok(WaitResult::HungUp));
}

#[test]
fn bytes_are_rounded_up_to_a_power_of_two_of_pages() {
    let page = page_size();
    assert_eq!([0, 1, page, page + 1, 5 * page].map(pages_for), [1, 1, 1, 2, 8]);
    assert_eq!(pages_for(usize::MAX), (usize::MAX / page) + 1);
}
