//! From records to a profile.

mod chains;
mod collector;
mod resolver;
mod tabulation;

pub use collector::Collector;
pub use resolver::{Resolved, Resolver};
