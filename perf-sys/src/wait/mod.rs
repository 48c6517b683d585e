//! Waiting for descriptors: the result of a wait, its deadline, and threads that share a poll.

mod poll;
mod readiness;
mod waiters;

pub(crate) use poll::{Deadline, poll, poll_events};
pub use readiness::WaitResult;
pub(crate) use waiters::{Turn, Waiters};
