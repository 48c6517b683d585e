//! The outermost frame of folded stacks.

use std::io;

use clap::ValueEnum;
use perf_profile::read::Metadata;
use perf_profile::{Column, Folded, Split};

use super::{check_cgroups, check_split};

/// The outermost frame of folded stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Root {
    /// The name of the thread
    Comm,
    /// The name with the process: comm-pid
    Pid,
    /// The name with process and thread: comm-pid/tid
    Tid,
    /// The control group, then the name of the thread; for recordings of record --all-cgroups
    Cgroup,
    /// The CPU, then the name of the thread
    Cpu,
    /// The slice of time, of the length of --time-quantum, then the name of the thread
    Time,
    /// The outermost function
    None,
}

impl Root {
    /// Checks that the recording has the outermost frame.
    pub(crate) fn check(self, about: &Metadata) -> io::Result<()> {
        if self == Self::Cgroup {
            check_cgroups(about, "--root cgroup")?;
        }
        check_split(about, self.split(), "--root")
    }

    /// Returns what threads are split by.
    pub(crate) fn split(self) -> Split {
        match self {
            Self::Cpu => Split::for_columns(&[Column::Cpu]),
            Self::Time => Split::for_columns(&[Column::Time]),
            _ => Split::default(),
        }
    }

    /// Sets the outermost frame of the stacks that are written.
    pub(crate) fn apply(self, folded: Folded) -> Folded {
        match self {
            Self::Comm => folded,
            Self::Pid => folded.with_pid(),
            Self::Tid => folded.with_tid(),
            Self::Cgroup => folded.with_cgroup(),
            Self::Cpu => folded.with_cpu(),
            Self::Time => folded.with_time(),
            Self::None => folded.without_thread(),
        }
    }
}
