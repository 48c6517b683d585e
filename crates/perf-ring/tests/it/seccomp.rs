//! A seccomp filter, as container runtimes install.

use core::mem::offset_of;

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};

use crate::prelude::*;

/// Makes every later `perf_event_open` of the calling thread fail with `EPERM`.
fn forbid() -> std::io::Result<()> {
    let step = |code, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let mut steps = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset_of!(libc::seccomp_data, nr) as u32),
        step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, libc::SYS_perf_event_open as u32),
        step(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    rustix::thread::set_no_new_privs(true)?;
    // SAFETY: the kernel reads a program of this length.
    let done =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn seccomp_filter_is_a_cause_of_its_errno() {
    if own(&faults()).is_none() {
        return;
    }
    // The filter ends with its thread.
    let thread = std::thread::spawn(|| {
        if let Err(error) = forbid() {
            return eprintln!("skipped: seccomp: {error}");
        }
        let refused = Event::open(&faults(), Target::calling_thread()).unwrap_err();
        assert_eq!((refused.call(), refused.errno()), (Some(Call::PerfEventOpen), Some(Errno::EPERM)));
        assert!(Error::from(refused).to_string().contains("seccomp"), "{refused}");
    });
    thread.join().unwrap();
    assert!(Event::open(&faults(), Target::calling_thread()).is_ok(), "this thread has no filter");
}
