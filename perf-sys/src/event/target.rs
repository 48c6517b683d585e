//! The tasks and CPUs that an event observes.

use core::num::NonZeroI32;

use rustix::fd::{AsFd, AsRawFd, BorrowedFd};

use super::syscall::gettid;
use crate::error::{Error, Result};

/// The tasks and the CPU that an event observes: the `pid` and `cpu` of `perf_event_open`.
///
/// The constructors cover the pairs that the kernel accepts; [`from_raw`](Self::from_raw) takes the
/// two numbers as C does and checks them.
///
/// ```
/// use perf_sys::Target;
///
/// let me = Target::calling_thread();
/// assert_ne!(me.on_cpu(0), Target::cpu(0));
/// assert_eq!(Target::from_raw(0, -1), Ok(me));
/// assert!(Target::from_raw(-1, -1).is_err());
/// ```
///
/// # References
///
/// `perf_event_open(2)`, "Arguments".
#[derive(Clone, Copy, Debug)]
#[doc(alias = "pid")]
pub struct Target<'fd> {
    tasks: Tasks<'fd>,
    /// `None` is any CPU, which only threads have.
    cpu: Option<u32>,
}

/// The tasks on the target's CPUs that the event observes.
#[derive(Clone, Copy, Debug)]
enum Tasks<'fd> {
    Caller,
    Thread(u32),
    All,
    Cgroup(BorrowedFd<'fd>),
}

/// Arguments of `perf_event_open`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TargetArguments {
    pub(super) pid: i32,
    pub(super) cpu: i32,
    /// Set if `pid` is the descriptor of a cgroup.
    pub(super) is_cgroup: bool,
}

impl<'fd> Target<'fd> {
    /// Returns the thread that opens the event, on any CPU. With
    /// [`EXCLUDE_KERNEL`](perf_abi::AttrFlags::EXCLUDE_KERNEL) it needs no permission, unless
    /// `/proc/sys/kernel/perf_event_paranoid` is 3 or more, which some distributions have.
    pub const fn calling_thread() -> Self {
        Self { tasks: Tasks::Caller, cpu: None }
    }

    /// Returns the thread `tid`, on any CPU.
    ///
    /// A thread of another process needs `CAP_PERFMON`, or the permission to `ptrace` it. The id of
    /// a process, as `Child::id` of std returns it, is also the id of its main thread; the others
    /// need an event each, or [`INHERIT`](perf_abi::AttrFlags::INHERIT) before they start.
    ///
    /// A `tid` of 0 does not mean the calling thread, as `pid` 0 does in C; use
    /// [`calling_thread`](Self::calling_thread), or [`from_raw`](Self::from_raw) for the numbers of
    /// C. Opening an event fails with [`Error::ThreadId`] if `tid` is 0 or above `i32::MAX`.
    pub const fn thread(tid: u32) -> Self {
        Self { tasks: Tasks::Thread(tid), cpu: None }
    }

    /// Returns all tasks on CPU `cpu`. It needs `CAP_PERFMON`, or `perf_event_paranoid` of at most
    /// 0.
    ///
    /// The event dies when its CPU goes offline: it keeps its count and never counts again, without
    /// a hang-up (kernel errata). The flags `NAMESPACES`, `CGROUP` and `DEFER_OUTPUT` deliver
    /// nothing here without `COMM` or `TASK`.
    pub const fn cpu(cpu: u32) -> Self {
        Self { tasks: Tasks::All, cpu: Some(cpu) }
    }

    /// Returns the tasks of the cgroup with directory `dir`, on CPU `cpu`. Since Linux 2.6.39.
    ///
    /// The directory is one of cgroup2, or of the version 1 hierarchy of the `perf_event`
    /// controller. It needs the permissions of [`cpu`](Self::cpu).
    #[doc(alias = "PERF_FLAG_PID_CGROUP")]
    pub fn cgroup(dir: &'fd impl AsFd, cpu: u32) -> Self {
        Self { tasks: Tasks::Cgroup(dir.as_fd()), cpu: Some(cpu) }
    }

    /// Returns the target of the C arguments: `pid` 0 is the calling thread, -1 all tasks, above 0
    /// a thread; `cpu` -1 is any CPU.
    ///
    /// The target of a cgroup is returned by [`cgroup`](Self::cgroup).
    ///
    /// # Errors
    ///
    /// [`Error::Target`] if both numbers are -1, or one is below -1.
    pub const fn from_raw(pid: i32, cpu: i32) -> Result<Self> {
        let tasks = match pid {
            -1 if cpu >= 0 => Tasks::All,
            0 => Tasks::Caller,
            1.. => Tasks::Thread(pid.unsigned_abs()),
            _ => return Err(Error::Target { pid, cpu }),
        };
        let cpu = match cpu {
            -1 => None,
            0.. => Some(cpu.unsigned_abs()),
            _ => return Err(Error::Target { pid, cpu }),
        };
        Ok(Self { tasks, cpu })
    }

    /// Returns the same tasks on CPU `cpu` only.
    #[must_use]
    pub const fn on_cpu(self, cpu: u32) -> Self {
        Self { cpu: Some(cpu), ..self }
    }

    /// Returns the only thread that an event of this target watches if the calling thread opens it,
    /// `None` for all tasks of a CPU or cgroup.
    pub(super) fn watched_thread(self) -> Option<NonZeroI32> {
        match self.tasks {
            Tasks::Caller => gettid(),
            Tasks::Thread(tid) => NonZeroI32::new(i32::try_from(tid).ok()?),
            Tasks::All | Tasks::Cgroup(_) => None,
        }
    }

