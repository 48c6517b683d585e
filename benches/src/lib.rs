//! Speed of perf-decode and perf-sys, beside code by hand and the other crates of crates.io.
//!
//! # Decoding
//!
//! Seven [workloads](workload) of records are written into a ring's data area ([`Input`]). Loops of several
//! [shapes] read the whole of it with each decoder and return a [checksum](Sum), so that all are known to have
//! seen the same values. [`cases`] pairs them; `src/bin/ratios.rs`, `src/bin/instructions.rs` and
//! `benches/decode.rs` measure the pairs.
//!
//! # Sampling and counting
//!
//! The page faults of a thread are a [stream] of events. Every [sampler](samplers) reads them from a ring of
//! its own; `src/bin/drain.rs` times that, and `src/bin/count.rs` the reading of counters.

pub mod allocations;
mod case;
pub mod counter;
mod input;
pub mod live;
pub mod recording;
pub mod report;
pub mod samplers;
pub mod shapes;
pub mod stream;
mod table;

pub use case::{Case, Consumer, cases, selected};
pub use input::Input;
pub use perfkit_benches_readers::{All, Few, Random, Sum, Touch, Views, workload};
pub use table::{Result, median, table};

/// Bytes of an input that stays in a core's L2 cache.
pub const FITS_L2: usize = 512 << 10;

/// Bytes of an input that does not.
pub const LARGE: usize = 8 << 20;

/// Bytes of an input that is small enough to be built under Valgrind.
pub const SMALL: usize = 64 << 10;

/// The code of the root README, compiled as tests: this crate depends on all that it uses.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
