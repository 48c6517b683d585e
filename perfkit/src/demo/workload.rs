//! The hidden subcommand that `perfkit demo` records: threads with different functions, and
//! short-lived child processes.

use std::hint::black_box;
use std::io;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::RangedU64ValueParser;

/// Name of the subcommand.
pub(crate) const SUBCOMMAND: &str = "workload";

/// Default number of seconds for which the workload computes.
pub(crate) const SECONDS: u64 = 2;

/// Child processes, one after another.
const CHILDREN: u32 = 4;

/// Name of each thread, its share of a CPU in percent, and one round of its work.
const JOBS: [(&str, u64, fn()); 4] =
    [("hash-words", 100, hash), ("multiply", 60, multiply), ("sieve", 30, sieve), ("sort", 15, sort)];

/// Period in which a thread computes for its share, and sleeps for the rest.
const PERIOD: Duration = Duration::from_millis(10);

/// Arguments of the hidden subcommand.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Seconds to compute
    #[arg(long, value_name = "N", default_value_t = SECONDS, value_parser = seconds())]
    seconds: u64,
    /// Run as a child process of the workload, for this time in milliseconds
    #[arg(long, value_name = "MS")]
    child: Option<u64>,
}

/// Returns the parser of the time in seconds.
pub(crate) fn seconds() -> RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=60)
}

/// Runs the hidden subcommand.
pub(crate) fn run(arguments: &Arguments) -> io::Result<()> {
    if let Some(millis) = arguments.child {
        rustix::thread::set_name(c"child")?;
        collatz(Instant::now() + Duration::from_millis(millis));
        return Ok(());
    }
    let time = Duration::from_secs(arguments.seconds);
    let end = Instant::now() + time;
    thread::scope(|scope| {
        for (name, share, work) in JOBS {
            thread::Builder::new()
                .name(name.to_owned())
                .spawn_scoped(scope, move || repeat(share, work, end))?;
        }
        for _ in 0..CHILDREN {
            thread::sleep(time / (CHILDREN + 2));
            let millis = (time / (CHILDREN * 4)).as_millis().to_string();
            // Not by its path, because the file may have been replaced since the start.
            Command::new("/proc/self/exe").args([SUBCOMMAND, "--child", &millis]).status()?;
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

/// Integer arithmetic in registers.
#[inline(never)]
fn hash() {
    let mut state = black_box(0xcbf2_9ce4_8422_2325_u64);
    for word in 0..20_000_u64 {
        state = (state ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
    }
    black_box(state);
}

/// Floating-point arithmetic on a small matrix.
#[inline(never)]
fn multiply() {
    // Small, so that the stack copy in a sample includes the callers.
    const SIZE: usize = 16;
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

/// Unpredictable branches.
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

/// Work of the child processes.
#[inline(never)]
fn collatz(end: Instant) {
    let mut start = 1_u64;
    while Instant::now() < end {
        for _ in 0..100 {
            start += 1;
            let mut number = start;
            while number != 1 {
                number = if number.is_multiple_of(2) { number / 2 } else { 3 * number + 1 };
            }
            black_box(number);
        }
    }
}
