//! Which form an argument has, by the call and the argument's name.

use super::files::FcntlArg;
use super::process::FutexArgs;
use super::{Form, Names, files, memory, network, process};

/// Returns the form of an argument, as far as it does not depend on other arguments.
pub(in crate::syscalls) fn form(call: &str, name: &str, type_name: &str) -> Form {
    if let Some(names) = named(call, name) {
        return Form::Names(names);
    }
    match (call, name) {
        ("ioctl", "cmd") => Form::Request,
        (_, "sig") if call != "rseq" => Form::Signal,
        (_, "dfd" | "olddfd" | "newdfd" | "from_dfd" | "to_dfd") => Form::Directory,
        (
            "mmap" | "munmap" | "mprotect" | "pkey_mprotect" | "madvise" | "mremap" | "msync" | "mlock"
            | "mlock2" | "munlock" | "mincore" | "mbind" | "brk",
            "addr" | "start" | "brk" | "new_addr",
        ) => Form::Address,
        ("mmap", "off")
        | ("ioctl" | "fcntl" | "prctl" | "arch_prctl", "arg" | "arg2")
        | ("rseq", "rseq_len" | "sig") => Form::Hex,
        _ if type_name == "umode_t" || (call, name) == ("umask", "mask") => Form::Octal,
        _ if matches!(type_name, "uid_t" | "gid_t") => Form::Id,
        _ if ["flags", "flag", "addr", "start", "prot", "mask", "brk"]
            .iter()
            .any(|end| name.ends_with(end)) =>
        {
            Form::Hex
        }
        _ => Form::Plain,
    }
}

/// Returns the names of an argument.
fn named(call: &str, name: &str) -> Option<&'static Names> {
    Some(match (call, name) {
        ("open" | "openat" | "open_by_handle_at" | "mq_open", "flags" | "oflag") => &files::OPEN,
        ("pipe2" | "dup3" | "userfaultfd", "flags") => &files::DESCRIPTOR,
        ("newfstatat" | "fstatat64" | "fchownat" | "name_to_handle_at", "flag")
        | ("linkat" | "execveat" | "utimensat" | "fchmodat2", "flags")
        | (_, "at_flags") => &files::AT,
        ("unlinkat", "flag") => &files::UNLINK,
        ("faccessat2", "flags") => &files::ACCESS_AT,
        ("statx", "flags") => &files::STATX_AT,
        ("statx", "mask") => &files::STATX,
        ("renameat2", "flags") => &files::RENAME,
        ("access" | "faccessat" | "faccessat2", "mode") => &files::ACCESS,
        ("lseek" | "llseek", "whence") => &files::WHENCE,
        ("fcntl" | "fcntl64", "cmd") => &files::FCNTL,
        ("flock", "cmd") => &files::LOCK,
        ("fallocate", "mode") => &files::FALLOCATE,
        ("fadvise64" | "fadvise64_64", "advice") => &files::FADVISE,
        ("eventfd2", "flags") => &files::EVENTFD,
        ("epoll_create1", "flags") => &files::EPOLL_CREATE,
        ("epoll_ctl", "op") => &files::EPOLL_CTL,
        ("inotify_init1", "flags") => &files::INOTIFY,
        ("inotify_add_watch", "mask") => &files::INOTIFY_MASK,
        ("timerfd_create", "flags") => &files::TIMERFD,
        ("timerfd_settime", "flags") => &files::TIMERFD_SET,
        ("signalfd4", "flags") => &files::SIGNALFD,
        ("mount", "flags") => &files::MOUNT,
        ("umount", "flags") => &files::UMOUNT,
        ("setxattr" | "lsetxattr" | "fsetxattr", "flags") => &files::XATTR,
        ("splice" | "tee" | "vmsplice", "flags") => &files::SPLICE,
        ("close_range", "flags") => &files::CLOSE_RANGE,
        ("mmap" | "mmap2" | "mprotect" | "pkey_mprotect", "prot") => &memory::PROTECTION,
        ("mmap" | "mmap2", "flags") => &memory::MAP,
        ("mremap", "flags") => &memory::REMAP,
        ("madvise" | "process_madvise", "behavior") => &memory::ADVICE,
        ("msync", "flags") => &memory::SYNC,
        ("mlockall", "flags") => &memory::LOCK_ALL,
        ("mlock2", "flags") => &memory::LOCK,
        ("memfd_create", "flags") => &memory::MEMFD,
        ("socket" | "socketpair", "family") => &network::FAMILY,
        ("socket" | "socketpair", "type") => &network::TYPE,
        ("accept4", "flags") => &network::ACCEPT,
        ("setsockopt" | "getsockopt", "level") => &network::LEVEL,
        ("sendto" | "sendmsg" | "sendmmsg" | "recvfrom" | "recvmsg" | "recvmmsg", "flags") => {
            &network::MESSAGE
        }
        ("shutdown", "how") => &network::SHUTDOWN,
        ("rt_sigprocmask", "how") => &process::SIGMASK,
        ("clone", "clone_flags") => &process::CLONE,
        ("unshare", "unshare_flags") | ("setns", "flags") => &process::UNSHARE,
        ("wait4", "options") => &process::WAIT,
        ("waitid", "options") => &process::WAITID,
        ("waitid", "which") => &process::WAITID_WHICH,
        ("getrlimit" | "setrlimit" | "prlimit64", "resource") => &process::LIMIT,
        ("getrusage", "who") => &process::USAGE,
        ("getitimer" | "setitimer", "which") => &process::TIMER,
        ("getpriority" | "setpriority", "which") => &process::PRIORITY,
        (_, "which_clock" | "clockid") => &process::CLOCK,
        ("clock_nanosleep" | "timer_settime", "flags") => &process::TIMER_FLAGS,
        ("sched_setscheduler" | "sched_get_priority_max" | "sched_get_priority_min", "policy") => {
            &process::POLICY
        }
        ("futex", "op") => &process::FUTEX,
        ("arch_prctl", "option") => &process::ARCH,
        ("prctl", "option") => &process::PRCTL,
        ("seccomp", "op") => &process::SECCOMP,
        ("membarrier", "cmd") => &process::BARRIER,
        ("getrandom", "flags") => &process::RANDOM,
        _ => return None,
    })
}

