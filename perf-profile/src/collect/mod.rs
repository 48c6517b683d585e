//! From records to a profile.

mod chains;
mod collector;
mod resolver;

pub use collector::Collector;
pub use resolver::{Resolved, Resolver};
