//! Software events of one kind that sample registers by different masks: the kernel reserves space
//! by one mask and writes by the other, over unread records of a nearly full ring.
//!
//! Kernels without that fault pass these tests too, which print how often it happened.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::prelude::*;

/// Page faults that fill a ring of one page several times.
const MANY: usize = 400;

fn faults(registers: u64) -> Attr {
    user_side(Attr::software(Software::PAGE_FAULTS).with_period(1))
        .with_sample_type(SampleType::IP)
        .with_regs_user(registers)
}

/// Returns a ring of one page for samples with ten registers, and an event that samples one. The
/// kernel serves the event first that was opened last. Both are enabled.
fn open(target: Target<'_>) -> Option<(Ring, Event)> {
    let ring = Ring::map(open_or_skip(&faults(0x3ff), target)?, 1).unwrap();
    let other = Event::open(&faults(1), target).unwrap();
    touch(1); // the code of `touch` is mapped now
    ring.event().enable().unwrap();
    other.enable().unwrap();
    Some((ring, other))
}

/// Causes page faults until the ring is nearly full, so that a record that is written past its
/// space overwrites the oldest one.
fn nearly_fill(ring: &mut Ring) {
    while ring.batch().unwrap().len() < 3700 {
        touch(1);
    }
}

/// The thread to observe, in the environment of the other process.
const THREAD: &str = "PK_OTHER_REGISTERS_OF";

/// Another process, of safe code, that has an event of the same kind with another number of
/// registers for a thread of this one.
struct OtherProcess {
    child: Child,
    /// Open, so that the process can print its result.
    _lines: BufReader<ChildStdout>,
}

impl OtherProcess {
    /// Starts the process, and waits until its event is enabled.
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "overwritten::other_process", "--ignored", "--nocapture"])
            .env(THREAD, tid().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("enabled") {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "the process ended");
        }
        Self { child, _lines: lines }
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.child.stdin.take().map(|mut end| end.write_all(b"end\n"));
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "the other process of the tests here"]
fn other_process() {
    let Ok(thread) = std::env::var(THREAD) else { return };
    let event = Event::open(&faults(1), Target::thread(thread.parse().unwrap())).unwrap();
    event.enable().unwrap();
    println!("enabled");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

/// Starts another process, makes page faults, and checks that no record changed meanwhile.
fn stay_as_they_are(records: &[RawRecord<'_>]) {
    let before: Vec<Vec<u64>> = records.iter().map(|record| record.words().to_vec()).collect();
    let other = OtherProcess::start();
    touch(MANY);
    let changed = records.iter().zip(&before).filter(|(record, before)| record.words() != &before[..]);
    assert_eq!((changed.count(), records.is_empty()), (0, false), "of {}", records.len());
    drop(other);
}

#[test]
fn records_of_a_batch_stay_as_they_are_while_another_process_samples_other_registers() {
    let Some(mut ring) = own_ring(&faults(0x3ff), 1) else { return };
    ring.event().enable().unwrap();
    nearly_fill(&mut ring);
    let mut batch = ring.batch().unwrap();
    let records: Vec<_> = batch.records().map(|record| record.unwrap()).collect();
    stay_as_they_are(&records);
}

#[test]
fn record_that_is_returned_stays_as_it_is_while_another_process_samples_other_registers() {
    let Some(mut ring) = own_ring(&faults(0x3ff), 1) else { return };
    ring.event().enable().unwrap();
    nearly_fill(&mut ring);
    stay_as_they_are(&[ring.next_record().unwrap().unwrap()]);
}

#[test]
fn record_of_a_sorted_drain_stays_as_it_is_while_another_process_samples_other_registers() {
    // Several sizes, so that the rest of the page is too short for one of them.
    for registers in [0x7f, 0xff, 0x1ff, 0x3ff, 0x7ff, 0xfff] {
        let attr = faults(registers);
        let mut attr = attr;
        attr.sample_type |= SampleType::TIME;
        let Some(mut ring) = own_ring(&attr, 1) else { return };
        ring.event().enable().unwrap();
        nearly_fill(&mut ring);
        let mut set = set_of([ring]);
        let mut is_first = true;
        set.flush_sorted(|record| {
            if std::mem::take(&mut is_first) {
                stay_as_they_are(&[record.raw()]);
            }
        })
        .unwrap();
        assert!(!is_first);
    }
}

#[test]
fn ring_copies_its_records_once_an_event_is_redirected_into_it_that_may_overwrite_them() {
    let plain = user_side(Attr::software(Software::CPU_CLOCK).with_period(1_000_000));
    let Some(mut ring) = own_ring(&plain, 1) else { return };
    let event = Event::open(&faults(0x3ff), Target::calling_thread()).unwrap();
    assert_eq!(
        event.set_output(Some(ring.event())),
        Err(sys::Error::NotCopied),
        "the ring lends its records"
    );
    ring.redirect(event).unwrap();
    ring.events().for_each(|event| event.enable().unwrap());
    nearly_fill(&mut ring);
    let mut batch = ring.batch().unwrap();
    let records: Vec<_> = batch.records().map(|record| record.unwrap()).collect();
    stay_as_they_are(&records);
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
fn no_reading_of_a_ring_that_the_kernel_overwrites_panics() {
    let Some((mut ring, other)) = open(Target::calling_thread()) else { return };
    let layout = SampleLayout::new(ring.event().attr());
    touch(5);
    let mut batch = ring.batch().unwrap();
    let records: Vec<_> = batch.records().map(|record| record.unwrap()).collect();
    let before: Vec<_> = records.iter().map(|record| record.words().to_vec()).collect();
    touch(MANY);
    assert!(records.iter().zip(&before).all(|(record, before)| record.words() == &before[..]));
    drop(batch);
    other.disable().unwrap();
    ring.event().disable().unwrap();
    let mut found = Found::default();
    while ring.has_records() {
        for record in ring.batch().unwrap().records() {
            found.count(&record.map(|record| record.decode(&layout)));
        }
    }
    eprintln!("{found:?}, {:?}", ring.damage());
    assert!(found.decoded + found.truncated + found.damaged != 0);
}
