//! Summaries of a profile: tables, call trees, and differences.

mod diff;
mod entry;
mod rows;
mod sampled_functions;
mod short_paths;
mod table;
mod table_sums;
#[cfg(test)]
mod testing;
mod tree;

pub use diff::{Change, Diff, Estimate, Scale};
pub use entry::{Column, Entry};
pub use sampled_functions::{AddressSamples, SampledFunction};
pub use short_paths::ShortPaths;
pub use table::{Cost, Order, Row, Table};
pub use table_sums::TableSums;
pub(crate) use table_sums::{Adder, Names, NewNames};
pub use tree::{CallTree, Direction, Node};
