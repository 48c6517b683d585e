//! Reading rings, for perf-ring and its peers on the same stream of events: draining a full ring, reading while the
//! stream runs as fast as it can (a quarter of the passes), and reading 20 000 samples a second (an eighth).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use rustix::thread::gettid;

use super::samplers::{Found, NAMES, Open, Setup, samplers};
use super::stream::{Faults, SAMPLE};
use crate::counter::Counter;
use crate::decode::{All, Few};
use crate::table::{Result, table};
use crate::{allocations, number};

pub(crate) fn drain(arguments: &[String]) -> Result<()> {
    let passes: usize = number(arguments, 0, 41)?;
    for ring in [7, 9] {
        full_ring("ip and time", samplers::<Few>(), ring, passes)?;
        full_ring("all fields", samplers::<All>(), ring, passes)?;
    }
    let small = Setup { thread: gettid(), ring: 4, watermark: 16 << 10 };
    beside("500 000 samples at full speed", &small, passes.div_ceil(4), |faults| faults.make(500_000))?;
    let large = Setup { ring: 6, watermark: 32 << 10, ..small };
    beside("20 000 samples a second", &large, passes.div_ceil(8), at_20_000_a_second)
}

/// Draining a ring that is full, by the thread that filled it.
fn full_ring(touch: &str, open: [Open; 2], ring: u8, passes: usize) -> Result<()> {
    let setup = Setup { thread: gettid(), ring, watermark: 0 };
    let mut samplers = Vec::new();
    for open in open {
        samplers.push(open(&setup)?);
    }
    let mut faults = Faults::new()?;
    let clock = Counter::nanoseconds()?;
    let title = format!("full ring of {} KiB, {touch}", setup.bytes() >> 10);
    table(&title, ["ns/sample", "samples", "lost", "allocations"], &NAMES, passes, |index| {
        let sampler = &mut samplers[index];
        let before = sampler.count();
        sampler.enable();
        faults.make(setup.bytes() / SAMPLE * 5 / 4);
        sampler.disable();
        let mut found = Found::default();
        let allocated = allocations::count();
        let nothing = clock.count(|| ()).unwrap_or(0);
        let time = clock.count(|| sampler.drain(&mut found)).ok_or("the task clock stopped")?;
        let allocated = allocations::count() - allocated;
        let samples = found.samples as f64;
        let lost = (sampler.count() - before) as f64 - samples;
        let time = time.saturating_sub(nothing) as f64 / samples;
        Ok([time, samples, lost, allocated as f64])
    })
}

/// Reading on a separate thread, while this thread makes the faults.
fn beside(title: &str, setup: &Setup, passes: usize, make: fn(&mut Faults)) -> Result<()> {
    let title =
        format!("{title}, ring of {} KiB, woken every {} KiB", setup.bytes() >> 10, setup.watermark >> 10);
    let columns = ["ns/sample", "CPU %", "samples", "lost", "wake-ups", "calls/wake-up"];
    let mut faults = Faults::new()?;
    let open = samplers::<Few>();
    table(&title, columns, &NAMES, passes, |index| {
        let done = AtomicBool::new(false);
        let (tell_ready, ready) = channel();
        std::thread::scope(|scope| {
            let read = || reader(open[index], setup, tell_ready, &done).map_err(|error| error.to_string());
            let reader = scope.spawn(read);
            if ready.recv().is_ok() {
                make(&mut faults);
            }
            done.store(true, Ordering::Relaxed);
            Ok(reader.join().map_err(|_| "the reader panicked")??)
        })
    })
}

fn reader(open: Open, setup: &Setup, ready: Sender<()>, done: &AtomicBool) -> Result<[f64; 6]> {
    let mut sampler = open(setup)?;
    let clock = Counter::nanoseconds()?;
    let calls = Counter::system_calls();
    let mut found = Found::default();
    let mut wake_ups = 0;
    sampler.enable();
    ready.send(())?;
    let start = Instant::now();
    let read = || {
        while !done.load(Ordering::Relaxed) {
            wake_ups += u32::from(sampler.wait_and_drain(Duration::from_millis(100), &mut found));
        }
    };
    let mut called = None;
    let time = match &calls {
        Some(calls) => clock.count(|| called = calls.count(read)),
        None => clock.count(read),
    };
    let wall = start.elapsed().as_nanos() as f64;
    sampler.disable();
    sampler.drain(&mut found);
    let (time, samples) = (time.ok_or("the task clock stopped")? as f64, found.samples as f64);
    let lost = sampler.count() as f64 - samples;
    // The counter's last read is in its count.
    let called = called.map_or(f64::NAN, |called| (called - 1) as f64 / f64::from(wake_ups));
    Ok([time / samples, 100.0 * time / wall, samples, lost, wake_ups.into(), called])
}

fn at_20_000_a_second(faults: &mut Faults) {
    let start = Instant::now();
    for sample in 0..40_000 {
        while start.elapsed() < sample * Duration::from_micros(50) {
            std::hint::spin_loop();
        }
        faults.make(1);
    }
}
