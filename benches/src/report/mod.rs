//! Tables of what each decoder costs in each shape of loop.

mod measure;
mod print;

pub use measure::{Costs, Options, instructions, nanoseconds};
pub use print::print;
