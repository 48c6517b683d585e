//! A wait of a thread.

/// The time from a thread's leaving of a CPU until it runs again.
///
/// `T` is the caller's data from the samples of the waiter and its waker, such as their stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait<T> {
    /// Process id of the thread.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The CPU that the thread left, if the records have it.
    pub cpu: Option<u32>,
    /// When the thread left the CPU, in ns of the events' clock.
    pub start: u64,
    /// When the thread ran again, in ns of the events' clock; for a wait that is not
    /// [finished](Self::is_finished), the end of the recording.
    pub end: u64,
    /// Why the thread left the CPU.
    pub reason: WaitReason,
    /// Data from the sample at the switch-out; the default without a sample.
    pub waiter: T,
    /// The wakeup; `None` if it was not recorded, and for a thread that was not blocked.
    pub wakeup: Option<Wakeup<T>>,
    /// True if the thread ran again before the recording ended.
    pub is_finished: bool,
}

impl<T> Wait<T> {
    /// Returns the time in ns until the thread was woken. If the wakeup was not recorded, the time
    /// until it ran again, which includes [`runnable`](Self::runnable).
    pub fn blocked(&self) -> u64 {
        match &self.wakeup {
            _ if self.is_runnable() => 0,
            Some(wakeup) => wakeup.time.clamp(self.start, self.end.max(self.start)) - self.start,
            None => self.duration(),
        }
    }

    /// Returns the time in ns for which the thread was runnable and waited for a CPU, which the
    /// kernel counts as `run_delay` in `/proc/PID/schedstat`. If the wakeup was not recorded,
    /// nonzero only for a thread that was preempted, yielded or is new.
    pub fn runnable(&self) -> u64 {
        self.duration() - self.blocked()
    }

    /// Returns true if the thread was runnable for the whole wait.
    pub fn is_runnable(&self) -> bool {
        matches!(self.reason, WaitReason::Runnable | WaitReason::New)
    }

    /// Returns the whole time off the CPU, in ns.
    pub fn duration(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// Why a thread left the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitReason {
    /// It was preempted or yielded, and stayed runnable.
    Runnable,
    /// It was started, and waits for its first run.
    New,
    /// It sleeps until an event or a signal (`S`). Known from `sched:sched_switch` only.
    Interruptible,
    /// It sleeps, usually for a disk, and ignores signals (`D`). Known from `sched:sched_switch`
    /// only.
    Uninterruptible,
    /// It sleeps in a state that was not recorded, or is stopped.
    Blocked,
}

/// The wakeup of a waiting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wakeup<T> {
    /// Time in ns of the events' clock.
    pub time: u64,
    /// The waker, if it was recorded with a stack.
    pub waker: Option<Waker<T>>,
}

/// The thread that woke the waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waker<T> {
    /// Process id of the waker.
    pub pid: u32,
    /// The thread that ran when the wakeup happened. An interrupt wakes on behalf of the thread
    /// that it interrupted, 0 for an idle CPU; the stack shows the interrupt.
    pub tid: u32,
    /// Data from its sample.
    pub data: T,
}
