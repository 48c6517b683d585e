//! Names of the arguments that concern processes, signals, clocks and locks.

use std::fmt;

use linux_raw_sys::general::*;
use linux_raw_sys::prctl::*;

use super::{Name, Names, names};

/// Signals by their numbers, without the real-time signals.
static SIGNALS: &[Name] = names![
    SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGUSR1, SIGSEGV, SIGUSR2,
    SIGPIPE, SIGALRM, SIGTERM, SIGSTKFLT, SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,
    SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGWINCH, SIGIO, SIGPWR, SIGSYS,
];

/// Last signal of the kernel.
const LAST_SIGNAL: u64 = 64;

/// Writes a signal: `SIGCHLD`, `SIGRTMIN` for the first and `SIGRT_1` for the second of the
/// kernel's real-time signals, a number for what is no signal.
pub(in crate::syscalls) fn write_signal(number: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let first = u64::from(SIGRTMIN);
    match SIGNALS.iter().find(|(_, signal)| *signal == number) {
        Some((name, _)) => f.write_str(name),
        None if number == first => f.write_str("SIGRTMIN"),
        None if (first..=LAST_SIGNAL).contains(&number) => write!(f, "SIGRT_{}", number - first),
        None => write!(f, "{number}"),
    }
}

/// Returns whether a signal reports a change of a child.
pub(in crate::syscalls) const fn is_child(number: u32) -> bool {
    number == SIGCHLD
}

/// Returns whether a signal reports an invalid access to memory.
pub(in crate::syscalls) const fn is_fault(number: u32) -> bool {
    number == SIGSEGV
}

pub(super) static SIGMASK: Names = Names::choice(names![SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK]);

static CLONE_FLAGS: &[Name] = names![
    CLONE_VM,
    CLONE_FS,
    CLONE_FILES,
    CLONE_SIGHAND,
    CLONE_PIDFD,
    CLONE_PTRACE,
    CLONE_VFORK,
    CLONE_PARENT,
    CLONE_THREAD,
    CLONE_NEWNS,
    CLONE_SYSVSEM,
    CLONE_SETTLS,
    CLONE_PARENT_SETTID,
    CLONE_CHILD_CLEARTID,
    CLONE_DETACHED,
    CLONE_UNTRACED,
    CLONE_CHILD_SETTID,
    CLONE_NEWCGROUP,
    CLONE_NEWUTS,
    CLONE_NEWIPC,
    CLONE_NEWUSER,
    CLONE_NEWPID,
    CLONE_NEWNET,
    CLONE_IO,
];
/// `clone`, whose lowest byte is the signal at the end of the child, which strace prints last.
pub(super) static CLONE: Names = Names::flags(&CLONE_WITH_SIGNALS);

/// The flags, and the signal that nearly all programs use.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static CLONE_WITH_SIGNALS: [Name; CLONE_FLAGS.len() + 1] = {
    let mut names = [("SIGCHLD", SIGCHLD as u64); CLONE_FLAGS.len() + 1];
    let mut index = 0;
    while index < CLONE_FLAGS.len() {
        names[index] = CLONE_FLAGS[index];
        index += 1;
    }
    names
};
/// `unshare` and `setns`, where a bit of the lowest byte is a name space.
pub(super) static UNSHARE: Names = Names::flags(names![
    CLONE_FS,
    CLONE_FILES,
    CLONE_NEWNS,
    CLONE_SYSVSEM,
    CLONE_NEWCGROUP,
    CLONE_NEWUTS,
    CLONE_NEWIPC,
    CLONE_NEWUSER,
    CLONE_NEWPID,
    CLONE_NEWNET,
    CLONE_NEWTIME,
]);

/// `wait4`.
pub(super) static WAIT: Names =
    Names::flags(names![WNOHANG, WUNTRACED, WCONTINUED, WNOWAIT, __WNOTHREAD, __WALL, __WCLONE,]);
/// `waitid`, where the bit of `WUNTRACED` has another name.
pub(super) static WAITID: Names =
    Names::flags(names![WNOHANG, WSTOPPED, WEXITED, WCONTINUED, WNOWAIT, __WNOTHREAD, __WALL, __WCLONE,]);
pub(super) static WAITID_WHICH: Names = Names::choice(names![P_ALL, P_PID, P_PGID, P_PIDFD]);

