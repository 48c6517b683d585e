//! Workloads, their consumers, and what the benches of `benches/` and the commands of `src/commands` have in common.
//!
//! A [workload](workloads) is bytes, or a stream of events of the running kernel. A [consumer](consumers) reads it with one
//! library, and returns a sum, by which all consumers of a workload are known to have read the same values.

pub mod consumers;
pub mod measurement;
pub mod workloads;

/// The result of a measurement.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
