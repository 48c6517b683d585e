use core::num::NonZeroI32;

use rustix::fd::{AsRawFd, BorrowedFd};
use rustix::process::Pid;
use rustix::thread::gettid;

/// Whom an event watches: the `pid` and `cpu` of `perf_event_open`, as the pairs that exist.
///
/// A pair that the kernel must refuse (every task on every CPU, a cgroup on no CPU) cannot be written.
///
/// ```
/// use perf_sys::Target;
///
/// let me = Target::calling_thread();
/// let me_here = me.on_cpu(0);
/// let everyone = Target::cpu(0);
/// assert_ne!(me_here, everyone);
/// ```
///
/// # References
///
/// `perf_event_open(2)`, "Arguments".
#[derive(Clone, Copy, Debug)]
#[doc(alias = "pid")]
pub enum Target<'fd> {
    /// One thread.
    Thread {
        /// The thread (a tid: a process has one event per thread, or [`INHERIT`] for those to come);
        /// `None` is the thread that opens the event.
        ///
        /// [`INHERIT`]: perf_abi::AttrFlags::INHERIT
        tid: Option<Pid>,
        /// Count only while the thread runs on this CPU; `None` is wherever it runs.
        cpu: Option<u32>,
    },
    /// Every task on one CPU. Needs `CAP_PERFMON` or `perf_event_paranoid` at most 0.
    Cpu(u32),
    /// The tasks of a cgroup on one CPU. Needs what [`Cpu`](Self::Cpu) needs.
    Cgroup {
        /// The cgroup's directory: cgroup2, or the version 1 hierarchy of the `perf_event` controller.
        dir: BorrowedFd<'fd>,
        /// The CPU.
        cpu: u32,
    },
}

impl<'fd> Target<'fd> {
    /// The thread that opens the event, on any CPU. Needs no permission.
    pub const fn calling_thread() -> Self {
        Self::Thread { tid: None, cpu: None }
    }

    /// The thread `tid`, on any CPU. A thread of another process needs `CAP_PERFMON`, or the right to
    /// `ptrace` it.
    pub const fn thread(tid: Pid) -> Self {
        Self::Thread { tid: Some(tid), cpu: None }
    }

    /// Every task on CPU `cpu`.
    pub const fn cpu(cpu: u32) -> Self {
        Self::Cpu(cpu)
    }

    /// The tasks of the cgroup whose directory is `dir`, on CPU `cpu`. Since Linux 2.6.39.
    #[doc(alias = "PERF_FLAG_PID_CGROUP")]
    pub const fn cgroup(dir: BorrowedFd<'fd>, cpu: u32) -> Self {
        Self::Cgroup { dir, cpu }
    }

    /// The same tasks, on CPU `cpu` only: what a set with one event for each CPU is made of.
    #[must_use]
    pub const fn on_cpu(self, cpu: u32) -> Self {
        match self {
            Self::Thread { tid, .. } => Self::Thread { tid, cpu: Some(cpu) },
            Self::Cpu(_) => Self::Cpu(cpu),
            Self::Cgroup { dir, .. } => Self::Cgroup { dir, cpu },
        }
    }

    /// Returns the only thread that an event opened here watches: the calling one if no other is named.
    pub(crate) fn watched_thread(self) -> Option<NonZeroI32> {
        match self {
            Self::Thread { tid, .. } => Some(tid.unwrap_or_else(gettid).as_raw_nonzero()),
            Self::Cpu(_) | Self::Cgroup { .. } => None,
        }
    }

    /// The two arguments of the system call, and whether `pid` is a cgroup's descriptor.
    pub(crate) fn arguments(self) -> (i32, i32, bool) {
        match self {
            Self::Thread { tid, cpu } => (Pid::as_raw(tid), cpu.map_or(-1, cpu_argument), false),
            Self::Cpu(cpu) => (-1, cpu_argument(cpu), false),
            Self::Cgroup { dir, cpu } => (dir.as_raw_fd(), cpu_argument(cpu), true),
        }
    }
}

impl PartialEq for Target<'_> {
    /// Two cgroup targets are equal if they name the same descriptor.
    fn eq(&self, other: &Self) -> bool {
        self.arguments() == other.arguments()
    }
}

impl Eq for Target<'_> {}

/// A number above `i32::MAX` must not turn into -1, which means any CPU: the kernel refuses this one.
fn cpu_argument(cpu: u32) -> i32 {
    i32::try_from(cpu).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calling_thread_is_pid_0_on_any_cpu() {
        assert_eq!(Target::calling_thread().arguments(), (0, -1, false));
    }

    #[test]
    fn a_thread_can_be_narrowed_to_a_cpu() {
        let tid = Pid::from_raw(42).unwrap();
        assert_eq!(Target::thread(tid).on_cpu(3).arguments(), (42, 3, false));
    }

    #[test]
    fn a_cpu_can_be_moved_to_another() {
        assert_eq!(Target::cpu(0).on_cpu(5).arguments(), (-1, 5, false));
    }

    #[test]
    fn a_huge_cpu_number_is_not_any_cpu() {
        assert_eq!(Target::cpu(u32::MAX).arguments(), (-1, i32::MAX, false));
    }
}
