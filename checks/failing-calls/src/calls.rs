//! The system calls that are made to fail, and how.

use nix::errno::Errno;
use nix::libc;

/// A way in which a call does not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call is not made and returns this errno.
    Errno(Errno),
    /// The call is made for one byte only, as for a pipe or a disk that is nearly full.
    Short,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Errno(errno) => write!(f, "{errno:?}"),
            Self::Short => f.write_str("SHORT"),
        }
    }
}

/// Argument by which calls of one kind differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The path at the address in this argument.
    Path(usize),
    /// The file of the descriptor in this argument.
    File(usize),
    /// The file of the first argument, and the request in the second.
    Request,
    /// Nothing.
    None,
}

/// Kind of calls: its number and name, the argument by which its calls differ, and its faults.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub number: i64,
    pub name: &'static str,
    pub place: Place,
    pub faults: &'static [Fault],
}

const fn kind(number: i64, name: &'static str, place: Place, faults: &'static [Fault]) -> Kind {
    Kind { number, name, place, faults }
}

use Fault::{Errno as E, Short};

const OPEN: &[Fault] = &[E(Errno::EMFILE), E(Errno::EACCES), E(Errno::ENOENT)];
const READ: &[Fault] = &[E(Errno::EIO), E(Errno::EINTR), Short];
const WRITE: &[Fault] = &[E(Errno::ENOSPC), E(Errno::EINTR), Short];
const MAP: &[Fault] = &[E(Errno::ENOMEM), E(Errno::EPERM)];
const DESCRIPTOR: &[Fault] = &[E(Errno::EMFILE)];
const NAME: &[Fault] = &[E(Errno::EACCES), E(Errno::ENOSPC)];
const WAIT: &[Fault] = &[E(Errno::EINTR), E(Errno::ENOMEM)];
const START: &[Fault] = &[E(Errno::EAGAIN), E(Errno::ENOMEM)];
const STATUS: &[Fault] = &[E(Errno::EIO), E(Errno::EACCES)];
const EVENT: &[Fault] = &[E(Errno::EMFILE), E(Errno::EACCES), E(Errno::ENODEV), E(Errno::EINVAL)];

