//! Descriptors (the limit, descriptor 0, leaks), locked memory, and the memory of many rings. These
//! tests have their own process, whose limits they lower and whose memory they measure, and run one
//! at a time.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;
mod work;

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perf_abi::{Attr, AttrFlags, Software};
use perf_ring::{
    AuxArea, Call, Errno, Event, Group, OpenOptions, RdpmcCounter, Ring, RingSet, SnapshotRing, Target, sys,
};
use rustix::process::{Resource, getrlimit};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use support::{as_nobody, during, own, set_of, sideband, switch, switch_ring, switches, with_limit};
use work::faults;

/// Blocks the other tests until the guard is dropped.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn error_at_the_descriptor_limit_names_it() {
    let _alone = alone();
    if own(&faults()).is_none() {
        return;
    }
    let mut events = Vec::new();
    let error = with_limit(Resource::Nofile, 32, || {
        loop {
            match Event::open(&faults(), Target::calling_thread()) {
                Ok(event) => events.push(event),
                Err(error) => break error,
            }
        }
    });
    assert_eq!(error.errno(), Some(Errno::EMFILE));
    assert!(
        events.len() < 32 && perf_ring::Error::from(error).to_string().contains("descriptor limit"),
        "{error}"
    );
}

#[test]
fn failed_poll_is_an_error() {
    let _alone = alone();
    let (Some(one), Some(other)) = (switch_ring(1), switch_ring(1)) else { return };
    let mut set = set_of([other]);
    let at_once = Some(Duration::ZERO);
    let found = with_limit(Resource::Nofile, 0, || [one.wait(at_once), set.wait(at_once)]);
    assert_eq!(found, [Err(sys::Error::System { call: Call::Poll, errno: Errno::EINVAL }.into()); 2]);
}

/// Returns the numbers of event descriptors and of ring mappings of the process.
fn in_use() -> (usize, usize) {
    let is_event = |path: &std::path::Path| path.to_string_lossy().contains("[perf_event]");
    let links = fs::read_dir("/proc/self/fd").unwrap().map(|entry| fs::read_link(entry.unwrap().path()));
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    (
        links.flatten().filter(|link| is_event(link)).count(),
        maps.lines().filter(|line| is_event(line.as_ref())).count(),
    )
}

#[test]
fn failed_call_leaves_no_descriptor_and_no_mapping() {
    let _alone = alone();
    let Some(mut ring) = switch_ring(1) else { return };
    let here = Target::calling_thread();
    let event = |flags| Event::open(&faults().with_flags(flags), here).unwrap();
    let before = in_use();
    assert_eq!(before, (1, 1));

    assert!(Ring::map(event(AttrFlags::empty()), 3).is_err(), "not a power of two");
    assert!(Ring::map(event(AttrFlags::INHERIT), 1).is_err(), "refused by mmap");
    assert!(Ring::map(event(AttrFlags::WRITE_BACKWARD), 1).is_err());
    assert!(SnapshotRing::map(event(AttrFlags::empty()), 1).is_err());
    assert!(SnapshotRing::map(event(AttrFlags::WRITE_BACKWARD | AttrFlags::INHERIT), 1).is_err());
    assert!(AuxArea::map(&mut ring, 1).is_err());
    assert!(RdpmcCounter::map(ring.event()).is_err());
    let unmapped = event(AttrFlags::empty());
    assert!(unmapped.set_output(Some(&unmapped)).is_err());
    drop(unmapped);
    for refused in [Attr::software(Software(1 << 20)), faults().with_flags(AttrFlags::PINNED)] {
        assert!(Group::open(&faults(), &[faults(), refused, faults()], here).is_err());
    }
    let other = Ring::map(event(AttrFlags::empty()), 1).unwrap();
    let mut set = RingSet::new().unwrap();
    assert!(with_limit(Resource::Nofile, 0, || RingSet::<u32>::new().map(drop)).is_err());
    set.add(0, other).unwrap();
    drop(set);
    assert_eq!(in_use(), before);
}

