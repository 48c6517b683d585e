use std::fmt;

/// The thread and the CPU that an opened event observes.
///
/// An event of a CPU counts all tasks of that CPU, or those of the set's cgroup. An event of a thread
/// counts on any CPU, or on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    cpu: Option<u32>,
    thread: Option<u32>,
}

impl Scope {
    /// Returns the place of all tasks on CPU `cpu`.
    pub const fn cpu(cpu: u32) -> Self {
        Self { cpu: Some(cpu), thread: None }
    }

    /// Returns the place of the thread `tid`, on any CPU.
    pub const fn thread(tid: u32) -> Self {
        Self { cpu: None, thread: Some(tid) }
    }

    /// Returns the place of the same tasks on CPU `cpu` only.
    #[must_use]
    pub const fn on_cpu(self, cpu: u32) -> Self {
        Self { cpu: Some(cpu), ..self }
    }

    /// Returns the true id of the CPU, or `None` for any CPU.
    pub const fn cpu_id(self) -> Option<u32> {
        self.cpu
    }

    /// Returns the id of the thread, or `None` for all tasks of the CPU.
    pub const fn thread_id(self) -> Option<u32> {
        self.thread
    }

    /// Returns the place of the ring for an event of this place: that of its CPU, and without a CPU
    /// that of its thread.
    pub(in crate::set) const fn of_ring(self) -> Self {
        match self.cpu {
            Some(cpu) => Self::cpu(cpu),
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
            (None, None) => f.write_str("no place"),
        }
    }
}

/// The key of a ring of an [`EventSet`](crate::EventSet): its CPU or its thread.
///
/// If the events of a CPU were opened again after it was offline, they have a new ring with a different
/// key, because the old ring may have unread records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RingKey {
    place: Scope,
    /// Index of the ring in the set's ledger, never reused.
    index: u32,
}

impl RingKey {
    pub(in crate::set) const fn new(place: Scope, index: u32) -> Self {
        Self { place, index }
    }

    /// Returns the place: a CPU, or a thread if the events of the set are on any CPU.
    pub const fn place(self) -> Scope {
        self.place
    }

    /// Returns the index of the ring in the order in which the set has mapped them.
    pub const fn index(self) -> u32 {
        self.index
    }
}

impl fmt::Display for RingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}
