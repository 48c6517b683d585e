//! Signals: those that an event sends, and those that come while its records are waited for.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::channel;

use libc::{SA_SIGINFO, SIGTRAP, SIGUSR1, sigaction, siginfo_t};
use perf_abi::{Attr, AttrFlags, BreakpointLen, BreakpointType, EventType, Software, TRAP_PERF};
use perf_sys::{Canceller, Readiness, Ring, Target};
use support::{PATIENCE, count, open_or_skip, tid};

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// A signal's handler, taken off at the end: the one before comes back.
struct Handled {
    signal: c_int,
    before: sigaction,
}

impl Handled {
    fn by(handler: Handler, signal: c_int) -> Self {
        // SAFETY: zeros are an empty mask, no flags and the default action.
        let mut action: sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        let mut before = action;
        action.sa_sigaction = handler as usize;
        action.sa_flags = SA_SIGINFO;
        // SAFETY: the handler has the form of SA_SIGINFO, and only stores to atomics.
        assert_eq!(unsafe { sigaction(signal, &raw const action, &raw mut before) }, 0);
        Self { signal, before }
    }
}

impl Drop for Handled {
    fn drop(&mut self) {
        // SAFETY: what was installed before us.
        unsafe { sigaction(self.signal, &raw const self.before, null_mut()) };
    }
}

static TRAPS: AtomicU64 = AtomicU64::new(0);
static CODE: AtomicI32 = AtomicI32::new(0);
static ADDR: AtomicU64 = AtomicU64::new(0);
static SIG_DATA: AtomicU64 = AtomicU64::new(0);
static KIND: AtomicU64 = AtomicU64::new(0);

extern "C" fn trapped(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // `si_perf_data` and `si_perf_type` stand behind `si_addr`, which libc does not know yet.
    let behind = size_of::<[c_int; 4]>() + size_of::<*mut c_void>();
    let sig_data = info.wrapping_byte_add(behind).cast::<usize>();
    let kind = info.wrapping_byte_add(behind + size_of::<usize>()).cast::<u32>();
    // SAFETY: the kernel's, as long as the handler runs; so are the three below.
    let code = unsafe { (*info).si_code };
    // SAFETY: as above.
    let addr = unsafe { (*info).si_addr() };
    // SAFETY: as above.
    let sig_data = unsafe { sig_data.read() };
    // SAFETY: as above.
    let kind = unsafe { kind.read() };
    CODE.store(code, Ordering::SeqCst);
    ADDR.store(addr.addr() as u64, Ordering::SeqCst);
    SIG_DATA.store(sig_data as u64, Ordering::SeqCst);
    KIND.store(kind.into(), Ordering::SeqCst);
    TRAPS.fetch_add(1, Ordering::SeqCst);
}

/// The siginfo's fields are where a 64-bit kernel has them.
#[test]
#[cfg(target_pointer_width = "64")]
fn a_trap_comes_with_every_store_to_the_watched_word() {
    static WATCHED: AtomicU64 = AtomicU64::new(0);
    let watched = WATCHED.as_ptr().expose_provenance() as u64;
    let flags = AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC | AttrFlags::DISABLED;
    let attr = Attr::breakpoint(BreakpointType::WRITE, watched, BreakpointLen::EIGHT.0)
        .with_period(1)
        .with_sig_data(0x5eed_c0de)
        .with_flags(flags | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
    let Some(event) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    let handled = Handled::by(trapped, SIGTRAP);
    event.enable().unwrap();
    for hit in 1..=3 {
        WATCHED.store(hit, Ordering::SeqCst);
        assert_eq!(TRAPS.load(Ordering::SeqCst), hit, "before the next instruction");
    }
    event.disable().unwrap();
    WATCHED.store(4, Ordering::SeqCst);
    drop(handled);
    assert_eq!((count(&event), TRAPS.load(Ordering::SeqCst)), (3, 3));
    assert_eq!((CODE.load(Ordering::SeqCst), ADDR.load(Ordering::SeqCst)), (TRAP_PERF, watched));
    assert_eq!(SIG_DATA.load(Ordering::SeqCst), attr.sig_data);
    assert_eq!(KIND.load(Ordering::SeqCst), u64::from(EventType::BREAKPOINT.0));
}

static INTERRUPTIONS: AtomicU64 = AtomicU64::new(0);

extern "C" fn interrupted(_: c_int, _: *mut siginfo_t, _: *mut c_void) {
    INTERRUPTIONS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn a_signal_does_not_end_a_wait() {
    let Some(event) = open_or_skip(&Attr::software(Software::DUMMY), Target::calling_thread()) else {
        return;
    };
    let ring = Ring::map(event, 1).unwrap();
    let cancel = Canceller::new().unwrap();
    let _handled = Handled::by(interrupted, SIGUSR1);
    let (tell_tid, waiting) = channel();
    let canceller = cancel.clone();
    let thread = std::thread::spawn(move || {
        tell_tid.send(tid()).unwrap();
        ring.wait_or_cancelled(PATIENCE, &canceller)
    });
    let stat = format!("/proc/self/task/{}/stat", waiting.recv().unwrap());
    for signals in 1..=5 {
        // Asleep is the state S: in the wait, and nowhere else.
        while !std::fs::read_to_string(&stat).unwrap().contains(") S ") {
            std::thread::yield_now();
        }
        // SAFETY: the thread was not joined yet.
        assert_eq!(unsafe { libc::pthread_kill(thread.as_pthread_t(), SIGUSR1) }, 0);
        while INTERRUPTIONS.load(Ordering::SeqCst) < signals {
            std::thread::yield_now();
        }
    }
    cancel.cancel().unwrap();
    assert_eq!(thread.join().unwrap(), Ok(Readiness::Cancelled));
}
