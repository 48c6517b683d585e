//! A child of `fork` for tests of this crate and of `perf-bpf`.

#![allow(unsafe_code)]

/// Forks, and returns whether the child returned `true`, which it reports by its exit code. The
/// child prints nothing, because the test harness has other threads.
pub(crate) fn in_child(test: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child does only what a signal handler may do, except that it may allocate, and
    // exits.
    match unsafe { libc::fork() } {
        0 => {
            let code = i32::from(!test());
            // SAFETY: ends the child without unwinding into the harness.
            unsafe { libc::_exit(code) }
        }
        child => exits_with_0(child),
    }
}

/// Waits for a child, and returns whether its exit code is 0.
pub(crate) fn exits_with_0(child: libc::pid_t) -> bool {
    let mut status = -1;
    // SAFETY: the status is live.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status == 0
}
