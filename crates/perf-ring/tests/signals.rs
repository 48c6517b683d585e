//! Signals that an event sends, and signals during a wait.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use libc::{SA_SIGINFO, SIGTRAP, SIGUSR1, sigaction, siginfo_t};
use perf_abi::{Attr, AttrFlags, BreakpointLen, BreakpointType, Software, TRAP_PERF};
use perf_ring::{Ring, WaitResult, Waker};
use support::{PATIENCE, count, own, tid};

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// A signal handler. Dropping it restores the previous one.
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
        // SAFETY: the handler has the signature of SA_SIGINFO, and only stores to atomics.
        assert_eq!(unsafe { sigaction(signal, &raw const action, &raw mut before) }, 0);
        Self { signal, before }
    }
}

impl Drop for Handled {
    fn drop(&mut self) {
        // SAFETY: restores the previous handler.
        unsafe { sigaction(self.signal, &raw const self.before, null_mut()) };
    }
}

/// The `siginfo_t` of a trap; libc lacks the last two fields.
#[repr(C)]
struct TrapInfo {
    signo: c_int,
    errno: c_int,
    code: c_int,
    addr: usize,
    perf_data: usize,
    perf_type: u32,
}

static TRAPS: AtomicU64 = AtomicU64::new(0);
static CODE: AtomicI32 = AtomicI32::new(0);
static ADDR: AtomicUsize = AtomicUsize::new(0);
static SIG_DATA: AtomicUsize = AtomicUsize::new(0);
static KIND: AtomicU32 = AtomicU32::new(0);

extern "C" fn trapped(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel's siginfo of a trap, which lives while the handler runs.
    let info = unsafe { info.cast::<TrapInfo>().read() };
    CODE.store(info.code, Ordering::SeqCst);
    ADDR.store(info.addr, Ordering::SeqCst);
    SIG_DATA.store(info.perf_data, Ordering::SeqCst);
    KIND.store(info.perf_type, Ordering::SeqCst);
    TRAPS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn every_store_to_the_watched_word_raises_sigtrap() {
    static WATCHED: AtomicU64 = AtomicU64::new(0);
    let watched = WATCHED.as_ptr().expose_provenance() as u64;
    let flags = AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC | AttrFlags::DISABLED;
    let attr = Attr::breakpoint(BreakpointType::WRITE, watched, BreakpointLen::EIGHT)
        .with_period(1)
        .with_sig_data(0x5eed_c0de)
        .with_flags(flags | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
    let Some(event) = own(&attr) else { return };
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
    assert_eq!((CODE.load(Ordering::SeqCst), KIND.load(Ordering::SeqCst)), (TRAP_PERF, attr.kind.0));
    let words = (ADDR.load(Ordering::SeqCst) as u64, SIG_DATA.load(Ordering::SeqCst) as u64);
    assert_eq!(words, (watched, attr.sig_data));
}

static INTERRUPTIONS: AtomicU64 = AtomicU64::new(0);

extern "C" fn interrupted(_: c_int, _: *mut siginfo_t, _: *mut c_void) {
    INTERRUPTIONS.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn signal_does_not_end_a_wait() {
    let Some(event) = own(&Attr::software(Software::DUMMY)) else { return };
    let ring = Ring::map(event, 1).unwrap();
    let waker = Waker::new().unwrap();
    let _handled = Handled::by(interrupted, SIGUSR1);
    let (send_tid, waiting) = channel();
    let moved = waker.clone();
    let thread = std::thread::spawn(move || {
        send_tid.send(tid()).unwrap();
        ring.wait_or_woken(PATIENCE, &moved)
    });
    let stat = format!("/proc/self/task/{}/stat", waiting.recv().unwrap());
    for signals in 1..=5 {
        // The thread sleeps (state S) only in the wait.
        while !std::fs::read_to_string(&stat).unwrap().contains(") S ") {
            std::thread::yield_now();
        }
        // SAFETY: the thread was not joined yet.
        assert_eq!(unsafe { libc::pthread_kill(thread.as_pthread_t(), SIGUSR1) }, 0);
        while INTERRUPTIONS.load(Ordering::SeqCst) < signals {
            std::thread::yield_now();
        }
    }
    waker.wake().unwrap();
    assert_eq!(thread.join().unwrap(), Ok(WaitResult::Woken));
}
