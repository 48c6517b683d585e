//! Speed of perf-decode and perf-sys, beside hand-written code and the other crates of crates.io.
//!
//! # Decoding
//!
//! Seven [workloads](workload) of records are written into a ring's data area ([`Input`]). Every
//! [consumer](consumers) reads the whole of it and returns a [checksum](Sum), so that all are known to have
//! seen the same values. [`cases`] pairs them; `benches/decode.rs` and `src/bin/ratios.rs` time the pairs.
//!
//! # Sampling and counting
//!
//! The page faults of a thread are a [stream] of events. Every [sampler](samplers) reads them from a ring of
//! its own; `src/bin/drain.rs` times that, and `src/bin/count.rs` the reading of counters.

pub mod allocations;
mod case;
mod checksum;
pub mod consumers;
pub mod counter;
mod input;
pub mod live;
mod random;
pub mod samplers;
mod side_band;
pub mod stream;
mod table;
pub mod workload;

pub use case::{Case, Consumer, cases};
pub use checksum::{All, Few, Sum, Touch, Views};
pub use input::Input;
pub use random::Random;
pub use table::{Result, median, table};

/// Bytes of an input that stays in a core's L2 cache.
pub const FITS_L2: usize = 512 << 10;

/// Bytes of an input that does not.
pub const LARGE: usize = 8 << 20;

/// The code of the root README, compiled as tests: this crate depends on all that it uses.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
