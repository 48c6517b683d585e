//! Speed of perf-decode, on the same bytes as hand-written code and as the other decoders of crates.io.
//!
//! Seven [workloads](workload) of records are written into a ring's data area ([`Input`]). Every
//! [consumer](consumers) reads the whole of it and returns a [checksum](Sum), so that all are known to have
//! seen the same values. [`cases`] pairs them; `benches/decode.rs` and `src/bin/ratios.rs` time the pairs.

pub mod allocations;
mod case;
mod checksum;
pub mod consumers;
pub mod counter;
mod input;

mod random;
mod side_band;
pub mod workload;

pub use case::{Case, Consumer, cases};
pub use checksum::{All, Few, Sum, Touch, Views};
pub use input::Input;
pub use random::Random;

/// Bytes of an input that stays in a core's L2 cache.
pub const FITS_L2: usize = 512 << 10;

/// Bytes of an input that does not.
pub const LARGE: usize = 8 << 20;
