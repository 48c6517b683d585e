//! Runs tests without privileges.

#![allow(clippy::indexing_slicing)] // constant indexes

use perf_bpf::{BpfMapType, MapFd, MapSpec};

use super::{permitted, skip};

/// The user `nobody`.
const NOBODY: libc::uid_t = 65534;

/// Runs `test` as `nobody` on a new thread. Skips it unless root runs the tests, because other
/// users may have capabilities.
#[track_caller]
pub(crate) fn as_nobody(test: impl FnOnce() + Send + 'static) {
    // SAFETY: no arguments.
    if unsafe { libc::geteuid() } != 0 {
        return eprintln!("skipped: only root can become nobody");
    }
    // An emulator or a container's seccomp filter may forbid BPF to all users.
    if permitted(MapFd::create(&MapSpec::new(BpfMapType::ARRAY, 1).with_sizes(4, 4))).is_none() {
        return;
    }
    let thread = std::thread::spawn(move || {
        // Make the system call directly, because the C library's function changes all threads.
        // SAFETY: numbers only.
        match unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) } {
            0 => test(),
            _ => skip(format_args!("becoming nobody: {}", std::io::Error::last_os_error())),
        }
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Runs `test` on a new thread without `CAP_SYS_ADMIN` and with the other capabilities of the
/// process.
#[track_caller]
pub(crate) fn without_sys_admin(test: impl FnOnce() + Send + 'static) {
    /// `_LINUX_CAPABILITY_VERSION_3`, and the calling thread.
    const HEADER: [u32; 2] = [0x2008_0522, 0];
    const CAP_SYS_ADMIN: u32 = 21;
    let thread = std::thread::spawn(move || {
        // Effective, permitted and inheritable, twice: the low and the high halves.
        let mut sets = [0_u32; 6];
        // SAFETY: the kernel writes the six words.
        let found = unsafe { libc::syscall(libc::SYS_capget, HEADER.as_ptr(), sets.as_mut_ptr()) };
        assert_eq!(found, 0, "{}", std::io::Error::last_os_error());
        sets[0] &= !(1 << CAP_SYS_ADMIN);
        // SAFETY: the kernel reads the six words.
        let done = unsafe { libc::syscall(libc::SYS_capset, HEADER.as_ptr(), sets.as_ptr()) };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}
