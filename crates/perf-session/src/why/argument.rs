//! Errors of no system call, and errors without a known cause.

use perf_ring::Error;
use perf_ring::sys::Error as SysError;

use super::{Cause, Diagnosis};

/// Explains an error that is not of `perf_event_open`.
pub(super) fn explain(error: &Error) -> Diagnosis {
    let (cause, remedy) = match error {
        Error::Sys(SysError::PageCount { .. }) => {
            (Cause::Argument, "map a power of two of data pages, such as 64")
        }
        Error::Sys(SysError::Target { .. }) => (
            Cause::Argument,
            "use Target::calling_thread, thread, cpu or cgroup; a pid and a CPU of -1 have no target",
        ),
        Error::Sys(SysError::ThreadId { .. }) => {
            (Cause::Argument, "use Target::calling_thread, or the id of a live thread")
        }
        Error::Sys(SysError::WriteBackward) => {
            (Cause::Argument, "map it by SnapshotRing, or clear AttrFlags::WRITE_BACKWARD")
        }
        Error::Sys(SysError::WriteForward) => {
            (Cause::Argument, "map it by Ring, or set AttrFlags::WRITE_BACKWARD")
        }
        Error::GroupFormat => (Cause::Argument, "read it by Group or read_values"),
        Error::Sys(SysError::NotSelfMonitoring) => (
            Cause::Argument,
            "open the event for Target::calling_thread without INHERIT, or read it by Count::read",
        ),
        Error::Sys(SysError::NotCopied) => {
            (Cause::Argument, "redirect the event by Ring::redirect, which lets the ring copy its records")
        }
        Error::Sys(SysError::AuxRange { .. }) => {
            (Cause::Argument, "read bytes between aux_tail and aux_head only")
        }
        Error::NoSuchKey => (Cause::Argument, "use a key under which a ring was added"),
        Error::Layouts(_) => (Cause::Argument, "set SampleType::IDENTIFIER in all events that share a ring"),
        Error::Sys(SysError::RingInUse) => (Cause::State, "read the ring that is mapped, or drop it first"),
        Error::Sys(SysError::AuxInUse) => (Cause::State, "use the AUX area that is mapped, or drop it first"),
        Error::KeyInUse => (Cause::State, "add the ring under another key"),
        Error::Sys(SysError::Forked) => (Cause::State, "open and map the event in the process that reads it"),
        Error::PinnedFailed => (
            Cause::State,
            "clear AttrFlags::PINNED, or close other events of the PMU and enable the event again",
        ),
        Error::Sys(SysError::DataArea { .. } | SysError::Positions { .. }) => {
            (Cause::State, "unmap the ring and open the event again: its control page is damaged")
        }
        Error::ReadLength { .. } => (
            Cause::State,
            "open the event with the attr that it is read by: the descriptor has another read format",
        ),
        _ => return unknown(error, []),
    };
    Diagnosis::new(cause, error.to_string(), remedy)
}

/// Returns the diagnosis of an error whose cause was not found: the possible causes, then the usual
/// one of its errno.
pub(super) fn unknown(error: &Error, possible: impl IntoIterator<Item = &'static str>) -> Diagnosis {
    let (text, remedy) = match (error.call(), error.errno()) {
        (Some(call), Some(errno)) => {
            let causes: Vec<_> = possible.into_iter().chain(error.hint()).collect();
            let separator = if causes.is_empty() { "" } else { ": " };
            let text = format!("unknown: {call}: {errno}{separator}{}", causes.join("; or "));
            (text, "see the usual causes above; the kernel log (dmesg) may have more")
        }
        _ => (format!("unknown: {error}"), "see the text of the error"),
    };
    Diagnosis::new(Cause::Unknown, text, remedy).with_errno(error.errno())
}
