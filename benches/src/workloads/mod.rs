//! The measured bytes, generated from fixed seeds, so that every consumer and every run reads the
//! same.

#[cfg(feature = "bpf")]
pub mod bpf;
pub mod page_faults;
pub mod perf_data;
mod random;
mod side_band;
mod streams;

pub use random::Random;
pub use streams::{Callchain, Fixed, Group, Mix, REGISTERS, Raw, SideBand, Stack, Workload};
