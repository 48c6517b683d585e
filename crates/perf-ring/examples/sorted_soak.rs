//! Threads make system calls as fast as they can. Three tracepoints of each CPU write into one
//! ring, and a reader that pauses at random reads all rings as one stream. At the end, every call
//! must have been delivered in order or counted as lost.
//!
//! Usage: `sorted_soak [SECONDS [PAGES]]`, 10 seconds and 16 pages by default.
//!
//! Needs a tracefs, the permission to watch whole CPUs, and Linux 6.0, which counts the losses of
//! each event.

use std::error::Error;
use std::fmt;
use std::os::unix::process::parent_id;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use perf_ring::{
    Attr, AttrFlags, Count, Event, ReadFormat, RecordType, Ring, RingSet, SampleType, SortedRecord, Target,
    on_each_cpu,
};

const TRACEPOINTS: [&str; 3] = ["sys_enter_getppid", "sys_enter_getpid", "sys_enter_sched_yield"];

/// Number of calls by their fate.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Calls that the events counted.
    pub(crate) counted: u64,
    /// Samples that were delivered.
    pub(crate) delivered: u64,
    /// Samples that the kernel dropped, as the events counted them.
    pub(crate) lost: u64,
    /// Records that were delivered after one with a later time.
    pub(crate) out_of_order: u64,
    /// The late records that the drain counted.
    pub(crate) late: u64,
    /// Events whose calls are not the delivered and the lost ones.
    pub(crate) inexact: u64,
    /// The longest time without a delivered record.
    pub(crate) pause: Duration,
}

impl Outcome {
    /// Returns whether each call was delivered or lost, and all deliveries out of order were
    /// counted.
    pub(crate) fn is_exact(&self) -> bool {
        let Self { counted, delivered, lost, .. } = self;
        self.inexact == 0 && *counted == delivered + lost && self.out_of_order == self.late
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { counted, delivered, lost, out_of_order, late, inexact, pause } = self;
        write!(
            f,
            "{counted} counted = {delivered} delivered + {lost} lost, {out_of_order} out of order ({late} \
             counted as late), {inexact} events inexact, longest pause {} ms",
            pause.as_millis()
        )
    }
}

/// Runs for `time` with rings of `pages` data pages.
pub(crate) fn run(time: Duration, pages: usize) -> Result<Outcome, Box<dyn Error>> {
    let mut set = open(pages)?;
    let stop = AtomicBool::new(false);
    let mut reader = Reader::default();
    thread::scope(|scope| {
        for _ in 0..2 * set.len() {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let _ = parent_id().wrapping_add(std::process::id());
                    thread::yield_now();
                }
            });
        }
        let read = reader.read_until(&mut set, Instant::now() + time);
        stop.store(true, Ordering::Relaxed);
        read
    })?;
    for (_, ring) in set.iter() {
        ring.events().try_for_each(|event| event.disable())?;
    }
    set.flush_sorted(|record| reader.add(&record))?;
    reader.finish(&set)
}

/// Opens three tracepoints on each CPU. The first one owns the CPU's ring.
fn open(pages: usize) -> Result<RingSet<u32>, Box<dyn Error>> {
    let mut set = RingSet::new()?;
    for attr in TRACEPOINTS.map(attr) {
        let attr = attr?;
        for (cpu, event) in on_each_cpu(|cpu| Event::open(&attr, Target::cpu(cpu)))? {
            if set.get(&cpu).is_none() {
                set.add(cpu, Ring::map(event, pages)?)?;
            } else {
                set.redirect(&cpu, event)?;
            }
        }
    }
    for (_, ring) in set.iter() {
        ring.events().try_for_each(|event| event.enable())?;
    }
    Ok(set)
}

fn attr(name: &str) -> Result<Attr, String> {
    let path = format!("/sys/kernel/tracing/events/syscalls/{name}/id");
    let id = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let id = id.trim().parse().map_err(|error| format!("{path}: {error}"))?;
    Ok(Attr::tracepoint(id)
        .with_period(1)
        .with_sample_type(SampleType::IDENTIFIER | SampleType::TIME)
        .with_read_format(ReadFormat::LOST)
        .with_flags(AttrFlags::DISABLED | AttrFlags::SAMPLE_ID_ALL))
}

/// Counts the delivered records.
struct Reader {
    outcome: Outcome,
    latest: u64,
    /// Delivered samples of each event.
    samples: Vec<(Arc<Event>, u64)>,
    random: u64,
}

impl Default for Reader {
    fn default() -> Self {
        Self { outcome: Outcome::default(), latest: 0, samples: Vec::new(), random: 0x9e37_79b9_7f4a_7c15 }
    }
}

impl Reader {
    fn read_until(&mut self, set: &mut RingSet<u32>, end: Instant) -> perf_ring::Result<()> {
        let mut last = Instant::now();
        while Instant::now() < end {
            set.wait(Some(Duration::from_millis(100)))?;
            let drained = set.drain_sorted(|record| self.add(&record))?;
            if drained.records != 0 {
                self.outcome.pause = self.outcome.pause.max(last.elapsed());
                last = Instant::now();
            }
            thread::sleep(Duration::from_micros(self.random(20_000)));
        }
        Ok(())
    }

    fn add(&mut self, record: &SortedRecord<'_, u32>) {
        self.outcome.out_of_order += u64::from(record.time() < self.latest);
        self.latest = self.latest.max(record.time());
        let Some(event) = record.event().filter(|_| record.raw().kind() == RecordType::SAMPLE) else {
            return;
        };
        self.outcome.delivered += 1;
        match self.samples.iter_mut().find(|(known, _)| Arc::ptr_eq(known, event)) {
            Some((_, samples)) => *samples += 1,
            None => self.samples.push((Arc::clone(event), 1)),
        }
        if self.random(100_000) == 0 {
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn finish(mut self, set: &RingSet<u32>) -> Result<Outcome, Box<dyn Error>> {
        for event in set.iter().flat_map(|(_, ring)| ring.events()) {
            let count = Count::read(event)?;
            let lost = count.lost.ok_or("this kernel counts no losses")?;
            let samples = self.samples.iter().find(|(known, _)| Arc::ptr_eq(known, event));
            let delivered = samples.map_or(0, |(_, samples)| *samples);
            self.outcome.inexact += u64::from(count.value != delivered + lost);
            self.outcome.counted += count.value;
            self.outcome.lost += lost;
        }
        self.outcome.late = set.late();
        Ok(self.outcome)
    }

    /// Returns a random number (xorshift64).
    fn random(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit
    }
}

fn main() -> Result<(), perf_ring::Report> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let pages = arguments.next().map_or(Ok(16), |text| text.parse())?;
    let outcome = run(Duration::from_secs(seconds), pages)?;
    println!("{outcome}");
    if outcome.is_exact() {
        Ok(())
    } else {
        Err("expected each call to be delivered or lost, found another number".into())
    }
}
