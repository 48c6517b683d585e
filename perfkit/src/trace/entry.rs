//! A line of the trace, before its form.

use perf_tracepoint::{Format, Signal, Syscall, SyscallArg, SyscallArgs, SyscallEnd, Value};

use crate::out::message::shown;

/// A line of the trace.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    Call {
        call: &'a Syscall,
        name: &'a str,
        /// `None` if the start was not seen.
        args: Option<SyscallArgs<'a>>,
        /// The texts that were read at pointers after the start.
        texts: &'a Texts,
    },
    /// A signal that the thread gets.
    Signal {
        time: u64,
        signal: Signal,
        /// The cause, `si_code`.
        code: i32,
    },
    /// The end of a thread.
    Exit {
        time: u64,
        /// The argument of `exit`.
        status: u8,
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

/// The texts that were read after the start of a call, by their addresses. A call has few.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts(Vec<(u64, String)>);

impl Texts {
    /// Adds what is at an address now.
    pub(super) fn add(&mut self, address: u64, text: &str, is_whole: bool) {
        // The tilde marks that the process may have written it after the call. It is always escaped
        // as one text, so that nothing in it looks like the end.
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        self.0.push((address, format!("~\"{}\"{}", shown(&*text), if is_whole { "" } else { "..." })));
    }

    /// Returns the text of an argument with this value.
    pub(super) fn of(&self, arg: &SyscallArg, value: &Value<'_>) -> Option<String> {
        let Value::Pointer(address) = *value else { return None };
        let found = self.0.iter().find(|(at, _)| arg.is_text() && *at == address);
        found.map(|(_, text)| text.clone())
    }
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
            Self::Hit { time, .. } | Self::Signal { time, .. } | Self::Exit { time, .. } => Some(*time),
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
