use super::SyscallError;

/// A hit of one of the tracepoints: the start of a call with its arguments, or its return with the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallHit {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Time in ns of the event's clock.
    pub time: u64,
    /// Number of the call on this architecture; -1 if the kernel has forgotten it, as at the return of `rt_sigreturn`.
    pub number: i64,
    /// The start or the return.
    pub step: SyscallStep,
}

/// The start or the return of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyscallStep {
    /// `raw_syscalls:sys_enter`.
    Enter {
        /// The words of the arguments; a call with fewer leaves garbage in the rest.
        args: [u64; 6],
    },
    /// `raw_syscalls:sys_exit`.
    Exit {
        /// The value in the register: from -4095 to -1 it is an errno, negated.
        result: i64,
    },
}

/// A system call of a thread, from what is known of its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syscall {
    /// Process id.
    pub pid: u32,
    /// Thread id; at the end, if an `execve` changed it.
    pub tid: u32,
    /// Number of the call on this architecture; -1 if it is unknown.
    pub number: i64,
    /// The start; `None` if it was not seen: before the trace, or lost.
    pub enter: Option<SyscallEnter>,
    /// The way in which it ended, as far as that was seen.
    pub end: SyscallEnd,
}

/// The start of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallEnter {
    /// Time in ns of the event's clock.
    pub time: u64,
    /// The words of the arguments; a call with fewer leaves garbage in the rest.
    pub args: [u64; 6],
}

/// The end of a call, as far as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyscallEnd {
    /// The call returned.
    Returned {
        /// Time in ns of the event's clock.
        time: u64,
        /// The value in the register: from -4095 to -1 it is an errno, negated.
        result: i64,
    },
    /// The thread exited within the call: it called `exit`, a signal killed it, or another thread called `execve`.
    Exited {
        /// Time in ns of the event's clock.
        time: u64,
    },
    /// The thread made another call, or returned from one, without a return of this one. No loss was noted.
    NotSeen,
    /// Records were lost while the call was in progress, and its return may be among them.
    Lost,
    /// The call was in progress when the trace ended, or when too many were.
    InProgress,
}

impl Syscall {
    /// Returns the time from start to return in ns; `None` unless both were seen.
    pub fn duration(&self) -> Option<u64> {
        match self.end {
            // Records of one thread are in order, unless one of them is late.
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