/// Standard input while descriptor 0 is closed. Dropping it restores descriptor 0, also when a test
/// fails.
struct Input(OwnedFd);

impl Input {
    fn closed() -> Self {
        let input = rustix::io::dup(std::io::stdin().as_fd()).unwrap();
        // SAFETY: no test reads standard input, and it is restored.
        drop(unsafe { OwnedFd::from_raw_fd(0) });
        Self(input)
    }

    /// Duplicates standard input to the lowest free descriptor.
    fn dup(&self) -> OwnedFd {
        rustix::io::dup(&self.0).unwrap()
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        let _stays_open = self.dup().into_raw_fd();
    }
}

#[test]
fn descriptor_0_is_a_valid_leader_and_ring() {
    let _alone = alone();
    let input = Input::closed();
    let samples = samples_by_descriptor_0();
    assert_eq!(input.dup().as_raw_fd(), 0, "it was closed");
    assert!(samples.is_none_or(|samples| samples >= 2), "{samples:?}");
}

/// Returns the number of samples of an event that uses descriptor 0 as group leader and ring.
fn samples_by_descriptor_0() -> Option<usize> {
    own(&switches())?;
    let mut ring = sideband(AttrFlags::empty(), Target::calling_thread())?;
    assert_eq!(ring.as_raw_fd(), 0);
    let member = OpenOptions::new().leader(ring.event()).open(&switches(), Target::calling_thread()).unwrap();
    member.set_output(Some(ring.event())).unwrap();
    member.enable().unwrap();
    during(&ring, || switch(2));
    let samples = ring.batch().unwrap().records().count();
    Some(samples)
}

#[test]
fn error_at_the_limit_of_locked_memory_names_it() {
    let _alone = alone();
    as_nobody(|level| {
        if !(0..=2).contains(&level) {
            return eprintln!("skipped: perf_event_paranoid is {level}");
        }
        if own(&faults()).is_none() {
            return;
        }
        // The remaining limit is perf_event_mlock_kb for each CPU, which all rings of the user
        // share.
        let refused = with_limit(Resource::Memlock, 0, || {
            (0..=16).find_map(|power| {
                let event = Event::open(&faults(), Target::calling_thread()).unwrap();
                Ring::map(event, 1 << power).err().map(|refused| refused.error)
            })
        });
        let Some(error) = refused else {
            return eprintln!("skipped: perf_event_mlock_kb is enough for 65536 pages");
        };
        assert_eq!((error.call(), error.errno()), (Some(Call::Mmap), Some(Errno::EPERM)));
        let text = error.to_string();
        for word in ["perf_event_mlock_kb", "RLIMIT_MEMLOCK", "fewer pages"] {
            assert!(text.contains(word), "{text}");
        }
    });
}

/// Returns the resident memory of this process in KiB.
fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn thousand_rings_of_one_page_take_less_than_5_mib() {
    const RINGS: usize = 1000;
    let _alone = alone();
    if own(&switches()).is_none() {
        return;
    }
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|limit| limit < RINGS as u64 + 50) {
        return eprintln!("skipped: the limit of descriptors is {:?}", limit.current);
    }
    let before = resident();
    let mut set = RingSet::new().unwrap();
    for key in 0..RINGS {
        let event = Event::open(&switches(), Target::calling_thread()).unwrap();
        if let Err(refused) = Ring::map(event, 1).map(|ring| set.add(key, ring).unwrap()) {
            return eprintln!("skipped after {key} rings: {refused}");
        }
    }
    set.iter().for_each(|(_, ring)| ring.event().enable().unwrap());
    // 24 bytes each, so the page wraps after 170.
    for _ in 0..4 {
        switch(60);
        for (_, batch) in set.ready() {
            assert!(batch.unwrap().records().flatten().count() > 0);
        }
    }
    set.iter().for_each(|(_, ring)| ring.event().disable().unwrap());
    let grown = resident() - before;
    assert!(grown < 5 * 1024, "{grown} KiB");
    eprintln!("{RINGS} rings: {grown} KiB");
}
