//! A set and a reader at the descriptor limit. A separate test binary with one test, because it
//! changes the limit.

#![allow(clippy::unwrap_used, clippy::panic)] // also in shared functions

mod support;

use std::os::fd::{AsFd, AsRawFd};

use perf_bpf::events::{EventSetOptions, EventSpec};
use perf_bpf::ring::{Attr, Errno, Software};
use perf_bpf::{AttachedSet, BpfProgType, EventArray, PerfBufferOptions, ProgramFd};
use support::asm::Asm;
use support::permitted;
use support::programs::{Counters, Sink, fire_on_all, online, output};

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
fn descriptor_limit_is_named_as_the_cause_and_leaves_sets_and_readers_alone() {
    attachment_fails_with_its_set();
    open_fails_without_taking_slots();
}

fn attachment_fails_with_its_set() {
    let code = Asm::default().exit_with(1);
    let program = ProgramFd::load(BpfProgType::PERF_EVENT, code.code(), c"GPL", "pk_limit".parse().unwrap());
    let Some(program) = permitted(program) else { return };
    let clock = || EventSpec::new(Attr::software(Software::CPU_CLOCK).with_period(1 << 40));
    // The duplicate of the program's descriptor, then the first link.
    for more in 0..2 {
        let Some(set) = permitted(EventSetOptions::new().event(clock()).open()) else { return };
        limit_to(next() + more);
        let Err(refused) = AttachedSet::attach(set, &program, 0) else { panic!("attached") };
        assert_eq!(refused.error.errno(), Some(Errno::EMFILE), "{}", refused.error);
        assert!(refused.error.to_string().contains("RLIMIT_NOFILE"), "{}", refused.error);
        limit_to(1000);
        // The set comes back with the error, without a program on any event.
        let set = AttachedSet::attach(refused.value, &program, 0).unwrap();
        assert_eq!(set.attachments().len(), set.set().events().count());
    }
}

/// The first reader keeps its slots, whichever descriptor the second one lacks.
fn open_fails_without_taking_slots() {
    let Some(array) = permitted(EventArray::create("pk_limit".parse().unwrap())) else { return };
    let Some(counters) = Counters::create() else { return };
    let program = output(BpfProgType::RAW_TRACEPOINT, &Sink::Array(&array), &counters, 16, false).unwrap();
    let map = array.map().try_clone().unwrap();
    let mut reader = PerfBufferOptions::new().open(array).unwrap();
    let mut failures = 0;
    for more in 1.. {
        let limit = next() + more;
        let array = EventArray::from_fd(map.try_clone().unwrap().into_fd()).unwrap();
        limit_to(limit);
        let opened = PerfBufferOptions::new().open(array);
        limit_to(1000);
        let Err(refused) = opened else { break };
        assert_eq!(refused.error.errno(), Some(Errno::EMFILE), "{refused}");
        failures += 1;
        drop(refused);
        fire_on_all(&program, &online(), 1);
        assert_eq!(reader.read(|_, _| ()).unwrap(), online().len() as u64, "with {more} descriptors");
    }
    // The rings of a reader and the events of its slots.
    assert!(failures > 2 * online().len(), "{failures}");
    assert_eq!(counters.produced_and_failed().1, 0);
}
