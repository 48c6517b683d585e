//! The tracepoints of locks.

use perf_abi::{Attr, EventType, Sampling};
use perf_tracepoint::{Format, IntegerField};

/// An event whose samples [`Locks::add`](super::Locks::add) understands.
///
/// | event | provides |
/// |---|---|
/// | `syscalls:sys_enter_futex`, `syscalls:sys_exit_futex` | the waits for locks, condition variables and other futexes of user space, and who wakes the waiters |
/// | `lock:contention_begin`, `lock:contention_end` | the waits for locks of the kernel, since Linux 5.19 |
///
/// Both events of a pair are needed. The stacks are those of the first one.
#[derive(Clone, Copy, Debug)]
pub struct LockEvent(pub(super) Kind);

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    FutexEnter { address: IntegerField, op: IntegerField, value: IntegerField },
    FutexExit { result: IntegerField },
    Begin { address: IntegerField, flags: IntegerField },
    End { address: IntegerField },
}

impl LockEvent {
    /// Returns the event of an attr, with the format of its tracepoint; `None` for any other event,
    /// and for one that does not sample each hit.
    pub fn new(attr: &Attr, format: &Format<'_>) -> Option<Self> {
        if attr.kind != EventType::TRACEPOINT || attr.sampling() != Sampling::Period(1) {
            return None;
        }
        let field = |name| format.integer(name).ok();
        Some(Self(match format.name {
            "sys_enter_futex" => {
                Kind::FutexEnter { address: field("uaddr")?, op: field("op")?, value: field("val")? }
            }
            "sys_exit_futex" => Kind::FutexExit { result: field("ret")? },
            "contention_begin" => Kind::Begin { address: field("lock_addr")?, flags: field("flags")? },
            "contention_end" => Kind::End { address: field("lock_addr")? },
            _ => return None,
        }))
    }

    /// Returns true for the events of futexes, false for those of the kernel's locks.
    pub fn is_user(&self) -> bool {
        matches!(self.0, Kind::FutexEnter { .. } | Kind::FutexExit { .. })
    }
}
