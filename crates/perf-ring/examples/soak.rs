//! One thread makes system calls as fast as it can, each a record. Another reads them too slowly
//! from a ring that is too small. At the end, every call must have been delivered or counted as
//! lost.
//!
//! Usage: `soak [SECONDS [PAGES]]`, 10 seconds and 1 page by default.
//!
//! Needs a tracefs, the permission to read it, and Linux 6.0, which counts the losses of each
//! event.

use std::error::Error;
use std::fmt;
use std::os::unix::process::parent_id;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use perf_ring::{Attr, AttrFlags, Count, Event, ReadFormat, Record, Ring, SampleLayout, SampleType, Target};

/// Number of calls by their fate.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Calls that the thread made.
    pub(crate) calls: u64,
    /// Calls that the event counted.
    pub(crate) counted: u64,
    /// Samples that were read from the ring.
    pub(crate) delivered: u64,
    /// Samples that the kernel dropped, as the event counted them.
    pub(crate) lost: u64,
    /// The same by the LOST records of the ring: all before the last record that fitted.
    pub(crate) reported: u64,
}

impl Outcome {
    /// Returns whether each call was delivered or lost, and none twice.
    pub(crate) fn is_exact(&self) -> bool {
        self.calls == self.counted && self.counted == self.delivered + self.lost && self.reported <= self.lost
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, counted, delivered, lost, reported } = self;
        write!(
            f,
            "{calls} calls, {counted} counted = {delivered} delivered + {lost} lost ({reported} reported)"
        )
    }
}

/// Runs for `time` with a ring of `pages` data pages.
pub(crate) fn run(time: Duration, pages: usize) -> Result<Outcome, Box<dyn Error>> {
    let (stop, attr) = (AtomicBool::new(false), attr()?);
    let ((send_ring, ring), (start, started)) = (channel(), channel::<()>());
    thread::scope(|scope| {
        let caller = scope.spawn(|| {
            let started = started; // dropped with this thread, so that `start.send` cannot block
            let open = || Ok(Ring::map(Event::open(&attr, Target::calling_thread())?, pages)?);
            let ring: perf_ring::Result<_> = open();
            let is_started = send_ring.send(ring).is_ok() && started.recv().is_ok();
            let mut calls = 0;
            while is_started && !stop.load(Ordering::Relaxed) {
                let _ = parent_id();
                calls += 1;
            }
            calls
        });
        let mut ring = ring.recv()??;
        ring.event().enable()?;
        start.send(())?;
        let outcome = read(&mut ring, time, &stop);
        stop.store(true, Ordering::Relaxed);
        let calls = caller.join().map_err(|_| "the calling thread panicked")?;
        let mut outcome = outcome?;
        while ring.has_records() {
            read_some(&mut ring, usize::MAX, &mut outcome)?;
        }
        let count = Count::read(ring.event())?;
        Ok(Outcome { calls, counted: count.value, lost: count.lost.unwrap_or(0), ..outcome })
    })
}

/// Returns the attr of an event for each call of `getppid`.
fn attr() -> Result<Attr, Box<dyn Error>> {
    let path = "/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id";
    let id = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(Attr::tracepoint(id.trim().parse()?)
        .with_period(1)
        .with_sample_type(SampleType::TIME | SampleType::TID)
        .with_read_format(ReadFormat::LOST)
        .with_flags(AttrFlags::DISABLED))
}

/// Reads some records at a time, and pauses.
fn read(ring: &mut Ring, time: Duration, stop: &AtomicBool) -> Result<Outcome, Box<dyn Error>> {
    let (mut outcome, end) = (Outcome::default(), Instant::now() + time);
    while Instant::now() < end && !stop.load(Ordering::Relaxed) {
        ring.wait(Some(Duration::from_millis(1)))?;
        read_some(ring, 100, &mut outcome)?;
        thread::sleep(Duration::from_micros(50));
    }
    Ok(outcome)
}

fn read_some(ring: &mut Ring, limit: usize, outcome: &mut Outcome) -> Result<(), Box<dyn Error>> {
    let layout = SampleLayout::new(ring.event().attr());
    for record in ring.batch()?.records().take(limit) {
        match record?.decode(&layout)? {
            Record::Sample(_) => outcome.delivered += 1,
            Record::Lost(lost) => outcome.reported += lost.lost(),
            _ => {}
        }
    }
    Ok(())
}

fn main() -> Result<(), perf_ring::Report> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let pages = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let outcome = run(Duration::from_secs(seconds), pages)?;
    println!("{outcome}");
    if outcome.is_exact() {
        Ok(())
    } else {
        Err("expected each call to be delivered or lost, found another number".into())
    }
}
