//! How long threads run, sleep and wait for a CPU, from records of the scheduler.

mod durations;
mod event;
mod summary;

pub use durations::Durations;
pub use event::SchedEvent;
pub use summary::{SchedCpu, SchedSummary, SchedThread, ThreadState};

#[cfg(test)]
mod tests;
