use rustix::io::Errno;

/// The usual causes of `errno` from `call`, most likely first, as far as the two alone can tell.
///
/// From the validation order of `kernel/events/core.c`; the PMU drivers add causes of their own.
pub(crate) fn hint(call: &str, errno: Errno) -> Option<&'static str> {
    match call {
        "perf_event_open" => open(errno),
        "mmap" => map(errno),
        "read" => read(errno),
        _ => ioctl(call, errno),
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

fn ioctl(request: &str, errno: Errno) -> Option<&'static str> {
    Some(match (request, errno) {
        ("PERF_EVENT_IOC_REFRESH", Errno::INVAL) => "not a sampling event, or an inherited one",
        ("PERF_EVENT_IOC_PERIOD", Errno::INVAL) => "not a sampling event, or a period or rate out of range",
        ("PERF_EVENT_IOC_SET_OUTPUT", Errno::INVAL) => {
            "the target has no ring, this event has one itself, or CPU, task, clock or direction differ"
        }
        ("PERF_EVENT_IOC_SET_FILTER", Errno::INVAL) => "the event takes no filter, or its syntax is wrong",
        ("PERF_EVENT_IOC_SET_FILTER", Errno::EXIST) => "the tracepoint event has a filter already",
        ("PERF_EVENT_IOC_SET_BPF", Errno::INVAL | Errno::BADF) => "not a program, or not of the event's type",
        ("PERF_EVENT_IOC_SET_BPF", Errno::EXIST) => "the event has a program already",
        ("PERF_EVENT_IOC_PAUSE_OUTPUT", Errno::INVAL) => "the event has no ring",
        ("PERF_EVENT_IOC_QUERY_BPF", Errno::INVAL) => "not a tracepoint event",
        ("PERF_EVENT_IOC_MODIFY_ATTRIBUTES", Errno::INVAL | Errno::OPNOTSUPP) => {
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
            ("perf_event_open", Errno::ACCESS, "perf_event_paranoid"),
            ("perf_event_open", Errno::PERM, "seccomp"),
            ("perf_event_open", Errno::NODEV, "offline"),
            ("perf_event_open", Errno::OPNOTSUPP, "precisely"),
            ("perf_event_open", Errno::MFILE, "descriptor limit"),
            ("mmap", Errno::PERM, "RLIMIT_MEMLOCK"),
            ("mmap", Errno::INVAL, "per CPU"),
            ("PERF_EVENT_IOC_SET_OUTPUT", Errno::INVAL, "no ring"),
            ("PERF_EVENT_IOC_SET_FILTER", Errno::INVAL, "no filter"),
        ];
        for (call, errno, word) in expected {
            let causes = hint(call, errno).unwrap();
            assert!(causes.contains(word), "{call} {errno}: {causes}");
        }
    }
}
