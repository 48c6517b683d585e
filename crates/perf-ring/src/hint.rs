//! The usual causes of an errno.

use perf_sys::{Call, Errno, Error};

/// The usual causes of an errno, whatever the arguments of the call are.
struct Hint {
    /// The calls, or all ioctls if empty.
    calls: &'static [Call],
    errnos: &'static [Errno],
    text: &'static str,
}

/// Every ioctl.
const IOCTLS: &[Call] = &[];
/// The calls that open a descriptor.
const OPENS: &[Call] = &[Call::PerfEventOpen, Call::Eventfd, Call::EpollCreate1];
const PRCTLS: &[Call] = &[Call::PrctlEnable, Call::PrctlDisable];

/// Returns the usual cause of an error of a system call, most likely first; `None` if no call
/// failed, or no cause is known.
pub(crate) fn hint(error: &Error) -> Option<&'static str> {
    match *error {
        Error::System { call, errno } => of_call(call, errno),
        Error::NoSuchCpu { .. } => {
            Some("no CPU has this number; /sys/devices/system/cpu/possible lists those that exist")
        }
        Error::NoSuchCgroup => Some(
            "the cgroup was removed after its directory was opened, or its hierarchy has no perf_event \
             controller",
        ),
        _ => None,
    }
}

/// Returns the usual causes of `errno` from `call`, most likely first.
///
/// They are in the first row of the table that has both. The texts follow the checks of
/// `kernel/events/core.c` and the manual pages; PMU drivers have further causes.
fn of_call(call: Call, errno: Errno) -> Option<&'static str> {
    let fits = |hint: &&Hint| {
        let is_call = if hint.calls.is_empty() { call.is_ioctl() } else { hint.calls.contains(&call) };
        is_call && hint.errnos.contains(&errno)
    };
    HINTS.iter().find(fits).map(|hint| hint.text)
}

const fn row(calls: &'static [Call], errnos: &'static [Errno], text: &'static str) -> Hint {
    Hint { calls, errnos, text }
}

