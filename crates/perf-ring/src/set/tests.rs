//! Waits of sets of rings with simulated kernels.

use core::time::Duration;

use perf_abi::RecordType;
use perf_sys::testing::SimulatedKernel as Kernel;
use rustix::io::write;

use super::*;
use crate::ring::{Waker, ring_on_pipe};

const SHORT: Option<Duration> = Some(Duration::from_millis(1));
/// For waits that end at once: a limit, so that a hanging test fails.
const LONG: Option<Duration> = Some(Duration::from_secs(5));

/// Returns a set of rings under the keys 0, 1, 2, their kernels, and the pipes that their events
/// read.
fn set(rings: usize) -> (RingSet<usize>, Vec<Kernel>, Vec<OwnedFd>) {
    let mut set = RingSet::new().unwrap();
    let parts = (0..rings).map(|key| {
        let (ring, kernel, pipe) = ring_on_pipe();
        set.add(key, ring).unwrap();
        (kernel, pipe)
    });
    let (kernels, pipes) = parts.unzip();
    (set, kernels, pipes)
}

/// Consumes all records and returns the keys of the rings that had some.
fn read(set: &mut RingSet<usize>) -> Vec<usize> {
    set.ready().map(|(&key, batch)| (key, batch.unwrap().records().count()).0).collect()
}

#[test]
fn pushed_rings_have_keys_that_no_other_ring_has_or_had() {
    let mut set = RingSet::new().unwrap();
    set.add(1, ring_on_pipe().0).unwrap();
    let keys = [(); 2].map(|()| set.push(ring_on_pipe().0).unwrap());
    assert_eq!(keys, [0, 2]);
    assert!(set.remove(&2).is_some());
    assert_eq!((set.push(ring_on_pipe().0).unwrap(), set.len()), (3, 3));
}