pub(super) static LIMIT: Names = Names::choice(names![
    RLIMIT_CPU,
    RLIMIT_FSIZE,
    RLIMIT_DATA,
    RLIMIT_STACK,
    RLIMIT_CORE,
    RLIMIT_RSS,
    RLIMIT_NPROC,
    RLIMIT_NOFILE,
    RLIMIT_MEMLOCK,
    RLIMIT_AS,
    RLIMIT_LOCKS,
    RLIMIT_SIGPENDING,
    RLIMIT_MSGQUEUE,
    RLIMIT_NICE,
    RLIMIT_RTPRIO,
    RLIMIT_RTTIME,
]);
pub(super) static USAGE: Names = Names::choice(&[
    ("RUSAGE_SELF", 0),
    // -1 in an `int`.
    ("RUSAGE_CHILDREN", 0xffff_ffff),
    ("RUSAGE_THREAD", 1),
]);
pub(super) static TIMER: Names = Names::choice(names![ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF]);
pub(super) static CLOCK: Names = Names::choice(names![
    CLOCK_REALTIME,
    CLOCK_MONOTONIC,
    CLOCK_PROCESS_CPUTIME_ID,
    CLOCK_THREAD_CPUTIME_ID,
    CLOCK_MONOTONIC_RAW,
    CLOCK_REALTIME_COARSE,
    CLOCK_MONOTONIC_COARSE,
    CLOCK_BOOTTIME,
    CLOCK_REALTIME_ALARM,
    CLOCK_BOOTTIME_ALARM,
    CLOCK_TAI,
]);
pub(super) static TIMER_FLAGS: Names = Names::flags(names![TIMER_ABSTIME]);
/// `linux/resource.h`.
pub(super) static PRIORITY: Names = Names::choice(&[("PRIO_PROCESS", 0), ("PRIO_PGRP", 1), ("PRIO_USER", 2)]);
pub(super) static POLICY: Names = Names::both(
    !(SCHED_RESET_ON_FORK as u64),
    &[
        ("SCHED_OTHER", SCHED_NORMAL as u64),
        ("SCHED_FIFO", SCHED_FIFO as u64),
        ("SCHED_RR", SCHED_RR as u64),
        ("SCHED_BATCH", SCHED_BATCH as u64),
        ("SCHED_IDLE", SCHED_IDLE as u64),
        ("SCHED_DEADLINE", SCHED_DEADLINE as u64),
    ],
    names![SCHED_RESET_ON_FORK],
);

/// The operation with `FUTEX_PRIVATE_FLAG` is printed as one name, as strace does.
pub(super) static FUTEX: Names =
    Names::both(!(FUTEX_CLOCK_REALTIME as u64), &FUTEX_OPERATIONS, names![FUTEX_CLOCK_REALTIME]);

static FUTEX_OPERATIONS: [Name; 28] = {
    const PRIVATE: u64 = FUTEX_PRIVATE_FLAG as u64;
    macro_rules! operations {
        ($($name:ident $private:literal),* $(,)?) => {
            [$((stringify!($name), $name as u64), ($private, $name as u64 | PRIVATE)),*]
        };
    }
    operations![
        FUTEX_WAIT "FUTEX_WAIT_PRIVATE",
        FUTEX_WAKE "FUTEX_WAKE_PRIVATE",
        FUTEX_FD "FUTEX_FD|FUTEX_PRIVATE_FLAG",
        FUTEX_REQUEUE "FUTEX_REQUEUE_PRIVATE",
        FUTEX_CMP_REQUEUE "FUTEX_CMP_REQUEUE_PRIVATE",
        FUTEX_WAKE_OP "FUTEX_WAKE_OP_PRIVATE",
        FUTEX_LOCK_PI "FUTEX_LOCK_PI_PRIVATE",
        FUTEX_UNLOCK_PI "FUTEX_UNLOCK_PI_PRIVATE",
        FUTEX_TRYLOCK_PI "FUTEX_TRYLOCK_PI_PRIVATE",
        FUTEX_WAIT_BITSET "FUTEX_WAIT_BITSET_PRIVATE",
        FUTEX_WAKE_BITSET "FUTEX_WAKE_BITSET_PRIVATE",
        FUTEX_WAIT_REQUEUE_PI "FUTEX_WAIT_REQUEUE_PI_PRIVATE",
        FUTEX_CMP_REQUEUE_PI "FUTEX_CMP_REQUEUE_PI_PRIVATE",
        FUTEX_LOCK_PI2 "FUTEX_LOCK_PI2_PRIVATE",
    ]
};
/// The mask of the operations with a bit set.
pub(super) static FUTEX_MASK: Names =
    Names::choice(&[("FUTEX_BITSET_MATCH_ANY", FUTEX_BITSET_MATCH_ANY as u64)]);

