//! The program that is sampled: threads with distinct functions, and children that come and go.
//!
//! It is this program again, started with a hidden subcommand. The exec makes the kernel tell all its
//! mappings, so that every address of a sample can be found.

use std::hint::black_box;
use std::io;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

/// Computing threads of the workload.
pub(crate) const THREADS: usize = JOBS.len();

/// Programs that the workload starts, one after the other.
pub(crate) const CHILDREN: u32 = 4;

/// Name of the hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "demo-workload";

/// Name of a thread, its share of a CPU in percent, and a round of its work.
const JOBS: [(&str, u64, fn()); 4] =
    [("hash-words", 100, hash), ("multiply", 60, multiply), ("sieve", 30, sieve), ("sort", 15, sort)];

/// Work and rest of a thread together.
const PERIOD: Duration = Duration::from_millis(10);

/// Arguments of the hidden subcommand.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// How long to compute
    #[arg(long)]
    millis: u64,
    /// Be one of the children
    #[arg(long)]
    child: bool,
}

/// The workload as the demo sees it: a process that does not outlive this value.
#[derive(Debug)]
pub(crate) struct Workload(Child);

impl Workload {
    /// Starts the workload, which ends by itself after `time`.
    pub(crate) fn start(time: Duration) -> io::Result<Self> {
        let context =
            |error| io::Error::other(format!("cannot start this program again as the workload: {error}"));
        command(time).spawn().map(Self).map_err(context)
    }

    /// Whether it is still there. That it failed is an error.
    pub(crate) fn runs(&mut self) -> io::Result<bool> {
        match self.0.try_wait()? {
            None => Ok(true),
            Some(status) if status.success() => Ok(false),
            Some(status) => Err(io::Error::other(format!("the workload failed: {status}"))),
        }
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // Both fail only for a process that has ended, which is what they are for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(time: Duration) -> Command {
    // Not the path of the program: that may have been replaced or hidden since it was started.
    let mut command = Command::new("/proc/self/exe");
    command.args([SUBCOMMAND, "--millis", &time.as_millis().to_string()]).stdin(Stdio::null());
    command
}

/// The workload itself.
pub(crate) fn run(arguments: &Arguments) -> io::Result<()> {
    let time = Duration::from_millis(arguments.millis);
    let end = Instant::now() + time;
    if arguments.child {
        rustix::thread::set_name(c"demo-child")?;
        collatz(end);
        return Ok(());
    }
    rustix::thread::set_name(c"demo-workload")?;
    thread::scope(|scope| {
        for (name, share, work) in JOBS {
            thread::Builder::new()
                .name(name.to_owned())
                .spawn_scoped(scope, move || repeat(share, work, end))?;
        }
        for _ in 0..CHILDREN {
            thread::sleep(time / (CHILDREN + 2));
            command(time / (CHILDREN * 4)).arg("--child").status()?;
        }
        Ok(())
    })
}

fn repeat(share: u64, work: fn(), end: Instant) {
    let busy = Duration::from_millis(share) * PERIOD.as_millis() as u32 / 100;
    while Instant::now() < end {
        let start = Instant::now();
        while start.elapsed() < busy {
            work();
        }
        thread::sleep(PERIOD.saturating_sub(busy));
    }
}

/// Integers, nothing but registers.
#[inline(never)]
fn hash() {
    let mut state = black_box(0xcbf2_9ce4_8422_2325_u64);
    for word in 0..20_000_u64 {
        state = (state ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    }
    black_box(state);
}

/// Floating point over a small matrix.
#[inline(never)]
fn multiply() {
    const SIZE: usize = 24;
    let matrix = black_box([[1.000_1_f64; SIZE]; SIZE]);
    let mut product = [[0.0; SIZE]; SIZE];
    for (row, sums) in matrix.iter().zip(&mut product) {
        for (factor, other) in row.iter().zip(&matrix) {
            for (sum, value) in sums.iter_mut().zip(other) {
                *sum += factor * value;
            }
        }
    }
    black_box(product);
}

/// Strided writes.
#[inline(never)]
fn sieve() {
    let mut composite = vec![false; 20_000];
    for step in 2..142 {
        for mark in composite.iter_mut().skip(step * step).step_by(step) {
            *mark = true;
        }
    }
    black_box(composite);
}

/// Branches that cannot be predicted.
#[inline(never)]
fn sort() {
    let mut seed = black_box(42_u32);
    let mut numbers: Vec<u32> = (0..2_000)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 8
        })
        .collect();
    numbers.sort_unstable();
    black_box(numbers);
}

/// The children's work.
#[inline(never)]
fn collatz(end: Instant) {
    let mut start = 1_u64;
    while Instant::now() < end {
        for _ in 0..100 {
            start += 1;
            let mut number = start;
            while number != 1 {
                number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
            }
            black_box(number);
        }
    }
}
