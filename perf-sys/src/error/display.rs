use core::fmt;

use super::Error;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::System { call, errno } => {
                write!(f, "{call}: {errno}")?;
                self.hint().map_or(Ok(()), |hint| write!(f, ": {hint}"))
            }
            Self::AttrSize { kernel, call } => write!(
                f,
                "{call}: expected an attr of 64 to {kernel} bytes, the size on this kernel, found another \
                 size or a nonzero field after {kernel} bytes; clear the newer field"
            ),
            Self::PageCount { found } => write!(
                f,
                "data pages of a ring: expected a power of two that fits into memory, found {found}"
            ),
            Self::WriteBackward => f.write_str(
                "ring: expected an event without write_backward, found one with it; use a SnapshotRing",
            ),
            Self::DataArea { offset, size, mapped } => write!(
                f,
                "control page: expected a data area inside the {mapped} mapped bytes, \
                 found {size} bytes at offset {offset}"
            ),
            Self::Positions(error) => write!(f, "control page: {error}"),
            Self::PinnedFailed => f.write_str(
                "read: expected a count, found end of file: the pinned event could not be scheduled on its \
                 PMU and no longer counts; enable it to retry, or open it without pinned",
            ),
            Self::ReadLength { needed, found } => {
                write!(f, "read: expected {needed} bytes for the event's read format, found {found}")
            }
            Self::GroupFormat => f.write_str(
                "read: expected a single count, found an event with PERF_FORMAT_GROUP; use a Group or \
                 read_values",
            ),
            Self::WriteForward => f.write_str(
                "snapshot ring: expected an event with write_backward, found one without it; \
                 set the flag, or use a Ring",
            ),
            Self::RingInUse => {
                f.write_str("ring: expected an event without one, found one; drop the other ring first")
            }
            Self::KeyInUse => {
                f.write_str("ring set: expected an unused key, found one in use; remove its ring first")
            }
            Self::NoSuchKey => f.write_str("ring set: expected the key of a ring in the set, found another"),
            Self::Layouts(error) => {
                write!(f, "events of one ring: {error}; set IDENTIFIER and SAMPLE_ID_ALL on each of them")
            }
            Self::NotSelfMonitoring => f.write_str(
                "user counter: expected an event opened for the calling thread and not inherited, \
                 found another; read it by Event::read",
            ),
            Self::AuxInUse => {
                f.write_str("AUX area: expected a ring without one, found one; drop the other AuxArea first")
            }
            Self::AuxRange { offset, size, tail, head } => write!(
                f,
                "AUX data: expected a part of the unread bytes {tail} to {head}, \
                 found {size} bytes at {offset}"
            ),
            Self::Forked => f.write_str(
                "mapping: expected one of this process, found one of a parent, which fork does not copy; \
                 open and map an event in this process",
            ),
            Self::Target { pid, cpu } => write!(
                f,
                "target: expected pid 0 (calling thread) or a thread id with cpu -1 (any) or a CPU, \
                 or pid -1 with a CPU, found pid {pid} with cpu {cpu}"
            ),
            Self::Registers { kind, expected, found } => write!(
                f,
                "software event {kind}: expected {expected} registers in a sample, as another open event \
                 of this kind has, found {found}; sample the same number, or close the other event first"
            ),
            Self::ThreadId { found } => write!(
                f,
                "thread id: expected 1 to {}, found {found}; use Target::calling_thread or Target::cpu \
                 for the calling thread or all tasks",
                i32::MAX
            ),
        }
    }
}

/// The text of `Display`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `source` is `None`, because `Display` already has the whole text.
impl core::error::Error for Error {}
