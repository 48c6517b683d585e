//! One thread makes system calls as fast as it can, each a record; this one reads them too slowly from a
//! ring that is too small. At the end every call must have been delivered or counted as lost.
//!
//! Usage: soak [SECONDS [PAGES]]
//!
//! Needs a tracefs, the right to trace, and Linux 6.0, which counts each event's losses.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use perf_abi::{Attr, AttrFlags, ReadFormat, SampleType};
use perf_decode::{Record, SampleLayout};
use perf_sys::{Event, Ring, Target};
use rustix::process::getppid;
use rustix::thread::gettid;

/// What became of the calls.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Calls made, by the thread's own counting.
    pub(crate) calls: u64,
    /// Calls that the event counted.
    pub(crate) counted: u64,
    /// Samples read from the ring.
    pub(crate) delivered: u64,
    /// Samples that found no room, by the event's own count of them.
    pub(crate) lost: u64,
    /// The same by the ring's LOST records: all but those after the last record that fitted.
    pub(crate) told: u64,
}

impl Outcome {
    /// Whether nothing is missing and nothing is there twice.
    pub(crate) fn is_exact(&self) -> bool {
        self.calls == self.counted && self.counted == self.delivered + self.lost && self.told <= self.lost
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, counted, delivered, lost, told } = self;
        write!(f, "{calls} calls, {counted} counted = {delivered} delivered + {lost} lost ({told} told)")
    }
}

/// Runs for `time` with a ring of `pages`.
pub(crate) fn run(time: Duration, pages: usize) -> Result<Outcome, Box<dyn Error>> {
    let (stop, (tell_tid, tid), (start, started)) = (AtomicBool::new(false), channel(), channel::<()>());
    thread::scope(|scope| {
        let caller = scope.spawn(|| {
            let started = started; // gone with this thread, so that nobody waits for it
            // Without a start there is no ring, and nothing to call for.
            let go_on = tell_tid.send(thread_id()).is_ok() && started.recv().is_ok();
            let mut calls = 0;
            while go_on && !stop.load(Ordering::Relaxed) {
                let _ = getppid();
                calls += 1;
            }
            calls
        });
        let outcome = open(tid.recv()?, pages).and_then(|mut ring| {
            start.send(())?;
            let read = read(&mut ring, time, &stop);
            stop.store(true, Ordering::Relaxed);
            read.map(|outcome| (outcome, ring))
        });
        drop(start);
        let calls = caller.join().map_err(|_| "the calling thread panicked")?;
        let (mut outcome, mut ring) = outcome?;
        drain(&mut ring, &mut outcome)?;
        let mut counts = [0; 2];
        ring.event().read_raw(&mut counts)?;
        let [counted, lost] = counts;
        Ok(Outcome { calls, counted, lost, ..outcome })
    })
}

fn open(tid: u32, pages: usize) -> Result<Ring, Box<dyn Error>> {
    let id = std::fs::read_to_string("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id")?;
    let attr = Attr::tracepoint(id.trim().parse()?)
        .with_period(1)
        .with_sample_type(SampleType::TIME | SampleType::TID)
        .with_read_format(ReadFormat::LOST)
        .with_flags(AttrFlags::DISABLED);
    let ring = Ring::map(Event::open(&attr, Target::thread(tid))?, pages)?;
    ring.event().enable()?;
    Ok(ring)
}

/// Reads a little at a time, and pauses.
fn read(ring: &mut Ring, time: Duration, stop: &AtomicBool) -> Result<Outcome, Box<dyn Error>> {
    let (mut outcome, end) = (Outcome::default(), Instant::now() + time);
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        ring.wait(Some(Duration::from_millis(1)))?;
        visit(ring, 100, &mut outcome)?;
        thread::sleep(Duration::from_micros(50));
    }
    Ok(outcome)
}

fn drain(ring: &mut Ring, outcome: &mut Outcome) -> Result<(), Box<dyn Error>> {
    while ring.has_records() {
        visit(ring, usize::MAX, outcome)?;
    }
    Ok(())
}

fn visit(ring: &mut Ring, limit: usize, outcome: &mut Outcome) -> Result<(), Box<dyn Error>> {
    let layout = SampleLayout::new(ring.event().attr());
    for record in ring.batch()?.records().take(limit) {
        match record?.decode(&layout)? {
            Record::Sample(_) => outcome.delivered += 1,
            Record::Lost(lost) => outcome.told += lost.lost(),
            _ => {}
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let pages = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let outcome = run(Duration::from_secs(seconds), pages)?;
    println!("{outcome}");
    if outcome.is_exact() { Ok(()) } else { Err("records are missing, or came twice".into()) }
}

/// The id of the calling thread.
fn thread_id() -> u32 {
    gettid().as_raw_nonzero().get().unsigned_abs()
}
