//! `perf_event_open(2)`, and the operations on its descriptors that need `unsafe`.
//!
//! # Safety
//!
//! This file may use `unsafe` because rustix has no wrapper for these system calls, or only in a
//! feature that takes most of its build. Functions of the C library make them, as the crate `libc`
//! declares them, and the number that `perf_event_open` returns becomes an owned descriptor here.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_long, c_ulong};
use core::num::NonZeroI32;

use perf_abi::{Attr, OpenFlags};
use rustix::event::{PollFd, Timespec};
use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::target::TargetArguments;
use super::{Event, Polled, Target};
use crate::error::{Call, Errno, Error, Result};

/// `perf_event_open(attr, pid, cpu, group_fd, flags)`.
#[allow(trivial_numeric_casts)] // an unsigned long is not 64 bits everywhere
pub(super) fn perf_event_open(
    attr: &Attr,
    target: Target<'_>,
    group: Option<BorrowedFd<'_>>,
    flags: OpenFlags,
) -> Result<OwnedFd> {
    let mut passed = AttrArgument::new(attr);
    let TargetArguments { pid, cpu, is_cgroup } = target.arguments()?;
    let flags = if is_cgroup { flags | OpenFlags::PID_CGROUP } else { flags - OpenFlags::PID_CGROUP };
    let group: c_int = group.map_or(-1, |fd| fd.as_raw_fd());
    let (call, flags) = (libc::SYS_perf_event_open, flags.bits() as c_ulong);
    // SAFETY: the attr is live, and mutable because the kernel writes its own size back on E2BIG;
    // the kernel reads its first `size` bytes, at most all. The other arguments are numbers.
    let fd = unsafe { libc::syscall(call, &raw mut *passed.as_mut(), pid, cpu, group, flags) };
    match c_int::try_from(fd) {
        // SAFETY: the kernel just made this descriptor, and no other code owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(passed.refused(Call::PerfEventOpen, last_errno())),
    }
}

/// Returns the errno of the last failed call of the C library in this thread.
fn last_errno() -> Errno {
    // SAFETY: no preconditions.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the thread's own errno, which is never moved.
    Errno::from_raw_os_error(unsafe { *errno })
}

/// Foreign descriptors, reads of words, and all events of a thread.
impl Event {
    /// Creates an event from a descriptor that was opened elsewhere, for example inherited or
    /// received over a socket.
    ///
    /// # Safety
    ///
    /// `fd` must be a descriptor of `perf_event_open`, opened with this `attr`. No other code may
    /// map its ring and store `data_tail` while this event or a [`DataRing`](crate::DataRing) made
    /// from it lives, because a second reader would release records that are still borrowed. For
    /// the same reason its records must not be redirected to another event's ring
    /// (`PERF_EVENT_IOC_SET_OUTPUT`, `PERF_FLAG_FD_OUTPUT`) when it is mapped, because many kernels
    /// then map that other ring. No event that [may overwrite records](Self::may_overwrite_records)
    /// may be redirected into its ring, unless it is one itself.
    pub unsafe fn from_fd(fd: impl Into<OwnedFd>, attr: Attr) -> Self {
        Self::new(fd.into(), attr)
    }

    /// `read(fd, buf, 8 * n)`—Reads the counts into `buf` and returns the number of words.
    ///
    /// The attr's [`ReadFormat`](perf_abi::ReadFormat) defines the words. The kernel returns 0
    /// words for a pinned event that could not be scheduled on its PMU and no longer counts.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if `buf` is shorter than the read format needs. Then no word is read.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "Reading results".
    pub fn read_raw(&self, buf: &mut [u64]) -> Result<usize> {
        let len = size_of_val(buf);
        // SAFETY: the same memory as `buf`, borrowed as long; any bytes are a `u64`, and back.
        let bytes = unsafe { core::slice::from_raw_parts_mut(buf.as_mut_ptr().cast::<u8>(), len) };
        let read = rustix::io::read(self.fd(), bytes).map_err(Error::of(Call::Read))?;
        Ok(read / size_of::<u64>())
    }

    /// `prctl(PR_TASK_PERF_EVENTS_ENABLE)`—Enables every event that the calling thread opened, on
    /// any target, with its inherited copies. It does not enable events that other threads opened
    /// on this one.
    ///
    /// # References
    ///
    /// `prctl(2)`, `PR_TASK_PERF_EVENTS_ENABLE`.
    #[doc(alias = "PR_TASK_PERF_EVENTS_ENABLE")]
    pub fn enable_all() -> Result<()> {
        control_all(libc::PR_TASK_PERF_EVENTS_ENABLE, Call::PrctlEnable)
    }

