//! The threads that were there when a recording began.

use std::fmt;

use perf_file::FeatureData;
use perf_file::FeatureSection;

use crate::collect::wait_kind;

/// The threads that were there when a recording began, and where they waited: the section
/// `THREAD_STATES`, which `perf-record` writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedThreads {
    /// The time at which the states were read, in ns of `CLOCK_MONOTONIC`.
    pub start: u64,
    /// The end of the recording, in ns of `CLOCK_MONOTONIC`.
    pub end: u64,
    /// The threads of the recorded processes, or of the machine.
    pub threads: Vec<RecordedThread>,
}

/// A thread at the start of a recording. Prints as one line: `2426 sleep: clock_nanosleep, 30 s`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedThread {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// State as `ps` prints it: `S` and `D` wait, `R` runs or is ready to.
    pub state: char,
    /// Name of the thread.
    pub name: String,
    /// The system call in which it waited; empty without one.
    pub syscall: String,
    /// Text about the place at which it waited, such as `clock_nanosleep, 30 s`; may be empty.
    pub place: String,
    /// Functions of the kernel in which it waited, innermost first; may be empty.
    pub functions: Vec<String>,
    /// Time on a CPU, and time without one while it was ready, in ns within the recording; `None`
    /// if the thread exited.
    pub times: Option<(u64, u64)>,
}

impl RecordedThread {
    /// Returns whether the thread waited when the recording began.
    pub fn is_waiting(&self) -> bool {
        !matches!(self.state, 'R' | 'Z' | 'X' | '?')
    }

    /// Returns whether the thread ran or was ready in the recording, as the kernel counted it.
    pub fn has_run(&self) -> bool {
        self.times.is_some_and(|times| times != (0, 0))
    }

    /// Returns what the thread waited for: see [`wait_kind`](crate::wait_kind). `None` if it is
    /// unknown, as of a thread of another user.
    pub fn wait_kind(&self) -> Option<&str> {
        let functions = self.functions.iter().map(String::as_str);
        wait_kind(functions).or_else(|| match self.syscall.as_str() {
            "" => None,
            "nanosleep" | "clock_nanosleep" => Some("sleep"),
            "wait4" | "waitid" => Some("child"),
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" => Some("poll"),
            // The file of a descriptor is part of the place.
            _ if self.place.contains(": pipe:[") => Some("pipe"),
            _ if self.place.contains(": socket:[") => Some("socket"),
            call => Some(call),
        })
    }
}

impl fmt::Display for RecordedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tid, self.name)?;
        if self.place.is_empty() { Ok(()) } else { write!(f, ": {}", self.place) }
    }
}

impl RecordedThreads {
    /// Reads a section; `None` if it is malformed.
    pub(super) fn read(section: &FeatureSection<'_>) -> Option<Self> {
        let FeatureData::ThreadStates(states) = section.data().ok()? else { return None };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let threads = states.threads.iter().map(|thread| RecordedThread {
            pid: thread.pid,
            tid: thread.tid,
            state: char::from_u32(thread.state).unwrap_or('?'),
            name: text(thread.name),
            syscall: text(thread.syscall),
            place: text(thread.place),
            functions: text(thread.functions).lines().map(str::to_owned).collect(),
            times: thread.times.iter().next().map(|times| (times.running, times.ready)),
        });
        Some(Self { start: states.start, end: states.end, threads: threads.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_waits_for_what_its_functions_or_its_call_say() {
        let kind = |functions: &[&str], syscall: &str, place: &str| {
            let thread = RecordedThread {
                pid: 7,
                tid: 8,
                state: 'S',
                name: "a".to_owned(),
                syscall: syscall.to_owned(),
                place: place.to_owned(),
                functions: functions.iter().map(|&name| name.to_owned()).collect(),
                times: None,
            };
            thread.wait_kind().map(str::to_owned)
        };
        assert_eq!(kind(&["futex_do_wait"], "futex", "").as_deref(), Some("futex"));
        assert_eq!(kind(&[], "read", "read, descriptor 3: pipe:[55]").as_deref(), Some("pipe"));
        assert_eq!(kind(&["a_new_function"], "clock_nanosleep", "").as_deref(), Some("sleep"));
        assert_eq!(kind(&[], "ioctl", "ioctl").as_deref(), Some("ioctl"));
        assert_eq!(kind(&[], "", ""), None);
    }
}
