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
        // By the system call, which changes this thread alone, unlike the C library's function.
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
