//! Functions that the live tests share. A test that is not permitted to open its event prints the
//! reason and passes.

#![allow(dead_code, unused_imports)] // each test file uses a part of it
#![allow(clippy::unwrap_used, clippy::panic)] // a failure here fails the test

use std::fmt::Display;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::time::Duration;

use perf_abi::{Attr, AttrFlags, RecordType, SampleType, Software};
use perf_decode::{Record, Sample, SampleLayout};
use perf_ring::{Batch, Errno, Event, Ring, RingSet, Target};
use rustix::thread::gettid;

mod child;
mod limit;
mod nobody;
mod switcher;
mod tracefs;
mod watchdog;

pub(crate) use child::in_child;
pub(crate) use limit::with_limit;
pub(crate) use nobody::as_nobody;
pub(crate) use switcher::Switcher;
pub(crate) use tracefs::{hit, hits, tracepoint};
pub(crate) use watchdog::limit_time;

/// Borrows the descriptor of an event, whose records are not borrowed here while a duplicate is
/// used.
pub(crate) fn descriptor(event: &Event) -> BorrowedFd<'_> {
    // SAFETY: the event is borrowed as long.
    unsafe { BorrowedFd::borrow_raw(event.as_raw_fd()) }
}

/// A timeout that no test reaches. The tests do not measure time, but must not hang.
pub(crate) const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));

/// Opens the event. If it is not permitted, or this machine does not have it (most virtual machines
/// have no hardware counters), prints the reason and returns `None`.
///
/// With `PERFKIT_REQUIRE_LIVE=1` in the environment, a missing permission fails the test. Limits
/// the time of the test.
#[track_caller]
pub(crate) fn open_or_skip(attr: &Attr, target: Target<'_>) -> Option<Event> {
    limit_time();
    let error = match Event::open(attr, target) {
        Ok(event) => return Some(event),
        Err(error) => error,
    };
    let errno = error.errno();
    let not_here = matches!(errno, Some(Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV));
    let refused = matches!(errno, Some(Errno::EACCES | Errno::EPERM | Errno::ENOSYS));
    assert!(not_here || refused, "{error}");
    if refused {
        skip(error);
    } else {
        eprintln!("skipped: {error}");
    }
    None
}

/// Opens the event for the calling thread, as [`open_or_skip`].
#[track_caller]
pub(crate) fn own(attr: &Attr) -> Option<Event> {
    open_or_skip(attr, Target::calling_thread())
}

/// Prints the reason for a skipped test, or fails it with `PERFKIT_REQUIRE_LIVE=1`.
#[track_caller]
pub(crate) fn skip(reason: impl Display) {
    let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
    assert!(!required, "{reason}");
    eprintln!("skipped: {reason}");
}

/// Returns the attr of a disabled event that samples each context switch, which [`switch`] makes.
pub(crate) fn switches() -> Attr {
    Attr::software(Software::CONTEXT_SWITCHES)
        .with_period(1)
        .with_sample_type(SampleType::TID.union(SampleType::TIME))
        .with_flags(AttrFlags::DISABLED)
}

/// Causes at least `times` context switches of the calling thread, each a sample of [`switches`].
///
/// It reads the scheduler's count, because a short sleep may end before a switch.
pub(crate) fn switch(times: u64) {
    let goal = switched() + times;
    while switched() < goal {
        std::thread::sleep(Duration::from_nanos(1));
    }
}

/// Returns the number of context switches of the calling thread, voluntary or not.
fn switched() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let counts = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
    counts.map(|(_, count)| count.trim().parse::<u64>().unwrap()).sum()
}

/// Maps an enabled ring of [`switches`] of the calling thread.
#[track_caller]
pub(crate) fn switch_ring(data_pages: usize) -> Option<Ring> {
    let ring = own_ring(&switches(), data_pages)?;
    ring.event().enable().unwrap();
    Some(ring)
}

