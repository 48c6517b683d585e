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
        let causes = hint(call, errno).unwrap();
        assert!(causes.contains(word), "{call} {errno}: {causes}");
    }
}

#[test]
fn every_row_is_found() {
    for row in HINTS {
        let calls: &[Call] = if row.calls.is_empty() { &[Call::IocId] } else { row.calls };
        let reached = |errno: &Errno| calls.iter().any(|&call| hint(call, *errno) == Some(row.text));
        assert!(row.errnos.iter().all(reached), "{}", row.text);
    }
}

#[test]
fn general_rows_for_ioctls_fit_no_other_call() {
    for &call in Call::ALL {
        assert_eq!(hint(call, Errno::ENOTTY).is_some(), call.is_ioctl(), "{call}");
    }
}