/// Returns the form of an argument beside the words of all arguments; `None` if the call does not
/// use the argument.
pub(in crate::syscalls) fn shown(call: &str, name: &str, form: Form, words: &[u64; 6]) -> Option<Form> {
    let [first, second, third, fourth, ..] = *words;
    let is_shown = match (call, name) {
        ("open", "mode") => files::creates(second),
        ("openat", "mode") => files::creates(third),
        ("mremap", "new_addr") => memory::remaps_to(fourth),
        ("fcntl", "arg") => files::fcntl_arg(second) != FcntlArg::None,
        ("futex", "val") => process::futex_args(second) != FutexArgs::Address,
        ("futex", "utime") => !matches!(process::futex_args(second), FutexArgs::Address | FutexArgs::Value),
        ("futex", "uaddr2") => matches!(process::futex_args(second), FutexArgs::All | FutexArgs::BitSet),
        ("futex", "val3") => matches!(process::futex_args(second), FutexArgs::All | FutexArgs::BitSet),
        _ => true,
    };
    let named = |names: Option<&'static Names>| names.map_or(form, Form::Names);
    is_shown.then(|| match (call, name) {
        ("fcntl", "arg") => match files::fcntl_arg(second) {
            FcntlArg::Number => Form::Plain,
            FcntlArg::DescriptorFlags => Form::Names(&files::FD_FLAGS),
            FcntlArg::OpenFlags => Form::Names(&files::OPEN),
            FcntlArg::Signal => Form::Signal,
            FcntlArg::None | FcntlArg::Other => form,
        },
        ("futex", "val3") if process::futex_args(second) == FutexArgs::BitSet => {
            Form::Names(&process::FUTEX_MASK)
        }
        ("socket" | "socketpair", "protocol") => named(network::protocol(first)),
        ("setsockopt" | "getsockopt", "optname") => named(network::options(second)),
        _ => form,
    })
}