/// Returns the event's count.
#[track_caller]
pub(crate) fn count(event: &Event) -> u64 {
    let mut words = [0; 1];
    assert_eq!(event.read_raw(&mut words), Ok(1));
    words[0]
}

/// Maps a ring of an event of the calling thread.
#[track_caller]
pub(crate) fn own_ring(attr: &Attr, data_pages: usize) -> Option<Ring> {
    Some(Ring::map(own(attr)?, data_pages).unwrap())
}

/// Maps a ring of a disabled dummy event with these flags, for side-band records with their thread
/// id.
#[track_caller]
pub(crate) fn sideband(flags: AttrFlags, target: Target<'_>) -> Option<Ring> {
    let attr = Attr::software(Software::DUMMY)
        .with_sample_type(SampleType::TID)
        .with_flags(flags | AttrFlags::SAMPLE_ID_ALL | AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    Some(Ring::map(open_or_skip(&attr, target)?, 64).unwrap())
}

/// Runs `work` while the event of the ring is enabled.
pub(crate) fn during<R>(ring: &Ring, work: impl FnOnce() -> R) -> R {
    ring.event().enable().unwrap();
    let done = work();
    ring.event().disable().unwrap();
    done
}

/// Returns the results of `map` for the unread records that are not `None`.
#[track_caller]
pub(crate) fn filter_map<R>(ring: &mut Ring, map: impl Fn(Record<'_>) -> Option<R>) -> Vec<R> {
    let layout = SampleLayout::new(ring.event().attr());
    let mut batch = ring.batch().unwrap();
    batch.records().filter_map(|record| map(record.unwrap().decode(&layout).unwrap())).collect()
}

/// Returns the results of `map` for the unread samples. Any other record fails the test.
#[track_caller]
pub(crate) fn samples<R>(ring: &mut Ring, map: impl Fn(Sample<'_>) -> R) -> Vec<R> {
    filter_map(ring, |record| match record {
        Record::Sample(sample) => Some(map(sample)),
        other => panic!("{other:?}"),
    })
}

/// Enables the events of all rings while `work` runs.
pub(crate) fn during_all<R>(rings: &[Ring], work: impl FnOnce() -> R) -> R {
    for ring in rings {
        ring.event().enable().unwrap();
    }
    let done = work();
    for ring in rings {
        ring.event().disable().unwrap();
    }
    done
}

/// Returns the id of the calling thread, as records have it.
pub(crate) fn tid() -> u32 {
    gettid().as_raw_nonzero().get().unsigned_abs()
}

/// Returns the mount point of cgroup2.
pub(crate) fn cgroup2() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    mounts.lines().find_map(|line| {
        let (place, rest) = line.split_once(' ')?.1.split_once(' ')?;
        rest.starts_with("cgroup2 ").then(|| place.into())
    })
}

/// Returns the kinds of the unread records.
#[track_caller]
pub(crate) fn kinds(ring: &mut Ring) -> Vec<RecordType> {
    batch_kinds(ring.batch())
}

/// Returns the kinds of the records in a batch.
#[track_caller]
pub(crate) fn batch_kinds(batch: perf_ring::Result<Batch<'_>>) -> Vec<RecordType> {
    batch.unwrap().records().map(|record| record.unwrap().kind()).collect()
}

/// Returns a set of these rings, under the keys 0, 1, 2 and so on.
#[track_caller]
pub(crate) fn set_of(rings: impl IntoIterator<Item = Ring>) -> RingSet<usize> {
    let mut set = RingSet::new().unwrap();
    rings.into_iter().enumerate().for_each(|(key, ring)| set.add(key, ring).unwrap());
    set
}

/// Returns a disabled ring of one page of this thread's switches with a wakeup for each, which has
/// at least `times` of them.
pub(crate) fn filled(times: u64) -> Option<Ring> {
    let ring = own_ring(&switches().with_wakeup_events(1), 1)?;
    during(&ring, || switch(times));
    Some(ring)
}
