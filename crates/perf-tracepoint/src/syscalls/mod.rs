//! System calls: formats of their tracepoints, names and arguments, joining of start and return,
//! statistics.

mod args;
mod call;
mod classes;
mod error;
mod formats;
mod joiner;
mod numbers;
mod signal;
mod stats;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub use args::{SyscallArg, SyscallArgs};
pub use call::{Syscall, SyscallEnd, SyscallEnter, SyscallHit, SyscallStep};
pub use error::SyscallError;
pub use formats::SyscallFormats;
pub use joiner::SyscallJoiner;
pub use signal::Signal;
pub use stats::SyscallStats;
pub use summary::SyscallSummary;
pub use table::SyscallTable;
