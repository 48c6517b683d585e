//! One wait of a thread.

/// The time of a thread from leaving a CPU to running again.
///
/// `T` is what the caller keeps of the samples of the waiter and of its waker, such as their stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait<T> {
    /// The process of the thread.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The CPU that it left, if the records have it.
    pub cpu: Option<u32>,
    /// When it left the CPU, in ns of the events' clock.
    pub start: u64,
    /// When it ran again, in ns of the events' clock; the end of the recording for a wait that is not
    /// [finished](Self::is_finished).
    pub end: u64,
    /// Why it left the CPU.
    pub reason: WaitReason,
    /// From the sample at the switch-out; the default if there was none.
    pub waiter: T,
    /// The wakeup; `None` if it was not recorded, and for a thread that was not blocked.
    pub wakeup: Option<Wakeup<T>>,
    /// Whether the thread ran again before the recording ended.
    pub is_finished: bool,
}

impl<T> Wait<T> {
    /// Returns how long the thread waited until it was woken, in ns. If the wakeup was not recorded, that is until it ran
    /// again, which includes [`runnable`](Self::runnable).
    pub fn blocked(&self) -> u64 {
        match &self.wakeup {
            _ if self.is_runnable() => 0,
            Some(wakeup) => wakeup.time.clamp(self.start, self.end.max(self.start)) - self.start,
            None => self.duration(),
        }
    }

    /// Returns how long the thread was runnable and waited for a CPU, in ns: the time that the kernel counts as `run_delay` in
    /// `/proc/PID/schedstat`. If the wakeup was not recorded, only the time of a thread that was preempted, yielded or is new.
    pub fn runnable(&self) -> u64 {
        self.duration() - self.blocked()
    }

    /// Returns whether the thread was runnable all the time.
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
    /// It waits; a signal ends that, too (`S`). Known from `sched:sched_switch` only.
    Interruptible,
    /// It waits, usually for a disk; signals do not end that (`D`). Known from `sched:sched_switch` only.
    Uninterruptible,
    /// It waits in a state that was not recorded, or is stopped.
    Blocked,
}

/// The wakeup of a waiting thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wakeup<T> {
    /// The time in ns of the events' clock.
    pub time: u64,
    /// The waker, if it was recorded with a stack.
    pub waker: Option<Waker<T>>,
}

/// The thread that woke another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waker<T> {
    /// The process of the waker.
    pub pid: u32,
    /// The thread that ran when the wakeup happened. An interrupt wakes on behalf of whatever it interrupted, 0 for an idle CPU;
    /// the stack shows the interrupt.
    pub tid: u32,
    /// From its sample.
    pub data: T,
}
