//! Workloads and their consumers, and helpers for the benches in `benches/` and the commands in
//! `src/commands`.
//!
//! A [workload](workloads) is bytes, or a stream of events from the running kernel. A
//! [consumer](consumers) reads it with one library, and returns a checksum. Equal checksums prove
//! that all consumers of a workload read the same values.

pub mod consumers;
pub mod measurement;
pub mod workloads;

/// Result with any error.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;
