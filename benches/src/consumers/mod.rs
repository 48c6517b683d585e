//! The consumers of a stream of records. Each reads the whole input and returns the sum of what it read.

pub mod by_hand;
pub mod linux_perf_event_reader;
pub mod ours;
pub mod perf_event_data;
pub mod perf_event_open;