#[test]
fn rings_are_found_by_their_keys_in_the_order_of_addition() {
    let (mut set, mut kernels, _pipes) = set(3);
    assert!(kernels[2].write(&[0, 7]));
    assert_eq!(set.batch(&2).unwrap().unwrap().records().count(), 1);
    assert!(set.batch(&3).is_none() && set.get(&3).is_none() && set.remove(&3).is_none());
    assert!(set.get(&1).is_some() && set.remove(&1).is_some() && set.get(&1).is_none());
    assert_eq!((set.len(), set.is_empty(), set.iter().len()), (2, false, 2));
    assert_eq!(set.iter().map(|(&key, _)| key).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(set.into_rings().map(|(key, _)| key).collect::<Vec<_>>(), [0, 2]);
    let empty = RingSet::<u32>::new().unwrap();
    assert_eq!((empty.is_empty(), empty.len()), (true, 0));
}

#[test]
fn key_in_use_is_refused_with_the_ring() {
    let (mut set, ..) = set(1);
    let refused = set.add(0, ring_on_pipe().0).unwrap_err();
    assert_eq!((refused.error, refused.value.has_records(), set.len()), (Error::KeyInUse, false, 1));
}

#[test]
fn redirection_needs_a_key_of_the_set_and_an_event() {
    let (mut set, ..) = set(2);
    let event = || Arc::clone(ring_on_pipe().0.event());
    assert_eq!(set.redirect(&2, event()).unwrap_err().error, Error::NoSuchKey);
    let refused = set.redirect(&1, event()).unwrap_err();
    assert!(refused.error.errno().is_some(), "{refused}");
}

#[test]
fn ring_that_hung_up_is_popped_after_its_last_record() {
    let (mut set, mut kernels, mut pipes) = set(2);
    assert!(kernels[0].write(&[0, 1]));
    pipes.remove(0);
    assert_eq!(set.wait(SHORT), Ok(WaitResult::Readable));
    assert_eq!(set.end(&0), None, "a wait with new data does not look for hang-ups");
    write(&pipes[0], b"x").unwrap(); // of the ring 1
    assert_eq!(set.wait(SHORT), Ok(WaitResult::Readable));
    set.get(&1).unwrap().event().read_raw(&mut [0]).unwrap();
    assert_eq!((set.end(&0), set.end(&1), set.end(&2)), (Some(WaitResult::HungUp), None, None));
    assert!(set.pop_ended().is_none(), "it has a record");
    assert_eq!(read(&mut set), [0]);
    let (key, _ring, end) = set.pop_ended().unwrap();
    assert_eq!((key, end, set.pop_ended().is_none()), (0, WaitResult::HungUp, true));
    assert_eq!(set.wait(SHORT), Ok(WaitResult::TimedOut));
    pipes.clear();
    assert_eq!(set.wait(LONG), Ok(WaitResult::HungUp));
}

#[test]
fn set_that_hung_up_is_readable_while_it_has_records() {
    let (mut set, mut kernels, pipes) = set(2);
    drop(pipes);
    assert_eq!(set.wait(LONG), Ok(WaitResult::HungUp));
    assert!(kernels[1].write(&[0, 1]));
    assert_eq!(set.wait(LONG), Ok(WaitResult::Readable));
    assert_eq!(read(&mut set), [1]);
    assert_eq!(set.wait(LONG), Ok(WaitResult::HungUp));
}

#[test]
fn hang_up_is_noticed_in_the_sixteenth_wait_with_new_data() {
    let (mut set, mut kernels, mut pipes) = set(2);
    write(&pipes[0], b"x").unwrap();
    drop(pipes.pop());
    for wait in 1..=16 {
        assert!(kernels[0].write(&[0, wait]));
        assert_eq!(set.wait(LONG), Ok(WaitResult::Readable));
        assert_eq!(read(&mut set), [0]);
        assert_eq!(set.end(&1).is_some(), wait == 16, "{wait}");
    }
}

#[test]
fn records_from_before_the_addition_are_readable() {
    let (ring, mut kernel, _pipe) = ring_on_pipe();
    assert!(kernel.write(&[0, 1]));
    let mut set = RingSet::new().unwrap();
    set.add(0, ring).unwrap();
    assert_eq!(set.wait(SHORT), Ok(WaitResult::Readable));
    assert_eq!(read(&mut set), [0]);
    assert_eq!(set.wait(SHORT), Ok(WaitResult::TimedOut));
}

#[test]
fn wakeup_is_kept_for_rings_that_were_left_unread() {
    let (mut set, mut kernels, pipes) = set(2);
    assert!(kernels.iter_mut().all(|kernel| kernel.write(&[0, 1])));
    assert_eq!(set.wait(SHORT), Ok(WaitResult::TimedOut), "below the watermark");
    write(&pipes[0], b"x").unwrap();
    assert_eq!(set.wait(SHORT), Ok(WaitResult::Readable));
    set.get(&0).unwrap().event().read_raw(&mut [0]).unwrap(); // as the kernel, which reports it once
    assert_eq!(set.batch(&0).unwrap().unwrap().records().count(), 1);
    assert_eq!(set.wait(SHORT), Ok(WaitResult::Readable), "of the other ring");
    assert_eq!(read(&mut set), [1]);
    assert_eq!(set.wait(SHORT), Ok(WaitResult::TimedOut));
}

#[test]
fn wake_keeps_the_wakeup() {
    let (mut set, mut kernels, pipes) = set(1);
    assert!(kernels[0].write(&[0, 1]));
    write(&pipes[0], b"x").unwrap();
    let waker = Waker::new().unwrap();
    waker.wake().unwrap();
    assert_eq!(set.wait_or_woken(SHORT, &waker), Ok(WaitResult::Woken));
    set.get(&0).unwrap().event().read_raw(&mut [0]).unwrap();
    assert_eq!(set.wait(SHORT), Ok(WaitResult::Readable));
}

#[test]
fn removed_ring_does_not_wake_the_set() {
    let (mut set, _kernels, pipes) = set(2);
    let ring = set.remove(&0).unwrap();
    write(&pipes[0], b"x").unwrap();
    let before = std::time::Instant::now();
    assert_eq!(set.wait(Some(Duration::from_millis(20))), Ok(WaitResult::TimedOut));
    assert!(before.elapsed() >= Duration::from_millis(20));
    drop(ring);
}

#[test]
fn descriptor_is_readable_with_a_ring() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let (set, _kernels, pipes) = set(1);
    let is_readable =
        || poll(&mut [PollFd::new(&set, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1;
    assert!(!is_readable());
    write(&pipes[0], b"x").unwrap();
    assert!(is_readable());
    assert_eq!(set.as_raw_fd(), set.as_fd().as_raw_fd());
}

#[test]
fn damage_is_the_sum_over_all_rings() {
    let (mut set, mut kernels, _pipes) = set(3);
    assert_eq!(set.damage(), SkippedBytes::default());
    for kernel in &mut kernels[..2] {
        kernel.write_words(&[Kernel::any_header(RecordType::SAMPLE, 4), 0]);
    }
    for (_, batch) in set.ready() {
        assert!(batch.unwrap().records().any(|record| record.is_err()));
    }
    let (sum, one) = (set.damage(), set.get(&0).unwrap().damage());
    assert_eq!((sum.count, sum.bytes, sum.last), (2, 32, one.last));
    assert!(sum.last.is_some());
}