/// All kinds, with the errnos of their manual pages that a machine in trouble produces. Calls of a
/// process about itself that cannot fail, such as `prlimit64` and `clock_getres`, are left out, and
/// resets of sockets, because one of a pair in the process is never reset.
pub const KINDS: &[Kind] = &[
    kind(libc::SYS_openat, "openat", Place::Path(1), OPEN),
    kind(libc::SYS_open, "open", Place::Path(0), OPEN),
    kind(libc::SYS_read, "read", Place::File(0), READ),
    kind(libc::SYS_pread64, "pread64", Place::File(0), READ),
    kind(libc::SYS_getdents64, "getdents64", Place::File(0), &[E(Errno::EIO)]),
    kind(libc::SYS_readlink, "readlink", Place::Path(0), STATUS),
    kind(libc::SYS_readlinkat, "readlinkat", Place::Path(1), STATUS),
    kind(libc::SYS_write, "write", Place::File(0), WRITE),
    kind(libc::SYS_writev, "writev", Place::File(0), &[E(Errno::ENOSPC), E(Errno::EINTR)]),
    kind(libc::SYS_pwrite64, "pwrite64", Place::File(0), WRITE),
    kind(libc::SYS_lseek, "lseek", Place::File(0), &[E(Errno::EIO)]),
    kind(libc::SYS_ftruncate, "ftruncate", Place::File(0), &[E(Errno::ENOSPC)]),
    kind(libc::SYS_fsync, "fsync", Place::File(0), &[E(Errno::EIO)]),
    kind(libc::SYS_mmap, "mmap", Place::File(4), MAP),
    kind(libc::SYS_perf_event_open, "perf_event_open", Place::None, EVENT),
    kind(libc::SYS_bpf, "bpf", Place::None, &[E(Errno::EPERM)]),
    kind(libc::SYS_ioctl, "ioctl", Place::Request, &[E(Errno::EINVAL), E(Errno::ENOMEM)]),
    kind(libc::SYS_fcntl, "fcntl", Place::Request, DESCRIPTOR),
    kind(libc::SYS_dup, "dup", Place::File(0), DESCRIPTOR),
    kind(libc::SYS_dup2, "dup2", Place::File(0), &[E(Errno::EBUSY)]),
    kind(libc::SYS_dup3, "dup3", Place::File(0), DESCRIPTOR),
    kind(libc::SYS_pipe2, "pipe2", Place::None, DESCRIPTOR),
    kind(libc::SYS_eventfd2, "eventfd2", Place::None, DESCRIPTOR),
    kind(libc::SYS_signalfd4, "signalfd4", Place::None, DESCRIPTOR),
    kind(libc::SYS_timerfd_create, "timerfd_create", Place::None, DESCRIPTOR),
    kind(libc::SYS_memfd_create, "memfd_create", Place::None, DESCRIPTOR),
    kind(libc::SYS_pidfd_open, "pidfd_open", Place::None, DESCRIPTOR),
    kind(libc::SYS_inotify_init1, "inotify_init1", Place::None, DESCRIPTOR),
    kind(libc::SYS_epoll_create1, "epoll_create1", Place::None, DESCRIPTOR),
    kind(libc::SYS_epoll_ctl, "epoll_ctl", Place::None, &[E(Errno::ENOMEM), E(Errno::ENOSPC)]),
    kind(libc::SYS_epoll_wait, "epoll_wait", Place::None, &[E(Errno::EINTR)]),
    kind(libc::SYS_epoll_pwait, "epoll_pwait", Place::None, &[E(Errno::EINTR)]),
    kind(libc::SYS_epoll_pwait2, "epoll_pwait2", Place::None, &[E(Errno::EINTR)]),
    kind(libc::SYS_poll, "poll", Place::None, WAIT),
    kind(libc::SYS_ppoll, "ppoll", Place::None, WAIT),
    kind(libc::SYS_socketpair, "socketpair", Place::None, DESCRIPTOR),
    kind(libc::SYS_socket, "socket", Place::None, DESCRIPTOR),
    kind(libc::SYS_connect, "connect", Place::None, &[E(Errno::ECONNREFUSED), E(Errno::EINTR)]),
    kind(libc::SYS_sendto, "sendto", Place::None, &[E(Errno::EPIPE), E(Errno::EINTR), Short]),
    kind(libc::SYS_recvfrom, "recvfrom", Place::None, &[E(Errno::EINTR), Short]),
    kind(libc::SYS_clone, "clone", Place::None, START),
    kind(libc::SYS_clone3, "clone3", Place::None, START),
    kind(libc::SYS_fork, "fork", Place::None, START),
    kind(libc::SYS_vfork, "vfork", Place::None, START),
    kind(libc::SYS_execve, "execve", Place::Path(0), &[E(Errno::ENOENT), E(Errno::EACCES), E(Errno::ENOMEM)]),
    kind(libc::SYS_wait4, "wait4", Place::None, &[E(Errno::EINTR)]),
    kind(libc::SYS_waitid, "waitid", Place::None, &[E(Errno::EINTR)]),
    kind(libc::SYS_rename, "rename", Place::Path(0), NAME),
    kind(libc::SYS_renameat, "renameat", Place::Path(1), NAME),
    kind(libc::SYS_renameat2, "renameat2", Place::Path(1), NAME),
    kind(libc::SYS_linkat, "linkat", Place::Path(1), NAME),
    kind(libc::SYS_mkdir, "mkdir", Place::Path(0), NAME),
    kind(libc::SYS_mkdirat, "mkdirat", Place::Path(1), NAME),
    kind(libc::SYS_unlink, "unlink", Place::Path(0), &[E(Errno::EACCES)]),
    kind(libc::SYS_unlinkat, "unlinkat", Place::Path(1), &[E(Errno::EACCES)]),
    kind(libc::SYS_flock, "flock", Place::File(0), &[E(Errno::ENOLCK)]),
    kind(libc::SYS_fchmod, "fchmod", Place::File(0), &[E(Errno::EPERM)]),
    kind(libc::SYS_fchown, "fchown", Place::File(0), &[E(Errno::EPERM)]),
    kind(libc::SYS_fstat, "fstat", Place::File(0), STATUS),
    kind(libc::SYS_newfstatat, "newfstatat", Place::Path(1), STATUS),
    kind(libc::SYS_statx, "statx", Place::Path(1), STATUS),
    kind(libc::SYS_fstatfs, "fstatfs", Place::File(0), STATUS),
    kind(libc::SYS_getrandom, "getrandom", Place::None, &[E(Errno::EINTR)]),
    kind(libc::SYS_sched_getaffinity, "sched_getaffinity", Place::None, &[E(Errno::EPERM)]),
    kind(libc::SYS_sched_setaffinity, "sched_setaffinity", Place::None, &[E(Errno::EINVAL)]),
    kind(libc::SYS_prctl, "prctl", Place::None, &[E(Errno::EPERM)]),
    kind(libc::SYS_uname, "uname", Place::None, &[E(Errno::EFAULT)]),
];

/// Returns the kind of a call, if calls of this number are made to fail.
pub fn of(number: i64) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.number == number)
}