    /// `prctl(PR_TASK_PERF_EVENTS_DISABLE)`—Disables every event that
    /// [`enable_all`](Self::enable_all) enables.
    #[doc(alias = "PR_TASK_PERF_EVENTS_DISABLE")]
    pub fn disable_all() -> Result<()> {
        control_all(libc::PR_TASK_PERF_EVENTS_DISABLE, Call::PrctlDisable)
    }
}

/// `ppoll(fds, POLLIN, timeout)`—Waits until one of the events is readable, has hung up or failed.
/// `None` waits without limit.
///
/// # Errors
///
/// [`Error::System`]: `EINTR` after a signal, `ENOMEM`.
///
/// # References
///
/// `poll(2)`, `perf_event_open(2)`, "Overflow handling".
pub fn poll(events: &mut [Polled<'_>], timeout: Option<&Timespec>) -> Result<()> {
    let fds: *mut [PollFd<'_>] = core::ptr::from_mut(events) as *mut [PollFd<'_>];
    // SAFETY: `Polled` is a transparent `PollFd`; the same memory as `events`, borrowed as long.
    // The kernel writes what it found, not the descriptors.
    let fds = unsafe { &mut *fds };
    rustix::event::poll(fds, timeout).map(drop).map_err(Error::of(Call::Poll))
}

/// Calls `prctl` with an option that enables or disables the events of the calling thread.
fn control_all(option: c_int, call: Call) -> Result<()> {
    // SAFETY: these options take no pointer and change only events.
    let found = unsafe { libc::prctl(option, 0, 0, 0, 0) };
    if found == 0 { Ok(()) } else { Err(Error::System { call, errno: last_errno() }) }
}

/// `membarrier(MEMBARRIER_CMD_GLOBAL, 0, 0)`—Waits for a grace period of RCU, if the kernel
/// supports it (since Linux 4.3, and not with `nohz_full`).
pub(crate) fn membarrier_global() {
    let command: c_long = libc::MEMBARRIER_CMD_GLOBAL.into();
    // SAFETY: numbers only; the call changes no memory of this process.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
}

/// `gettid()`—Returns the id of the calling thread, which is never 0.
pub(super) fn gettid() -> Option<NonZeroI32> {
    // SAFETY: no arguments; the call changes no memory.
    NonZeroI32::new(unsafe { libc::gettid() })
}

/// `sched_yield()`—Lets another thread run.
pub(super) fn sched_yield() {
    // SAFETY: no arguments; the call changes no memory.
    unsafe { libc::sched_yield() };
}

/// A copy of an attr for a system call, into which the kernel may write the size that it expects.
///
/// The attr's size is never larger than [`Attr`], so the kernel reads no memory after it. An `Attr`
/// has no fields after its end, so the bytes left out are zero.
#[derive(Debug)]
pub(super) struct AttrArgument {
    attr: Attr,
    passed_size: u32,
}

impl AttrArgument {
    pub(super) fn new(attr: &Attr) -> Self {
        let passed_size = attr.size.min(size_of::<Attr>() as u32);
        Self { attr: attr.with(|attr| attr.size = passed_size), passed_size }
    }

    pub(super) const fn as_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }

    /// Returns the error for `errno` from a call that takes an attr. `E2BIG` is about the attr only
    /// if the kernel wrote its own size.
    pub(super) fn refused(&self, call: Call, errno: Errno) -> Error {
        let kernel = self.attr.size;
        if errno == Errno::E2BIG && kernel != self.passed_size {
            return Error::AttrSize { kernel, call };
        }
        Error::System { call, errno }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_never_reads_past_the_attr() {
        let mut passed = AttrArgument::new(&Attr::default().with(|attr| attr.size = 4096));
        assert_eq!(passed.as_mut().size as usize, size_of::<Attr>());
    }

    #[test]
    fn size_changed_by_the_kernel_is_in_the_error() {
        let mut passed = AttrArgument::new(&Attr::default());
        passed.as_mut().size = 136;
        let error = passed.refused(Call::IocModifyAttributes, Errno::E2BIG);
        assert_eq!(error, Error::AttrSize { kernel: 136, call: Call::IocModifyAttributes });
    }

    #[test]
    fn unchanged_size_means_another_cause() {
        let error = AttrArgument::new(&Attr::default()).refused(Call::PerfEventOpen, Errno::E2BIG);
        assert_eq!((error.call(), error.errno()), (Some(Call::PerfEventOpen), Some(Errno::E2BIG)));
    }
}