    /// Returns `true` if the target is one thread, on any CPU or on one.
    pub const fn is_thread(&self) -> bool {
        matches!(self.tasks, Tasks::Caller | Tasks::Thread(_))
    }

    /// Returns the id of the thread that [`thread`](Self::thread) named, `None` for the calling
    /// thread, all tasks and a cgroup.
    pub const fn tid(&self) -> Option<u32> {
        match self.tasks {
            Tasks::Thread(tid) => Some(tid),
            Tasks::Caller | Tasks::All | Tasks::Cgroup(_) => None,
        }
    }

    /// Returns the number of the CPU, `None` for any CPU.
    pub const fn cpu_id(&self) -> Option<u32> {
        self.cpu
    }

    /// Returns `true` if the target is a cgroup.
    pub const fn is_cgroup(&self) -> bool {
        matches!(self.tasks, Tasks::Cgroup(_))
    }

    /// Returns the arguments of the system call.
    pub(super) fn arguments(self) -> Result<TargetArguments> {
        let (pid, is_cgroup) = match self.tasks {
            Tasks::Caller => (0, false),
            Tasks::Thread(tid) => (thread_argument(tid)?, false),
            Tasks::All => (-1, false),
            Tasks::Cgroup(dir) => (dir.as_raw_fd(), true),
        };
        Ok(TargetArguments { pid, cpu: self.cpu.map_or(-1, cpu_argument), is_cgroup })
    }
}

impl PartialEq for Target<'_> {
    /// Returns whether tasks and CPU are equal. Two cgroups are equal if their descriptors have the
    /// same number.
    fn eq(&self, other: &Self) -> bool {
        // The CPUs too, because those above `i32::MAX` have one argument.
        self.arguments() == other.arguments() && self.cpu == other.cpu
    }
}

impl Eq for Target<'_> {}

/// Returns the `pid` of a thread, or an error for a number that the kernel takes as the calling
/// thread, all tasks or a process group.
fn thread_argument(tid: u32) -> Result<i32> {
    match i32::try_from(tid) {
        Ok(pid) if pid > 0 => Ok(pid),
        _ => Err(Error::ThreadId { found: tid }),
    }
}

/// Returns the argument `cpu`. A number above `i32::MAX` does not become -1, which is any CPU; the
/// kernel returns `EINVAL` for it.
fn cpu_argument(cpu: u32) -> i32 {
    i32::try_from(cpu).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn threads(pid: i32, cpu: i32) -> TargetArguments {
        TargetArguments { pid, cpu, is_cgroup: false }
    }

    #[test]
    fn a_thread_id_is_never_the_caller_or_all_tasks() {
        for tid in [0, 1 << 31, u32::MAX] {
            let found = Target::thread(tid).on_cpu(0).arguments();
            assert_eq!(found, Err(Error::ThreadId { found: tid }));
        }
        assert_eq!(Target::cpu(u32::MAX).arguments(), Ok(threads(-1, i32::MAX)), "not any CPU");
    }

    #[test]
    fn raw_pairs_follow_the_c_convention() {
        let pairs = [
            ((0, -1), Target::calling_thread()),
            ((0, 2), Target::calling_thread().on_cpu(2)),
            ((7, -1), Target::thread(7)),
            ((7, 2), Target::thread(7).on_cpu(2)),
            ((-1, 0), Target::cpu(0)),
            ((i32::MAX, i32::MAX), Target::thread(u32::MAX >> 1).on_cpu(u32::MAX >> 1)),
        ];
        for ((pid, cpu), target) in pairs {
            assert_eq!(Target::from_raw(pid, cpu), Ok(target));
            assert_eq!(target.arguments(), Ok(threads(pid, cpu)));
        }
    }

    #[test]
    fn error_of_an_invalid_raw_pair_names_the_valid_ones() {
        for (pid, cpu) in [(-1, -1), (-2, 0), (0, -2), (1, i32::MIN), (i32::MIN, -1)] {
            let error = Target::from_raw(pid, cpu).unwrap_err();
            assert_eq!(error, Error::Target { pid, cpu });
            let text = error.to_string();
            assert!(text.contains("pid -1 with a CPU") && text.contains(&pid.to_string()), "{text}");
        }
    }

    #[test]
    fn targets_differ_by_tasks_and_by_cpu() {
        let (one, other) = (std::io::stdin(), std::io::stdout());
        let targets = [
            Target::calling_thread(),
            Target::calling_thread().on_cpu(0),
            Target::thread(1),
            Target::thread(2),
            Target::cpu(0),
            Target::cpu(1),
            Target::cgroup(&one, 0),
            Target::cgroup(&other, 0),
        ];
        for (at, target) in targets.iter().enumerate() {
            assert_eq!(targets.iter().position(|other| other == target), Some(at));
        }
    }

    #[test]
    fn parts_of_a_target_can_be_read() {
        let dir = std::io::stdin();
        let parts =
            |target: Target<'_>| (target.is_thread(), target.tid(), target.is_cgroup(), target.cpu_id());
        assert_eq!(parts(Target::calling_thread()), (true, None, false, None));
        assert_eq!(parts(Target::thread(7).on_cpu(3)), (true, Some(7), false, Some(3)));
        assert_eq!(parts(Target::cpu(2)), (false, None, false, Some(2)));
        assert_eq!(parts(Target::cgroup(&dir, 1)), (false, None, true, Some(1)));
    }
}
