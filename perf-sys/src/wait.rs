//! Waiting for descriptors: what a wait returns, until when it waits, and who polls.

mod poll;
mod readiness;
mod waiters;

pub(crate) use poll::{Deadline, poll, poll_events};
pub use readiness::Readiness;
pub(crate) use waiters::{Turn, Waiters};
