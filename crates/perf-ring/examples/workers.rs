//! A profiler inside a program: worker threads join it with a ring each, and leave it or exit.
//!
//! A thread opens the event of itself, which needs no permission. Another thread reads all rings
//! from time to time and waits for none.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use perf_ring::{
    Attr, AttrFlags, Batch, Event, Record, Ring, RingSet, SampleLayout, SampleType, Software, Target,
};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

pub(crate) struct Profiler {
    attr: Attr,
    state: Mutex<State>,
}

struct State {
    /// The rings of the threads that joined, by the number that `join` returned.
    rings: RingSet<u64>,
    joined: u64,
    profile: Profile,
}

/// The samples of all threads since the start.
#[derive(Clone)]
pub(crate) struct Profile {
    layout: SampleLayout,
    /// Milliseconds on a CPU, by thread.
    pub(crate) threads: BTreeMap<u32, u64>,
    pub(crate) lost: u64,
    /// Threads that are being sampled.
    pub(crate) rings: usize,
}

impl Profiler {
    pub(crate) fn new() -> Result<Self> {
        let attr = Attr::software(Software::TASK_CLOCK)
            .with_period(1_000_000) // ns
            .with_sample_type(SampleType::TID | SampleType::IP)
            .with_flags(AttrFlags::EXCLUDE_KERNEL);
        let layout = SampleLayout::new(&attr);
        let profile = Profile { layout, threads: BTreeMap::new(), lost: 0, rings: 0 };
        Ok(Self { attr, state: Mutex::new(State { rings: RingSet::new()?, joined: 0, profile }) })
    }

    /// Samples the calling thread from now on, until it exits or [leaves](Self::leave).
    pub(crate) fn join(&self) -> Result<u64> {
        let event = Event::open(&self.attr, Target::calling_thread())?;
        let ring = Ring::map_bytes(event, 16 << 10)?;
        let mut state = self.state();
        state.joined += 1;
        let number = state.joined;
        state.rings.add(number, ring)?;
        Ok(number)
    }

    /// Ends the sampling of the thread that joined with this number.
    pub(crate) fn leave(&self, number: u64) -> Result<()> {
        let mut state = self.state();
        let Some(mut ring) = state.rings.remove(&number) else { return Ok(()) };
        ring.event().disable()?;
        state.profile.add(ring.batch()?)
    }

    /// Reads all rings and returns their samples since the start.
    pub(crate) fn collect(&self) -> Result<Profile> {
        let mut state = self.state();
        let State { rings, profile, .. } = &mut *state;
        rings.wait(Some(Duration::ZERO))?; // finds the threads that exited
        for (_, batch) in rings.ready() {
            profile.add(batch?)?;
        }
        while rings.pop_ended().is_some() {}
        profile.rings = rings.len();
        Ok(profile.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Profile {
    fn add(&mut self, mut batch: Batch<'_>) -> Result<()> {
        for record in batch.records() {
            match record?.decode(&self.layout)? {
                Record::Sample(sample) => {
                    if let Some(tid) = sample.tid() {
                        *self.threads.entry(tid).or_default() += 1;
                    }
                }
                Record::Lost(lost) => self.lost += lost.lost(),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Joins for 100 ms, and works on after that.
fn work(profiler: &Profiler) -> Result<()> {
    let number = profiler.join()?;
    spin(Duration::from_millis(100));
    profiler.leave(number)?;
    spin(Duration::from_millis(100));
    Ok(())
}

fn spin(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

fn main() -> std::result::Result<(), perf_ring::Report> {
    run().map_err(|error| -> Box<dyn Error> { error })?;
    Ok(())
}

fn run() -> Result<()> {
    let profiler = Profiler::new()?;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(|| work(&profiler))).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(20));
            profiler.collect()?;
        }
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })?;
    let profile = profiler.collect()?;
    for (tid, milliseconds) in &profile.threads {
        println!("{tid:>8} {milliseconds:>6} ms");
    }
    println!("{} samples lost", profile.lost);
    Ok(())
}
