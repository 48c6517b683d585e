//! A line of the trace, before its form.

use perf_tracepoint::Format;
use perf_tracepoint::{Syscall, SyscallArgs, SyscallEnd};

/// A line of the trace.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    Call {
        call: &'a Syscall,
        name: &'a str,
        /// `None` if the start was not seen.
        args: Option<SyscallArgs<'a>>,
    },
    Hit {
        time: u64,
        name: &'a str,
        format: &'a Format<'a>,
        raw: &'a [u8],
        /// The payload, formatted by the kernel's print format.
        text: &'a str,
    },
    Lost {
        /// Time in ns; `None` for losses after the last record.
        time: Option<u64>,
        records: u64,
        /// The CPU or thread of the ring.
        place: String,
    },
}

/// The task of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) comm: &'a str,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) cpu: Option<u32>,
}

impl Entry<'_> {
    /// Returns the start time of a call, its end time if the start was not seen, or the time of
    /// another line.
    pub(super) fn time(&self) -> Option<u64> {
        match self {
            Self::Call { call, .. } => time_of(call),
            Self::Hit { time, .. } => Some(*time),
            Self::Lost { time, .. } => *time,
        }
    }
}

fn time_of(call: &Syscall) -> Option<u64> {
    match (call.enter, call.end) {
        (Some(enter), _) => Some(enter.time),
        (None, SyscallEnd::Returned { time, .. } | SyscallEnd::Exited { time }) => Some(time),
        _ => None,
    }
}
