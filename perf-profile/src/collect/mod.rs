//! From records to a profile.

mod collector;
mod resolver;

pub use collector::Collector;
pub use resolver::{Resolved, Resolver};
