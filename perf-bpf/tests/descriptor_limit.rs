//! A set at the descriptor limit. A separate test binary with one test, because it changes the limit.

#![allow(clippy::unwrap_used, clippy::panic)] // also in shared functions

mod support;

use std::os::fd::{AsFd, AsRawFd};

use perf_bpf::events::{EventSetOptions, EventSpec};
use perf_bpf::sys::{Attr, Errno, Software};
use perf_bpf::{AttachedSet, BpfProgType, ProgramFd};
use support::asm::Asm;
use support::permitted;

/// Returns the lowest descriptor that is free.
fn next() -> libc::rlim_t {
    let next = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    libc::rlim_t::try_from(next.as_raw_fd()).unwrap()
}

/// Sets the descriptor limit of the process.
fn limit_to(most: libc::rlim_t) {
    // SAFETY: any bytes are a limit.
    let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes the limit.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }, 0);
    limit.rlim_cur = most;
    // SAFETY: the kernel reads the limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
}

#[test]
fn descriptor_limit_is_named_as_the_cause_of_a_failed_attachment() {
    let code = Asm::default().exit_with(1);
    let program = ProgramFd::load(BpfProgType::PERF_EVENT, code.code(), c"GPL", "pk_limit".parse().unwrap());
    let Some(program) = permitted(program) else { return };
    let clock = || EventSpec::new(Attr::software(Software::CPU_CLOCK).with_period(1 << 40));
    // The duplicate of the program's descriptor, then the first link.
    for more in 0..2 {
        let Some(set) = permitted(EventSetOptions::new().event(clock()).open()) else { return };
        limit_to(next() + more);
        let Err(refused) = AttachedSet::attach(set, &program, 0) else { panic!("attached") };
        assert_eq!(refused.error.errno(), Some(Errno::EMFILE), "{refused}");
        assert!(refused.to_string().contains("RLIMIT_NOFILE"), "{refused}");
        limit_to(1000);
        // The set comes back with the error, without a program on any event.
        let set = AttachedSet::attach(refused.value, &program, 0).unwrap();
        assert_eq!(set.attachments().len(), set.set().events().count());
    }
}
