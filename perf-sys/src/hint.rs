use rustix::io::Errno;

use crate::Call;

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
        Errno::ACCESS => {
            "perf_event_paranoid (kernel side without exclude_kernel, or a whole CPU), or another user's task"
        }
        Errno::PERM => "raw tracepoint data, a kernel breakpoint, a container's seccomp filter, or lockdown",
        Errno::INVAL => "a bit newer than this kernel, or fields that do not go together",
        Errno::NOENT => {
            "no such PMU or event here (hardware events are missing in most virtual machines), or no probe file"
        }
        Errno::OPNOTSUPP => "this PMU cannot sample, or not branches, or not as precisely as asked for",
        Errno::NODEV => "the CPU is offline, or this PMU is not on it",
        Errno::SRCH => "the task is gone",
        Errno::BADF => "the group leader or the cgroup is not an open descriptor of its kind",
        Errno::BUSY => "an exclusive PMU is in use",
        Errno::NOSPC => "no hardware breakpoint is left",
        Errno::TOOBIG => "one read of the group would be longer than 16 KiB",
        Errno::OVERFLOW => "sample_max_stack is above perf_event_max_stack",
        Errno::MFILE | Errno::NFILE => "the descriptor limit: every event takes one for each CPU",
        Errno::NOMEM => "no memory for the event or its callchain buffers",
        Errno::FAULT => "a bad path pointer in the attr",
        Errno::INTR => "a signal came while waiting for the task's exec",
        Errno::NOSYS => "a kernel without perf, a seccomp filter, or no register dumps on this architecture",
        _ => return None,
    })
}

fn map(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::PERM => {
            "more locked memory than perf_event_mlock_kb and RLIMIT_MEMLOCK allow: use fewer pages"
        }
        Errno::INVAL => {
            "an inherited event must be opened per CPU to have a ring, and one event has one ring size"
        }
        Errno::OPNOTSUPP => "the event's PMU has no AUX area",
        Errno::BUSY => "the event's records go to another event's ring",
        Errno::NODEV => "the event's PMU is gone",
        _ => return None,
    })
}

fn read(errno: Errno) -> Option<&'static str> {
    Some(match errno {
        Errno::NOSPC => "the buffer is shorter than the read format, with all events of the group, needs",
        Errno::CHILD => "inherited copies were made before the group was complete",
        _ => return None,
    })
}

fn ioctl(request: Call, errno: Errno) -> Option<&'static str> {
    Some(match (request, errno) {
        (Call::IocRefresh, Errno::INVAL) => "not a sampling event, or an inherited one",
        (Call::IocPeriod, Errno::INVAL) => "not a sampling event, or a period or rate out of range",
        (Call::IocSetOutput, Errno::INVAL) => {
            "the target has no ring, this event has one itself, or CPU, task, clock or direction differ"
        }
        (Call::IocSetFilter, Errno::INVAL) => "the event takes no filter, or its syntax is wrong",
        (Call::IocSetFilter, Errno::EXIST) => "the tracepoint event has a filter already",
        (Call::IocSetBpf, Errno::INVAL | Errno::BADF) => "not a program, or not of the event's type",
        (Call::IocSetBpf, Errno::EXIST) => "the event has a program already",
        (Call::IocPauseOutput, Errno::INVAL) => "the event has no ring",
        (Call::IocQueryBpf, Errno::INVAL) => "not a tracepoint event",
        (Call::IocModifyAttributes, Errno::INVAL | Errno::OPNOTSUPP) => {
            "only the address, length, type and state of a breakpoint can be changed"
        }
        (_, Errno::NODEV) => "the event's PMU is gone",
        (_, Errno::NOTTY) => "this kernel does not know the request",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_refusals_name_what_to_look_at() {
        let expected = [
            (Call::PerfEventOpen, Errno::ACCESS, "perf_event_paranoid"),
            (Call::PerfEventOpen, Errno::PERM, "seccomp"),
            (Call::PerfEventOpen, Errno::NODEV, "offline"),
            (Call::PerfEventOpen, Errno::OPNOTSUPP, "precisely"),
            (Call::PerfEventOpen, Errno::MFILE, "descriptor limit"),
            (Call::Mmap, Errno::PERM, "RLIMIT_MEMLOCK"),
            (Call::Mmap, Errno::INVAL, "per CPU"),
            (Call::IocSetOutput, Errno::INVAL, "no ring"),
            (Call::IocSetFilter, Errno::INVAL, "no filter"),
        ];
        for (call, errno, word) in expected {
            let causes = hint(call, errno).unwrap();
            assert!(causes.contains(word), "{call} {errno}: {causes}");
        }
    }
}
