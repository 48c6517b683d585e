//! Many rings in an asynchronous program, with one task and one descriptor and without threads.
//!
//! Each watched thread has a ring. tokio waits for a [`RingSet`] of all of them.

use std::error::Error;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use perf_ring::{Attr, Event, RecordType, Ring, RingSet, SampleType, Software, Target, WaitResult};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Counts the samples of each ring until all watched threads have exited.
async fn count(rings: Vec<Ring>) -> Result<Vec<u64>, Box<dyn Error>> {
    let mut samples = vec![0; rings.len()];
    let mut set = RingSet::new()?;
    for (index, ring) in rings.into_iter().enumerate() {
        set.add(index, ring)?;
    }
    // SAFETY: the descriptor of a set stays the same, and open, as long as the set lives.
    let mut set = unsafe { AsyncFd::register_with_interest(set, Interest::READABLE) }?;
    loop {
        let mut readable = set.readable_mut().await?;
        // Cleared before the wait, so that later records make the set ready again.
        readable.clear_ready();
        let set = readable.get_inner_mut();
        loop {
            let found = set.wait(Some(Duration::ZERO))?;
            for (&index, batch) in set.ready() {
                for record in batch?.records() {
                    let is_sample = record?.kind() == RecordType::SAMPLE;
                    *samples.get_mut(index).ok_or("a ring that was not added")? += u64::from(is_sample);
                }
            }
            match found {
                WaitResult::Readable => {}
                WaitResult::TimedOut => break,
                _ => return Ok(samples),
            }
        }
    }
}

/// A thread that sleeps, and whose context switches are sampled.
struct Sleeper {
    ring: Ring,
    start: Sender<()>,
    thread: JoinHandle<()>,
}

/// Starts a thread that maps a ring of its context switches, and sleeps `naps` times after the
/// start.
fn spawn(naps: u64) -> Result<Sleeper, Box<dyn Error>> {
    let attr = Attr::software(Software::CONTEXT_SWITCHES)
        .with_period(1)
        .with_sample_type(SampleType::TID | SampleType::TIME)
        .with_wakeup_events(1);
    let ((send_ring, ring), (start, started)) = (channel(), channel());
    let thread = thread::spawn(move || {
        let open = || Ok(Ring::map(Event::open(&attr, Target::calling_thread())?, 8)?);
        let ring: perf_ring::Result<_> = open();
        if send_ring.send(ring).is_ok() && started.recv().is_ok() {
            (0..naps).for_each(|_| thread::sleep(Duration::from_millis(1)));
        }
    });
    Ok(Sleeper { ring: ring.recv()??, start, thread })
}

/// Watches `threads` threads, each of which sleeps `naps` times, and returns their numbers of
/// samples.
pub(crate) fn watch(threads: usize, naps: u64) -> Result<Vec<u64>, Box<dyn Error>> {
    let (mut rings, mut running) = (Vec::new(), Vec::new());
    for _ in 0..threads {
        let Sleeper { ring, start, thread } = spawn(naps)?;
        rings.push(ring);
        running.push((start, thread));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    running.iter().try_for_each(|(start, _)| start.send(()))?;
    let samples = runtime.block_on(count(rings));
    for (_, thread) in running {
        thread.join().map_err(|_| "a sleeper panicked")?;
    }
    samples
}

fn main() -> Result<(), perf_ring::Report> {
    println!("samples of four threads that slept 100 times: {:?}", watch(4, 100)?);
    Ok(())
}
