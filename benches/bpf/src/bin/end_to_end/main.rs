//! A program that writes on CPU 0 and a reader that waits on CPU 1: consumer CPU per record, losses and
//! wakeups of perf-bpf, aya and libbpf-rs, at the highest rate and at paced ones.
//!
//! ```sh
//! cargo run --release --manifest-path benches/bpf/Cargo.toml --bin end_to_end -- [ROUNDS [PAGES [RATE [READER]]]]
//! ```

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use perf_bpf::{Link, ProgramFd};

#[path = "../../pin.rs"]
mod pin;
mod program;
mod readers;

use pin::pin;
use program::{Counters, Kind, RECORDS};
use readers::{Delivered, Opened};

/// Records a second; `None` is the highest rate.
const RATES: [Option<u64>; 5] = [Some(10_000), Some(100_000), Some(500_000), Some(1_000_000), None];

/// The time of one run.
const TIME: Duration = Duration::from_millis(500);

type Open = fn(usize) -> Opened;

const READERS: [(&str, Kind, Open); 8] = [
    ("array, perf-bpf", Kind::Array, readers::ours_array),
    ("array, aya", Kind::Array, readers::aya_array),
    ("array, libbpf-rs", Kind::Array, readers::libbpf_array),
    ("array, 1/4 ring, perf-bpf", Kind::Array, readers::ours_array_quarter),
    ("array, 1/4 ring, libbpf", Kind::Array, readers::libbpf_array_quarter),
    ("ring, perf-bpf", Kind::Ring, readers::ours_ring),
    ("ring, aya", Kind::Ring, readers::aya_ring),
    ("ring, libbpf-rs", Kind::Ring, readers::libbpf_ring),
];

/// One run of one reader.
#[derive(Clone, Copy, Debug)]
struct Run {
    tried: u64,
    /// Lost records, as the program counts them.
    refused: u64,
    delivered: Delivered,
    /// Lost records, as the reader knows them at the end.
    known: u64,
    /// Time of the producer, in ns.
    produced_in: u64,
    cpu: Cpu,
    waits: u64,
}

/// What the consumer's thread has used.
#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    ns: u64,
    /// Voluntary context switches: the waits that slept.
    sleeps: u64,
}

