//! A seccomp filter, as container runtimes install.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use core::mem::offset_of;

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};
use perf_session::ring::{Errno, Event, Target};
use perf_session::{Cause, System, explain};
use support::explain::{OWN, assert_explains, may_open, refused};

/// Makes every later `perf_event_open` of the calling thread fail with `errno`.
fn forbid(errno: u32) -> std::io::Result<()> {
    let step = |code, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    let mut steps = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset_of!(libc::seccomp_data, nr) as u32),
        step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, libc::SYS_perf_event_open as u32),
        step(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | errno),
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
fn filter_is_found_by_its_mode_and_the_simplest_event() {
    for errno in [Errno::EPERM, Errno::ENOSYS] {
        if !may_open() {
            return;
        }
        // The filter ends with its thread.
        let thread = std::thread::spawn(move || {
            if let Err(error) = forbid(errno.raw_os_error().unsigned_abs()) {
                return eprintln!("skipped: seccomp: {error}");
            }
            let (error, explanation) = refused(&OWN, Target::calling_thread()).unwrap();
            assert_eq!(error.errno(), Some(errno));
            let words = ["a seccomp filter forbids perf_event_open", "status: 2, a filter", "too", "docker"];
            assert_explains(&explanation, Cause::Seccomp, &words);
            let error = Event::open(&OWN, Target::calling_thread()).unwrap_err();
            let without_trial = explain(&System::new(), error, &OWN, Target::calling_thread());
            assert_explains(&without_trial, Cause::Seccomp, &["probably"]);
        });
        thread.join().unwrap();
    }
}
