//! Hits of the tracepoints, and the calls that they add up to.

use super::SyscallError;

/// A hit of one of the tracepoints: the start of a call with its arguments, or its return with the
/// result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallHit {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Time in ns of the event's clock.
    pub time: u64,
    /// Number of the call on this architecture; -1 if the kernel has forgotten it, as at the return
    /// of `rt_sigreturn`.
    pub number: i64,
    /// Whether the call starts or returns, with its data.
    pub step: SyscallStep,
}

/// The start or the return of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyscallStep {
    /// `raw_syscalls:sys_enter`.
    Enter {
        /// Words of the arguments. A call with fewer than six leaves garbage in the rest.
        args: [u64; 6],
    },
    /// `raw_syscalls:sys_exit`.
    Exit {
        /// Value of the result register. A value from -4095 to -1 is a negated errno.
        result: i64,
    },
}

/// A system call of a thread, as far as its start and end were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syscall {
    /// Process id.
    pub pid: u32,
    /// Thread id; the one at the end, if an `execve` changed it.
    pub tid: u32,
    /// Number of the call on this architecture; -1 if it is unknown.
    pub number: i64,
    /// Start of the call; `None` if it was lost or before the trace.
    pub enter: Option<SyscallEnter>,
    /// How the call ended, as far as known.
    pub end: SyscallEnd,
}

/// The start of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallEnter {
    /// Time in ns of the event's clock.
    pub time: u64,
    /// Words of the arguments. A call with fewer than six leaves garbage in the rest.
    pub args: [u64; 6],
}

/// The end of a call, as far as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyscallEnd {
    /// The call returned, successfully or with an error.
    Returned {
        /// Time in ns of the event's clock.
        time: u64,
        /// Value of the result register. A value from -4095 to -1 is a negated errno.
        result: i64,
    },
    /// The thread exited within the call, because it called `exit`, a signal killed it, or another
    /// thread called `execve`.
    Exited {
        /// Time in ns of the event's clock.
        time: u64,
    },
    /// The thread started another call, or returned from another call, although no loss was noted.
    NotSeen,
    /// Records were lost while the call was in progress, and its return may be among them.
    Lost,
    /// The call was in progress when the trace ended, or was evicted because too many calls were in
    /// progress.
    InProgress,
}

impl Syscall {
    /// Returns the time from start to return in ns; `None` unless both were seen.
    pub fn duration(&self) -> Option<u64> {
        match self.end {
            // Records of one thread are in order, except for late records.
            SyscallEnd::Returned { time, .. } => Some(time.saturating_sub(self.enter?.time)),
            _ => None,
        }
    }

    /// Returns the result; `None` unless the call returned.
    pub const fn result(&self) -> Option<i64> {
        match self.end {
            SyscallEnd::Returned { result, .. } => Some(result),
            _ => None,
        }
    }

    /// Returns the error if the call failed.
    pub fn error(&self) -> Option<SyscallError> {
        SyscallError::from_result(self.result()?)
    }
}
