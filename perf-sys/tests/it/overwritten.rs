//! Software events of one kind that sample registers by different masks: the kernel reserves space by one
//! mask and writes by the other, over unread records of a ring that is nearly full.
//!
//! The crate refuses the second event, so it is opened by hand, as another process would.
//!
//! Kernels without that fault pass these tests too, which print how often it happened.

use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::prelude::*;
use crate::same_kind::alone;

/// Page faults that fill a ring of one page several times.
const MANY: usize = 400;

fn faults(registers: u64) -> Attr {
    user_side(Attr::software(Software::PAGE_FAULTS).with_period(1))
        .with_sample_type(SampleType::IP)
        .with_regs_user(registers)
}

/// Returns a ring of one page for samples with ten registers, and an event that samples one. The kernel
/// serves the event first that was opened last. Both are enabled.
fn open(target: Target<'_>) -> Option<(Ring, Event)> {
    let ring = Ring::map(open_or_skip(&faults(0x3ff), target)?, 1).unwrap();
    let other = open_elsewhere(&faults(1), target);
    touch(1); // the code of `touch` is mapped now
    ring.event().enable().unwrap();
    other.enable().unwrap();
    Some((ring, other))
}

/// Opens an event for a thread as another process, without the checks of the crate.
fn open_elsewhere(attr: &Attr, target: Target<'_>) -> Event {
    let tid = target.tid().map_or(0, |tid| tid.try_into().unwrap());
    // SAFETY: the kernel reads the live attr; the other arguments are numbers.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, attr, tid, -1, -1, 0) };
    assert!(fd >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the kernel just made it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd.try_into().unwrap()) };
    // SAFETY: opened with this attr, and not mapped. The tests read borrowed words by volatile loads or
    // copies only.
    unsafe { Event::from_owned_fd(fd, *attr) }
}

/// Records of a window by the result of framing and decoding them.
#[derive(Debug, Default)]
struct Found {
    decoded: usize,
    truncated: usize,
    damaged: usize,
}

impl Found {
    fn add(&mut self, window: Window<'_>, layout: &SampleLayout) {
        for record in window.records(&mut []) {
            self.count(&record.map(|record| record.decode(layout)));
        }
    }

    fn count<R>(&mut self, record: &perf_decode::Result<perf_decode::Result<R>>) {
        match record {
            Ok(Ok(_)) => self.decoded += 1,
            Ok(Err(_)) => self.truncated += 1,
            Err(_) => self.damaged += 1,
        }
    }
}

#[test]
fn copy_stays_as_it_is_while_the_kernel_overwrites_the_ring() {
    let _alone = alone();
    let (send, start) = channel();
    let (go, wait) = channel::<()>();
    let stop = AtomicBool::new(false);
    let (mut found, mut copies) = (Found::default(), 0);
    thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            send.send(tid()).unwrap();
            while wait.recv().is_ok() && !stop.load(Ordering::Relaxed) {
                touch(MANY);
            }
        });
        let Some((mut ring, _other)) = open(Target::thread(start.recv().unwrap())) else {
            return drop(go);
        };
        let layout = SampleLayout::new(ring.event().attr());
        let (mut copy, mut before) = (Vec::new(), Vec::new());
        for round in 0..200 {
            go.send(()).unwrap();
            if round % 2 == 0 {
                thread::sleep(Duration::from_micros(300)); // the ring is full, or nearly
            }
            let window = ring.copy_into(&mut copy).unwrap();
            found.add(window, &layout);
            before.clone_from(&copy);
            thread::sleep(Duration::from_micros(300)); // the kernel writes on
            assert_eq!(copy, before, "round {round}");
            copies += usize::from(!copy.is_empty());
        }
        stop.store(true, Ordering::Relaxed);
        drop(go);
    });
    eprintln!("{copies} copies: {found:?}");
}

#[test]
fn borrowed_records_may_change_and_no_reading_panics() {
    let _alone = alone();
    let Some((mut ring, other)) = open(Target::calling_thread()) else { return };
    let layout = SampleLayout::new(ring.event().attr());
    touch(5);
    let mut batch = ring.batch().unwrap();
    let records = batch.records().flat_map(|record| record.unwrap().words());
    let words: Vec<*const u64> = records.map(std::ptr::from_ref).collect();
    // SAFETY: the batch still borrows the words. Volatile, because the kernel may write them.
    let read = || words.iter().map(|word| unsafe { word.read_volatile() }).collect::<Vec<_>>();
    let before = read();
    touch(MANY);
    let after = read();
    let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    eprintln!("{changed} of {} borrowed words changed", words.len());
    drop(batch);
    other.disable().unwrap();
    ring.event().disable().unwrap();
    let mut found = Found::default();
    while ring.refresh().unwrap() {
        while let Some(record) = ring.next() {
            found.count(&record.map(|record| record.decode(&layout)));
        }
    }
    eprintln!("{found:?}, {:?}", ring.damage());
    assert!(found.decoded + found.truncated + found.damaged != 0);
}
