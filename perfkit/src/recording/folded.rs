//! The outermost frame of folded stacks.

use clap::ValueEnum;
use perf_profile::Folded;

/// The outermost frame of folded stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Root {
    /// The name of the thread
    Comm,
    /// The name with the process: comm-pid
    Pid,
    /// The name with process and thread: comm-pid/tid
    Tid,
    /// The outermost function
    None,
}

impl Root {
    /// Sets the outermost frame of the stacks that are written.
    pub(crate) fn apply(self, folded: Folded) -> Folded {
        match self {
            Self::Comm => folded,
            Self::Pid => folded.with_pid(),
            Self::Tid => folded.with_tid(),
            Self::None => folded.without_thread(),
        }
    }
}