/// The arguments that a futex operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FutexArgs {
    /// The address alone.
    Address,
    /// The address and a value.
    Value,
    /// The address, a value and a time.
    Time,
    /// The address, a value, and a bit set as the last.
    BitSet,
    All,
}

/// Returns what an operation uses.
pub(super) fn futex_args(operation: u64) -> FutexArgs {
    #[allow(clippy::cast_possible_truncation)] // an `int`
    match operation as u32 & !(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME) {
        FUTEX_UNLOCK_PI | FUTEX_TRYLOCK_PI => FutexArgs::Address,
        FUTEX_WAKE | FUTEX_FD => FutexArgs::Value,
        FUTEX_WAIT | FUTEX_LOCK_PI | FUTEX_LOCK_PI2 => FutexArgs::Time,
        FUTEX_WAIT_BITSET | FUTEX_WAKE_BITSET => FutexArgs::BitSet,
        _ => FutexArgs::All,
    }
}

/// `asm/prctl.h` of x86.
pub(super) static ARCH: Names = Names::choice(&[
    ("ARCH_SET_GS", 0x1001),
    ("ARCH_SET_FS", 0x1002),
    ("ARCH_GET_FS", 0x1003),
    ("ARCH_GET_GS", 0x1004),
    ("ARCH_GET_CPUID", 0x1011),
    ("ARCH_SET_CPUID", 0x1012),
    ("ARCH_GET_XCOMP_SUPP", 0x1021),
    ("ARCH_GET_XCOMP_PERM", 0x1022),
    ("ARCH_REQ_XCOMP_PERM", 0x1023),
    ("ARCH_SHSTK_ENABLE", 0x5001),
    ("ARCH_SHSTK_DISABLE", 0x5002),
    ("ARCH_SHSTK_LOCK", 0x5003),
    ("ARCH_SHSTK_STATUS", 0x5005),
]);
pub(super) static PRCTL: Names = Names::choice(names![
    PR_SET_PDEATHSIG,
    PR_GET_PDEATHSIG,
    PR_GET_DUMPABLE,
    PR_SET_DUMPABLE,
    PR_GET_KEEPCAPS,
    PR_SET_KEEPCAPS,
    PR_SET_NAME,
    PR_GET_NAME,
    PR_SET_SECCOMP,
    PR_GET_SECCOMP,
    PR_CAPBSET_READ,
    PR_CAPBSET_DROP,
    PR_GET_SECUREBITS,
    PR_SET_SECUREBITS,
    PR_SET_TIMERSLACK,
    PR_GET_TIMERSLACK,
    PR_SET_MM,
    PR_SET_CHILD_SUBREAPER,
    PR_GET_CHILD_SUBREAPER,
    PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS,
    PR_SET_THP_DISABLE,
    PR_GET_THP_DISABLE,
    PR_CAP_AMBIENT,
    PR_GET_SPECULATION_CTRL,
    PR_SET_SPECULATION_CTRL,
    PR_SET_PTRACER,
    PR_SET_SYSCALL_USER_DISPATCH,
    PR_SCHED_CORE,
    PR_SET_MDWE,
    PR_GET_MDWE,
    PR_GET_AUXV,
    PR_SET_VMA,
]);
/// `linux/seccomp.h`.
pub(super) static SECCOMP: Names = Names::choice(&[
    ("SECCOMP_SET_MODE_STRICT", 0),
    ("SECCOMP_SET_MODE_FILTER", 1),
    ("SECCOMP_GET_ACTION_AVAIL", 2),
    ("SECCOMP_GET_NOTIF_SIZES", 3),
]);
pub(super) static RANDOM: Names = Names::flags(names![GRND_NONBLOCK, GRND_RANDOM, GRND_INSECURE]);
/// `linux/membarrier.h`.
pub(super) static BARRIER: Names = Names::choice(&[
    ("MEMBARRIER_CMD_QUERY", 0),
    ("MEMBARRIER_CMD_GLOBAL", 1),
    ("MEMBARRIER_CMD_GLOBAL_EXPEDITED", 1 << 1),
    ("MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED", 1 << 2),
    ("MEMBARRIER_CMD_PRIVATE_EXPEDITED", 1 << 3),
    ("MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED", 1 << 4),
    ("MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE", 1 << 5),
    ("MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE", 1 << 6),
    ("MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ", 1 << 7),
    ("MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ", 1 << 8),
]);
