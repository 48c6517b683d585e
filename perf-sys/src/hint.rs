use crate::{Call, Errno};

/// The usual causes of `errno` from `call`, most likely first, as far as the two alone can tell.
///
/// From the validation order of `kernel/events/core.c`; the PMU drivers add causes of their own.
pub(crate) fn hint(call: Call, errno: Errno) -> Option<&'static str> {
    match call {
        Call::PerfEventOpen => open(errno),
        Call::Mmap => map(errno),
        Call::Read => read(errno),
        _ if call.is_ioctl() => ioctl(call, errno),
        _ => None,
    }
}

fn open(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::EACCES => {
            "perf_event_paranoid (kernel side without exclude_kernel, or a whole CPU), or another user's task"
        }
        Errno::EPERM => "raw tracepoint data, a kernel breakpoint, a container's seccomp filter, or lockdown",
        Errno::EINVAL => "a bit newer than this kernel, or fields that do not go together",
        Errno::ENOENT => {
            "no such PMU or event here (hardware events are missing in most virtual machines), or no probe file"
        }
        Errno::EOPNOTSUPP => "this PMU cannot sample, or not branches, or not as precisely as asked for",
        Errno::ENODEV => "the CPU is offline, or this PMU is not on it",
        Errno::ESRCH => "the task is gone",
        Errno::EBADF => "the group leader or the cgroup is not an open descriptor of its kind",
        Errno::EBUSY => "an exclusive PMU is in use",
        Errno::ENOSPC => "no hardware breakpoint is left",
        Errno::E2BIG => "one read of the group would be longer than 16 KiB",
        Errno::EOVERFLOW => "sample_max_stack is above perf_event_max_stack",
        Errno::EMFILE | Errno::ENFILE => "the descriptor limit: every event takes one for each CPU",
        Errno::ENOMEM => "no memory for the event or its callchain buffers",
        Errno::EFAULT => "a bad path pointer in the attr",
        Errno::EINTR => "a signal came while waiting for the task's exec",
        Errno::ENOSYS => "a kernel without perf, a seccomp filter, or no register dumps on this architecture",
        _ => return None,
    })
}

fn map(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::EPERM => {
            "more locked memory than perf_event_mlock_kb and RLIMIT_MEMLOCK allow: use fewer pages"
        }
        Errno::EINVAL => {
            "an inherited event must be opened per CPU to have a ring, and one event has one ring size"
        }
        Errno::EOPNOTSUPP => "the event's PMU has no AUX area",
        Errno::EBUSY => "the event's records go to another event's ring",
        Errno::ENODEV => "the event's PMU is gone",
        _ => return None,
    })
}

fn read(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::ENOSPC => "the buffer is shorter than the read format, with all events of the group, needs",
        Errno::ECHILD => "inherited copies were made before the group was complete",
        _ => return None,
    })
}

fn ioctl(request: Call, errno: Errno) -> Option<&'static str> {
    Some(match (request, errno) {
        (Call::IocRefresh, Errno::EINVAL) => "not a sampling event, or an inherited one",
        (Call::IocPeriod, Errno::EINVAL) => "not a sampling event, or a period or rate out of range",
        (Call::IocSetOutput, Errno::EINVAL) => {
            "the target has no ring, this event has one itself, or CPU, task, clock or direction differ"
        }
        (Call::IocSetFilter, Errno::EINVAL) => "the event takes no filter, or its syntax is wrong",
        (Call::IocSetFilter, Errno::EEXIST) => "the tracepoint event has a filter already",
        (Call::IocSetBpf, Errno::EINVAL | Errno::EBADF) => "not a program, or not of the event's type",
        (Call::IocSetBpf, Errno::EEXIST) => "the event has a program already",
        (Call::IocPauseOutput, Errno::EINVAL) => "the event has no ring",
        (Call::IocQueryBpf, Errno::EINVAL) => "not a tracepoint event",
        (Call::IocModifyAttributes, Errno::EINVAL | Errno::EOPNOTSUPP) => {
            "only the address, length, type and state of a breakpoint can be changed"
        }
        (_, Errno::ENODEV) => "the event's PMU is gone",
        (_, Errno::ENOTTY) => "this kernel does not know the request",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_refusals_name_what_to_look_at() {
        let expected = [
            (Call::PerfEventOpen, Errno::EACCES, "perf_event_paranoid"),
            (Call::PerfEventOpen, Errno::EPERM, "seccomp"),
            (Call::PerfEventOpen, Errno::ENODEV, "offline"),
            (Call::PerfEventOpen, Errno::EOPNOTSUPP, "precisely"),
            (Call::PerfEventOpen, Errno::EMFILE, "descriptor limit"),
            (Call::Mmap, Errno::EPERM, "RLIMIT_MEMLOCK"),
            (Call::Mmap, Errno::EINVAL, "per CPU"),
            (Call::IocSetOutput, Errno::EINVAL, "no ring"),
            (Call::IocSetFilter, Errno::EINVAL, "no filter"),
        ];
        for (call, errno, word) in expected {
            let causes = hint(call, errno).unwrap();
            assert!(causes.contains(word), "{call} {errno}: {causes}");
        }
    }
}
