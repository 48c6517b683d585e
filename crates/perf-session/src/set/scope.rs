//! The scope of an opened event: its thread and its CPU.

use std::fmt;

/// The thread and the CPU that an opened event observes.
///
/// An event of a CPU counts all tasks of that CPU, or the tasks of the set's cgroup there. An event
/// of a thread counts on any CPU, or on one. The default is neither a CPU nor a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    cpu: Option<u32>,
    thread: Option<u32>,
    is_system_wide: bool,
}

impl Scope {
    /// Returns the scope of all tasks on CPU `cpu`.
    pub const fn cpu(cpu: u32) -> Self {
        Self { cpu: Some(cpu), thread: None, is_system_wide: false }
    }

    /// Returns the scope of the thread `tid`, on any CPU.
    pub const fn thread(tid: u32) -> Self {
        Self { cpu: None, thread: Some(tid), is_system_wide: false }
    }

    /// Returns the scope of the same tasks on CPU `cpu` only.
    #[must_use]
    pub const fn on_cpu(self, cpu: u32) -> Self {
        Self { cpu: Some(cpu), ..self }
    }

    /// Returns the scope of a [system-wide](crate::EventSpec::system_wide) event on CPU `cpu`.
    pub(in crate::set) const fn system_wide(cpu: u32) -> Self {
        Self { cpu: Some(cpu), thread: None, is_system_wide: true }
    }

    /// Returns whether the event is [system-wide](crate::EventSpec::system_wide).
    pub const fn is_system_wide(self) -> bool {
        self.is_system_wide
    }

    /// Returns the true id of the CPU, or `None` for any CPU.
    pub const fn cpu_id(self) -> Option<u32> {
        self.cpu
    }

    /// Returns the id of the thread, or `None` for all tasks of the CPU.
    pub const fn thread_id(self) -> Option<u32> {
        self.thread
    }

    /// Returns the scope of the ring that an event of this scope writes into: the CPU, or the
    /// thread of an event on any CPU.
    pub(in crate::set) const fn of_ring(self) -> Self {
        match self.cpu {
            Some(_) => Self { thread: None, ..self },
            None => self,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.thread, self.cpu) {
            (Some(tid), Some(cpu)) => write!(f, "thread {tid} on CPU {cpu}"),
            (Some(tid), None) => write!(f, "thread {tid}"),
            (None, Some(cpu)) => write!(f, "CPU {cpu}"),
            (None, None) => f.write_str("no CPU or thread"),
        }
    }
}

/// The key of a ring of an [`EventSet`](crate::EventSet): its CPU or its thread.
///
/// If the events of a CPU were opened again after it was offline, they have a new ring with a
/// different key, because the old ring may have unread records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RingKey {
    scope: Scope,
    /// Index of the ring in the set's ledger, never reused.
    index: u32,
}

impl RingKey {
    pub(in crate::set) const fn new(scope: Scope, index: u32) -> Self {
        Self { scope, index }
    }

    /// Returns the scope: a CPU, or a thread if the events of the set are on any CPU.
    pub const fn scope(self) -> Scope {
        self.scope
    }

    /// Returns the index of the ring in the order in which the set has mapped them.
    pub const fn index(self) -> u32 {
        self.index
    }
}

impl fmt::Display for RingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scope.fmt(f)
    }
}
