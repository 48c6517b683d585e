//! Measures instructions instead of time in the benchmarks of [Criterion.rs](criterion), or cycles,
//! cache misses, page faults, or any other Linux event by its perf tool name.
//!
//! Instructions are nearly the same in each run, even on a busy machine, where times differ by some
//! percent.
//!
//! A complete benchmark, `benches/sort.rs`:
//!
//! ```
//! use std::hint::black_box;
//!
//! use criterion::{Criterion, criterion_group, criterion_main};
//! use criterion_perf::{PerfMeasurement, PerfMeasurementOptions};
//!
//! fn sort(criterion: &mut Criterion<PerfMeasurement>) {
//!     let numbers: Vec<u32> = (0..1000).rev().collect();
//!     criterion.bench_function("sort", |bencher| bencher.iter(|| black_box(&numbers).clone().sort()));
//! }
//!
//! fn instructions() -> PerfMeasurement {
//!     let options = PerfMeasurementOptions::new("instructions").clock_if_refused();
//!     options.open().unwrap_or_else(|error| panic!("{error}"))
//! }
//!
//! criterion_group!(name = benches; config = Criterion::default().with_measurement(instructions()); targets = sort);
//! criterion_main!(benches);
//! ```
//!
//! | to | use |
//! |---|---|
//! | count an event of this thread in user space | [`PerfMeasurement::new`] |
//! | count the kernel too | [`PerfMeasurementOptions::include_kernel`] |
//! | count the threads that a benchmark starts | [`PerfMeasurementOptions::inherit_threads`] |
//! | measure CPU time if the machine has no PMU, and print a line that says so | [`PerfMeasurementOptions::clock_if_refused`] |
//! | get the measured event, and the error of the requested one | [`PerfMeasurement::event`], [`PerfMeasurement::refused`] |
//! | show why an event does not open | [`Error`]: cause, evidence and remedy |
//!
//! # Reading the output
//!
//! Criterion writes `time:` before every value; the unit names the event, with the modifier `:u`
//! for user space, as in the perf tool. Less is better, also after `thrpt:`, where values are
//! counts per byte or element.
//!
//! Criterion compares with the previous run, even if it measured another event. Keep the results of
//! each event separate, with the environment variable `CRITERION_HOME` or
//! [`output_directory`](criterion::Criterion::output_directory).
//!
//! # What is counted
//!
//! A measurement counts the thread that opened it, which must also run the benchmarks, as it does
//! with `criterion_main!`. The two reads of a measurement add about 300 instructions in user space
//! (x86-64, release build), one system call, and with
//! [`include_kernel`](PerfMeasurementOptions::include_kernel) the kernel's work for it. Criterion
//! makes one measurement for all iterations of a sample, except with `iter_batched`, which makes
//! one for each batch.
//!
//! Warm-up and the number of iterations still follow the time. Criterion reports no result for a
//! sample with count 0. Warm-up and the number of iterations follow the time in any case. Criterion
//! makes no result of a sample with the count 0.

#![forbid(unsafe_code)]

mod error;
mod formatter;
mod measurement;
mod options;
mod text;

pub use error::Error;
pub use measurement::PerfMeasurement;
pub use options::PerfMeasurementOptions;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