#[rustfmt::skip] // one row a line
const HINTS: &[Hint] = &[
    // perf_event_open
    row(&[Call::PerfEventOpen], &[Errno::EACCES], "not permitted at this kernel.perf_event_paranoid without CAP_PERFMON (the kernel side above level 1, whole CPUs and cgroups above 0), another user's task, or a security module"),
    row(&[Call::PerfEventOpen], &[Errno::EPERM], "a container's seccomp filter, kernel lockdown, or raw tracepoint data without CAP_PERFMON"),
    row(&[Call::PerfEventOpen], &[Errno::EINVAL], "fields that contradict each other, a flag or field that is newer than this kernel, or a frequency above kernel.perf_event_max_sample_rate"),
    row(&[Call::PerfEventOpen], &[Errno::ENOENT], "no PMU offers the event, such as hardware events in most virtual machines"),
    row(&[Call::PerfEventOpen], &[Errno::EOPNOTSUPP], "the PMU lacks a feature that the attr requests, such as sampling, branches or precise_ip"),
    row(&[Call::PerfEventOpen], &[Errno::ENODEV], "the CPU is offline, or the PMU is not on it"),
    row(&[Call::PerfEventOpen], &[Errno::ESRCH], "the task has exited, or no task has this id"),
    row(&[Call::PerfEventOpen], &[Errno::EBADF], "the descriptor of the group leader or cgroup is closed, or of another kind"),
    row(&[Call::PerfEventOpen], &[Errno::EBUSY], "another event has the exclusive PMU"),
    row(&[Call::PerfEventOpen], &[Errno::ENOSPC], "no hardware breakpoint is free"),
    row(&[Call::PerfEventOpen], &[Errno::E2BIG], "a read of the group would be longer than 16 KiB"),
    row(&[Call::PerfEventOpen], &[Errno::EOVERFLOW], "sample_max_stack is above kernel.perf_event_max_stack"),
    row(&[Call::PerfEventOpen], &[Errno::EMFILE], "the descriptor limit of the process (RLIMIT_NOFILE): an event takes one descriptor for each CPU"),
    row(&[Call::PerfEventOpen], &[Errno::ENOMEM], "no memory for the event or its callchain buffers"),
    row(&[Call::PerfEventOpen], &[Errno::EFAULT], "a path pointer in the attr that is not readable"),
    row(&[Call::PerfEventOpen], &[Errno::EINTR], "a signal arrived while the kernel waited for an exec of the task"),
    row(&[Call::PerfEventOpen], &[Errno::ENOSYS], "a kernel without perf events, or a seccomp filter"),
    row(OPENS, &[Errno::EMFILE], "the descriptor limit of the process (RLIMIT_NOFILE)"),
    row(OPENS, &[Errno::ENFILE], "the limit of open files of the system (fs.file-max)"),
    row(OPENS, &[Errno::ENOMEM], "no kernel memory, or the memory limit of the cgroup"),
    row(&[Call::Eventfd], &[Errno::ENODEV], "a kernel without anonymous inodes"),
    // mmap
    row(&[Call::Mmap], &[Errno::EPERM, Errno::EAGAIN], "the limit of locked memory (kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK): map fewer pages"),
    row(&[Call::Mmap], &[Errno::ENOMEM], "no memory for the ring, or vm.max_map_count mappings exist: map fewer pages"),
    row(&[Call::Mmap], &[Errno::EINVAL], "an inherited event on any CPU cannot have a ring, or the event has a ring of another size"),
    row(&[Call::Mmap], &[Errno::EOPNOTSUPP], "the event's PMU has no AUX area"),
    row(&[Call::Mmap], &[Errno::EBUSY], "the event's records go to another event's ring"),
    row(&[Call::Mmap], &[Errno::ENODEV], "the event's PMU is gone"),
    row(&[Call::Mmap], &[Errno::EACCES], "a security module"),
    // read, poll, epoll, membarrier, prctl
    row(&[Call::Read], &[Errno::ENOSPC], "the buffer is shorter than the read format needs for all events of the group"),
    row(&[Call::Read], &[Errno::ECHILD], "a task inherited the group before it was complete"),
    row(&[Call::Poll], &[Errno::EINVAL], "more descriptors than RLIMIT_NOFILE allows"),
    row(&[Call::Poll], &[Errno::ENOMEM], "no kernel memory for the descriptors"),
    row(&[Call::EpollCtl], &[Errno::ENOSPC], "the limit of watched descriptors of the user (fs.epoll.max_user_watches)"),
    row(&[Call::EpollCtl], &[Errno::EEXIST], "the descriptor is already in the set"),
    row(&[Call::EpollCtl], &[Errno::ENOMEM], "no kernel memory for the descriptor"),
    row(&[Call::Membarrier], &[Errno::ENOSYS, Errno::EINVAL], "a kernel without membarrier, or with nohz_full CPUs"),
    row(PRCTLS, &[Errno::EINVAL], "a kernel without perf events"),
    // ioctl
    row(&[Call::IocRefresh], &[Errno::EINVAL], "an event that does not sample, or is inherited"),
    row(&[Call::IocPeriod], &[Errno::EINVAL], "an event that does not sample, a period of 0 or from 2^63, or a frequency above kernel.perf_event_max_sample_rate"),
    row(&[Call::IocSetOutput], &[Errno::EINVAL], "the target has no ring, this event has one, or CPU, task, clock or direction differ"),
    row(&[Call::IocSetFilter], &[Errno::EINVAL], "the event takes no filter, or the syntax of the filter is wrong"),
    row(&[Call::IocSetFilter], &[Errno::EEXIST], "the tracepoint event already has a filter"),
    row(&[Call::IocSetBpf], &[Errno::EINVAL, Errno::EBADF], "not a program, or a program of a type that the event does not take"),
    row(&[Call::IocSetBpf], &[Errno::EEXIST], "the event already has a program"),
    row(&[Call::IocPauseOutput], &[Errno::EINVAL], "the event has no ring"),
    row(&[Call::IocQueryBpf], &[Errno::EINVAL], "not a tracepoint event"),
    row(&[Call::IocQueryBpf], &[Errno::EPERM], "needs CAP_PERFMON"),
    row(&[Call::IocModifyAttributes], &[Errno::EINVAL, Errno::EOPNOTSUPP], "only the address, length, type and state of a breakpoint can change"),
    row(IOCTLS, &[Errno::ENODEV], "the event's PMU is gone"),
    row(IOCTLS, &[Errno::ENOTTY], "the request is newer than this kernel"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_errors_name_the_limit_or_setting() {
        let expected = [
            (Call::PerfEventOpen, Errno::EACCES, "perf_event_paranoid"),
            (Call::PerfEventOpen, Errno::EPERM, "seccomp"),
            (Call::PerfEventOpen, Errno::EMFILE, "RLIMIT_NOFILE): an event"),
            (Call::PerfEventOpen, Errno::ENFILE, "fs.file-max"),
            (Call::Eventfd, Errno::EMFILE, "RLIMIT_NOFILE"),
            (Call::Eventfd, Errno::ENFILE, "fs.file-max"),
            (Call::EpollCreate1, Errno::EMFILE, "RLIMIT_NOFILE"),
            (Call::EpollCreate1, Errno::ENFILE, "fs.file-max"),
            (Call::EpollCtl, Errno::ENOSPC, "fs.epoll.max_user_watches"),
            (Call::Mmap, Errno::EPERM, "RLIMIT_MEMLOCK"),
            (Call::Mmap, Errno::ENOMEM, "no memory"),
            (Call::Mmap, Errno::EINVAL, "any CPU"),
            (Call::Poll, Errno::EINVAL, "RLIMIT_NOFILE"),
            (Call::PrctlEnable, Errno::EINVAL, "without perf"),
            (Call::IocSetOutput, Errno::EINVAL, "no ring"),
            (Call::IocSetFilter, Errno::EINVAL, "no filter"),
            (Call::IocPeriod, Errno::EINVAL, "perf_event_max_sample_rate"),
            (Call::IocId, Errno::ENOTTY, "newer"),
        ];
        for (call, errno, word) in expected {
            let causes = of_call(call, errno).unwrap();
            assert!(causes.contains(word), "{call} {errno}: {causes}");
        }
    }

    #[test]
    fn every_row_is_found() {
        for row in HINTS {
            let calls: &[Call] = if row.calls.is_empty() { &[Call::IocId] } else { row.calls };
            let reached = |errno: &Errno| calls.iter().any(|&call| of_call(call, *errno) == Some(row.text));
            assert!(row.errnos.iter().all(reached), "{}", row.text);
        }
    }

    #[test]
    fn e2big_that_is_not_about_the_attr_has_a_cause() {
        let causes = of_call(Call::PerfEventOpen, Errno::E2BIG).unwrap();
        assert!(causes.ends_with("a read of the group would be longer than 16 KiB"), "{causes}");
    }

    #[test]
    fn general_rows_for_ioctls_fit_no_other_call() {
        for &call in Call::ALL {
            assert_eq!(of_call(call, Errno::ENOTTY).is_some(), call.is_ioctl(), "{call}");
        }
    }
}
