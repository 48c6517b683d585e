//! The sampled program: threads with different functions, and short-lived child processes.
//!
//! It is this program, executed with a hidden subcommand. The events start at the exec, so records
//! report all mappings of the new program.

use std::hint::black_box;
use std::io;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use perf_session::Mount;

/// Computing threads of the workload.
pub(crate) const THREADS: usize = JOBS.len();

/// Child processes of the workload, one after another.
pub(crate) const CHILDREN: u32 = 4;

/// Name of the hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "demo-workload";

/// Name of each thread, its share of a CPU in percent, and one round of its work.
const JOBS: [(&str, u64, fn()); 4] =
    [("hash-words", 100, hash), ("multiply", 60, multiply), ("sieve", 30, sieve), ("sort", 15, sort)];

/// Time in which a thread computes for its share, and sleeps for the rest.
const PERIOD: Duration = Duration::from_millis(10);

/// Arguments of the hidden subcommand.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// Milliseconds to compute
    #[arg(long)]
    millis: u64,
    /// Run as a child process of the workload
    #[arg(long)]
    child: bool,
}

/// The process of the workload, killed on drop.
#[derive(Debug)]
pub(crate) struct Workload(Child);

impl Workload {
    /// Starts the workload, which exits after `time`.
    pub(crate) fn start(time: Duration) -> io::Result<Self> {
        let context = |error: io::Error| {
            let mut text = format!("workload: cannot execute this program (/proc/self/exe): {error}");
            if error.kind() == io::ErrorKind::NotFound {
                text = format!("{text}; {}", Mount::PROC);
            }
            io::Error::new(error.kind(), text)
        };
        command(time).spawn().map(Self).map_err(context)
    }

    /// Returns whether the workload still runs.
    ///
    /// # Errors
    ///
    /// If it exited with a failure.
    pub(crate) fn runs(&mut self) -> io::Result<bool> {
        match self.0.try_wait()? {
            None => Ok(true),
            Some(status) if status.success() => Ok(false),
            Some(status) => {
                Err(io::Error::other(format!("workload: expected exit status 0, found {status}")))
            }
        }
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // Both fail only after the process was reaped.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(time: Duration) -> Command {
    // Not by its path, because the file may have been replaced since the start.
    let mut command = Command::new("/proc/self/exe");
    command.args([SUBCOMMAND, "--millis", &time.as_millis().to_string()]).stdin(Stdio::null());
    command
}

/// Runs the hidden subcommand.
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
