//! Errors of no system call, and those without a known cause.

use perf_sys::Error;

use crate::why::explain::{Cause, Explanation};

/// Explains an error that is not of `perf_event_open`.
pub(super) fn explain(error: &Error) -> Explanation {
    let (cause, remedy) = match error {
        Error::PageCount { .. } => (Cause::Argument, "map a power of two of data pages, such as 64"),
        Error::Target { .. } => (
            Cause::Argument,
            "use Target::calling_thread, thread, cpu or cgroup; a pid and a CPU of -1 have no target",
        ),
        Error::ThreadId { .. } => (Cause::Argument, "use Target::calling_thread, or the id of a live thread"),
        Error::WriteBackward => {
            (Cause::Argument, "map it by SnapshotRing, or clear AttrFlags::WRITE_BACKWARD")
        }
        Error::WriteForward => (Cause::Argument, "map it by Ring, or set AttrFlags::WRITE_BACKWARD"),
        Error::GroupFormat => (Cause::Argument, "read it by Group or Event::read_values"),
        Error::NotSelfMonitoring => (
            Cause::Argument,
            "open the event for Target::calling_thread without INHERIT, or read it by Event::read",
        ),
        Error::AuxRange { .. } => (Cause::Argument, "read bytes between aux_tail and aux_head only"),
        Error::NoSuchKey => (Cause::Argument, "use a key under which a ring was added"),
        Error::Layouts(_) => (Cause::Argument, "set SampleType::IDENTIFIER in all events that share a ring"),
        Error::RingInUse => (Cause::State, "read the ring that is mapped, or drop it first"),
        Error::AuxInUse => (Cause::State, "use the AUX area that is mapped, or drop it first"),
        Error::KeyInUse => (Cause::State, "add the ring under another key"),
        Error::Forked => (Cause::State, "open and map the event in the process that reads it"),
        Error::PinnedFailed => (
            Cause::State,
            "clear AttrFlags::PINNED, or close other events of the PMU and enable the event again",
        ),
        Error::DataArea { .. } | Error::Positions(_) => {
            (Cause::State, "unmap the ring and open the event again: its control page is damaged")
        }
        Error::ReadLength { .. } => (
            Cause::State,
            "open the event with the attr that it is read by: the descriptor has another read format",
        ),
        _ => return unknown(error),
    };
    Explanation::new(cause, error.to_string(), remedy)
}

/// Returns the explanation of an error whose cause was not found: the usual causes of its errno.
pub(super) fn unknown(error: &Error) -> Explanation {
    let remedy = match error.call() {
        Some(_) => "see the usual causes above; the kernel log (dmesg) may have more",
        None => "see the text of the error",
    };
    Explanation::new(Cause::Unknown, format!("unknown: {error}"), remedy)
}
