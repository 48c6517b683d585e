//! `rt_sigprocmask(2)` and `signalfd4(2)`.
//!
//! # Safety
//!
//! This file may use `unsafe` because rustix has no safe wrapper for the calls.

use core::ffi::c_int;
use core::ptr;

use linux_raw_sys::general::{__NR_rt_sigprocmask, __NR_signalfd4, SIG_BLOCK, kernel_sigset_t};
use std::os::fd::{FromRawFd, OwnedFd};

use super::{last_errno, number, syscall};
use crate::{Call, Error, Result};

/// `signalfd4(-1, set, SFD_CLOEXEC)` after `rt_sigprocmask(SIG_BLOCK, set)`—Blocks signals in the
/// calling thread, and returns a descriptor that they are read from.
pub(crate) fn block_signals(signals: &[u32]) -> Result<OwnedFd> {
    // The flag has the value of O_CLOEXEC.
    let flags = rustix::event::EventfdFlags::CLOEXEC.bits();
    let set = set_of(signals);
    let size = size_of_val(&set);
    let none = ptr::null_mut::<kernel_sigset_t>();
    // SAFETY: the kernel reads `size` bytes of the set, which is live, and writes no old set. Blocking
    // a signal affects no memory.
    if unsafe { syscall(number(__NR_rt_sigprocmask), SIG_BLOCK, &raw const set, none, size) } != 0 {
        return Err(Error::System { call: Call::RtSigprocmask, errno: last_errno() });
    }
    let new: c_int = -1;
    // SAFETY: the kernel reads `size` bytes of the set, which is live. The other arguments are numbers.
    let fd = unsafe { syscall(number(__NR_signalfd4), new, &raw const set, size, flags) };
    match c_int::try_from(fd) {
        // SAFETY: the kernel just made this descriptor, and no other code owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(Error::System { call: Call::Signalfd4, errno: last_errno() }),
    }
}

/// Returns a set of signals from 1 to 31.
fn set_of(signals: &[u32]) -> kernel_sigset_t {
    let bits = signals.iter().fold(0, |bits, signal| bits | 1 << (signal - 1));
    let mut set =
        kernel_sigset_t { sig: [0; size_of::<kernel_sigset_t>() / size_of::<core::ffi::c_ulong>()] };
    if let Some(first) = set.sig.first_mut() {
        *first = bits;
    }
    set
}
