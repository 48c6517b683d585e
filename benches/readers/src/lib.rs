//! What the loops of the benches share: workloads, checksum, and per decoder the code that reads
//! the fields of one record.
//!
//! The [`collector`]s are methods of a crate that is not the loop's, and are compiled here. All
//! other reading code is inlined into the loops of `perfkit-benches`, so that the shapes there
//! differ in their control flow only.

pub mod by_hand;
mod checksum;
pub mod collector;
mod frames;
pub mod linux_perf_event_reader;
pub mod ours;
mod peer;
pub mod perf_event_data;
pub mod perf_event_open;
mod random;
mod side_band;
pub mod workload;

pub use checksum::{All, Few, Sum, Touch, Views};
pub use frames::Frames;
pub use peer::Peer;
pub use random::Random;
pub use workload::Workload;
