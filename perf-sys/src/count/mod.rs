//! Counts that are read without a system call.

mod page;
mod rdpmc;
mod time_conversion;

pub use page::{CounterPage, PageCount};
pub use time_conversion::TimeConversion;