impl Cpu {
    fn now() -> Self {
        // SAFETY: any bytes are a time.
        let mut time: libc::timespec = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes the time.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        // SAFETY: any bytes are usage numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes the numbers.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        Self { ns: time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64, sleeps: usage.ru_nvcsw as u64 }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    pin(0)?;
    // As few other programs as possible on the producer's CPU. This needs root.
    // SAFETY: no memory is passed.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
    let mut args = std::env::args().skip(1);
    let rounds = args.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let pages: usize = args.next().map_or(Ok(256), |pages| pages.parse())?;
    let rate = args.next().map(|rate| rate.parse::<u64>()).transpose()?;
    let reader = args.next().unwrap_or_default();
    let readers: Vec<_> = READERS.into_iter().filter(|(name, ..)| name.contains(&reader)).collect();
    // 0 is the highest rate.
    let rates = rate.map_or(RATES.to_vec(), |rate| vec![(rate != 0).then_some(rate)]);
    println!("{rounds} runs of {TIME:?}, rings of {} KiB: medians", pages * 4);
    for rate in rates {
        let mut runs = vec![Vec::new(); readers.len()];
        for _ in 0..rounds {
            for (runs, (name, kind, open)) in runs.iter_mut().zip(&readers) {
                runs.push(run(*kind, *open, pages, rate).map_err(|error| format!("{name}: {error}"))?);
            }
        }
        match rate {
            Some(rate) => println!("\n{rate} records/s"),
            None => println!("\nhighest rate"),
        }
        println!("  reader                      records/s  ns/record     lost   known  waits/s sleeps/s");
        for ((name, ..), runs) in readers.iter().zip(&runs) {
            print(name, runs);
        }
    }
    Ok(())
}

fn print(name: &str, runs: &[Run]) {
    let median = |value: fn(&Run) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    println!(
        "  {name:<26} {:>10.0} {:>10.1} {:>8} {:>7} {:>8.0} {:>8.0}",
        median(|run| run.tried as f64 / (run.produced_in as f64 / 1e9)),
        median(|run| run.cpu.ns as f64 / run.delivered.records.max(1) as f64),
        runs.iter().map(|run| run.refused).sum::<u64>(),
        runs.iter().map(|run| run.known).sum::<u64>(),
        median(|run| run.waits as f64 / (run.produced_in as f64 / 1e9)),
        median(|run| run.cpu.sleeps as f64 / (run.produced_in as f64 / 1e9)),
    );
}

fn run(kind: Kind, open: Open, pages: usize, rate: Option<u64>) -> Result<Run, Box<dyn Error>> {
    let is_done = AtomicBool::new(false);
    let (send_map, map) = channel();
    std::thread::scope(|scope| {
        let is_done = &is_done;
        let consumer = scope.spawn(move || consume(open, pages, is_done, &send_map));
        let produced = produce(kind, &map, rate);
        is_done.store(true, Ordering::Release);
        let consumed = consumer.join().map_err(|_| "the reader has panicked")?;
        let (delivered, known, cpu, waits) = consumed?;
        let (tried, refused, produced_in) = produced?;
        let run = Run { tried, refused, delivered, known, produced_in, cpu, waits };
        // The exact account: nothing is missing, nothing is twice.
        assert_eq!(tried, delivered.records + refused, "{run:?}");
        Ok(run)
    })
}

type Consumed = (Delivered, u64, Cpu, u64);

fn consume(
    open: Open,
    pages: usize,
    is_done: &AtomicBool,
    map: &Sender<std::os::fd::OwnedFd>,
) -> Result<Consumed, String> {
    pin(1).map_err(|error| error.to_string())?;
    // Other programs must not delay the reader, or they decide about the losses. This needs root.
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads the priority.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) };
    let (fd, mut reader) = open(pages).map_err(|error| error.to_string())?;
    map.send(fd).map_err(|error| error.to_string())?;
    let (mut sum, mut waits, begin) = (Delivered::default(), 0, Cpu::now());
    loop {
        // Before the step, so that it reads all that was written.
        let is_last = is_done.load(Ordering::Acquire);
        waits += 1;
        reader.step(Duration::from_millis(if is_last { 0 } else { 10 }), &mut sum);
        if is_last {
            break;
        }
    }
    let end = Cpu::now();
    let cpu = Cpu { ns: end.ns - begin.ns, sleeps: end.sleeps - begin.sleeps };
    Ok((sum, reader.lost(&sum), cpu, waits))
}

/// Returns the records tried and refused, and the time in ns.
fn produce(
    kind: Kind,
    map: &Receiver<std::os::fd::OwnedFd>,
    rate: Option<u64>,
) -> Result<(u64, u64, u64), Box<dyn Error>> {
    let map = map.recv()?;
    let counters = Counters::create()?;
    // SAFETY: no memory is passed.
    let thread = unsafe { libc::gettid() };
    let program: ProgramFd = program::load(kind, &map, &counters, thread)?;
    let link = Link::raw_tracepoint(c"sys_enter", &program, 0)?;
    let (begin, mut calls) = (Instant::now(), 0);
    loop {
        let now = begin.elapsed();
        if now >= TIME {
            break;
        }
        // The time at which the next call is due. Calls that are late are made up for.
        let due = rate.map_or(0, |rate| calls * RECORDS * 1_000_000_000 / rate);
        if now.as_nanos() as u64 >= due {
            // SAFETY: no memory is passed.
            unsafe { libc::getpgid(0) };
            calls += 1;
        } else {
            std::hint::spin_loop();
        }
    }
    let produced_in = begin.elapsed().as_nanos() as u64;
    drop(link);
    let [tried, refused] = counters.read()?;
    assert_eq!(tried, calls * RECORDS, "the program ran for each call");
    Ok((tried, refused, produced_in))
}
