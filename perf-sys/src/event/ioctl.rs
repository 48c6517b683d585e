//! The twelve requests of a perf event, each a method of [`Event`].
//!
//! # Safety
//!
//! This file may use `unsafe` because rustix cannot check which argument a request takes. This file
//! pairs each number with the argument that `_perf_ioctl` in `kernel/events/core.c` takes.
#![allow(unsafe_code)]

use core::ffi::CStr;
use core::fmt;
use core::ops::Deref;
use core::ptr::without_provenance_mut;

use perf_abi::{Attr, IocFlags, PerfEventQueryBpf};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
use rustix::ioctl::{Getter, IntegerSetter, Ioctl, Opcode, Setter, Updater, ioctl};

use super::Event;
use super::syscall::AttrArgument;
use crate::error::{Call, Error, Result};

#[allow(trivial_numeric_casts)] // `Opcode` is `u32` or `c_ulong`, as rustix's backend has it
const fn opcode(number: u32) -> Opcode {
    number as Opcode
}

const ENABLE: Opcode = opcode(perf_abi::IOC_ENABLE);
const DISABLE: Opcode = opcode(perf_abi::IOC_DISABLE);
const REFRESH: Opcode = opcode(perf_abi::IOC_REFRESH);
const RESET: Opcode = opcode(perf_abi::IOC_RESET);
const PERIOD: Opcode = opcode(perf_abi::IOC_PERIOD);
const SET_OUTPUT: Opcode = opcode(perf_abi::IOC_SET_OUTPUT);
const SET_FILTER: Opcode = opcode(perf_abi::IOC_SET_FILTER);
const ID: Opcode = opcode(perf_abi::IOC_ID);
const SET_BPF: Opcode = opcode(perf_abi::IOC_SET_BPF);
const PAUSE_OUTPUT: Opcode = opcode(perf_abi::IOC_PAUSE_OUTPUT);
const QUERY_BPF: Opcode = opcode(perf_abi::IOC_QUERY_BPF);
const MODIFY_ATTRIBUTES: Opcode = opcode(perf_abi::IOC_MODIFY_ATTRIBUTES);

/// # Safety
///
/// The kernel takes the request's argument as a number, or as a pointer to memory that is live and
/// that it only reads; see [`request`].
unsafe fn by_value<const OPCODE: Opcode>(event: &Event, call: Call, word: *mut ()) -> Result<()> {
    // SAFETY: upheld by the caller.
    let argument = unsafe { IntegerSetter::<OPCODE>::new_pointer(word.cast()) };
    // SAFETY: upheld by the caller.
    unsafe { request(event, call, argument) }
}

/// # Safety
///
/// For a perf event, the request takes this `argument`, and the kernel writes only memory that
/// `argument` names.
unsafe fn request<I: Ioctl>(event: &Event, call: Call, argument: I) -> Result<I::Output> {
    // SAFETY: upheld by the caller; an `Event` is a descriptor of perf_event_open.
    let done = unsafe { ioctl(event.fd(), argument) };
    done.map_err(Error::of(call))
}

/// Returns a number as the argument of a request.
fn word(number: usize) -> *mut () {
    without_provenance_mut(number)
}

fn descriptor(fd: BorrowedFd<'_>) -> *mut () {
    word(fd.as_raw_fd().unsigned_abs() as usize) // never negative: a `BorrowedFd` is open
}

/// Control by one system call each.
impl Event {
    /// `ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)`—Starts counting, in inherited copies too.
    ///
    /// An event whose CPU was offline never counts again, although this succeeds: open it anew
    /// (kernel errata).
    #[doc(alias = "PERF_EVENT_IOC_ENABLE")]
    pub fn enable(&self) -> Result<()> {
        self.enable_with(IocFlags::empty())
    }

    /// `ioctl(fd, PERF_EVENT_IOC_ENABLE, flags)`—As [`enable`](Self::enable); with
    /// [`IocFlags::GROUP`] the whole group, if this is its leader or a sibling.
    ///
    /// Linux 6.18 then does not start siblings of another software PMU than the leader's (such as
    /// `TASK_CLOCK` with `PAGE_FAULTS`) before the next task switch (kernel errata). Keep the
    /// siblings enabled, and start and stop only the leader.
    pub fn enable_with(&self, flags: IocFlags) -> Result<()> {
        // SAFETY: the kernel takes the flags by value.
        unsafe { by_value::<ENABLE>(self, Call::IocEnable, word(flags.bits() as usize)) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_DISABLE, 0)`—Stops counting, in inherited copies too.
    #[doc(alias = "PERF_EVENT_IOC_DISABLE")]
    pub fn disable(&self) -> Result<()> {
        self.disable_with(IocFlags::empty())
    }

    /// `ioctl(fd, PERF_EVENT_IOC_DISABLE, flags)`—As [`disable`](Self::disable), or the whole
    /// group. See [`enable_with`](Self::enable_with) before you start it again that way.
    pub fn disable_with(&self, flags: IocFlags) -> Result<()> {
        // SAFETY: the kernel takes the flags by value.
        unsafe { by_value::<DISABLE>(self, Call::IocDisable, word(flags.bits() as usize)) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_RESET, 0)`—Sets the count to 0. The times, and the counts of
    /// inherited copies that exited, stay as they are.
    #[doc(alias = "PERF_EVENT_IOC_RESET")]
    pub fn reset(&self) -> Result<()> {
        self.reset_with(IocFlags::empty())
    }

    /// `ioctl(fd, PERF_EVENT_IOC_RESET, flags)`—As [`reset`](Self::reset), or the whole group.
    pub fn reset_with(&self, flags: IocFlags) -> Result<()> {
        // SAFETY: the kernel takes the flags by value.
        unsafe { by_value::<RESET>(self, Call::IocReset, word(flags.bits() as usize)) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_REFRESH, overflows)`—Enables the event for a number of further
    /// overflows, after which the kernel disables it. 0 means no limit: use
    /// [`enable`](Self::enable).
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event does not sample or is inherited.
    #[doc(alias = "PERF_EVENT_IOC_REFRESH")]
    pub fn refresh(&self, overflows: u32) -> Result<()> {
        // SAFETY: the kernel takes the number by value.
        unsafe { by_value::<REFRESH>(self, Call::IocRefresh, word(overflows as usize)) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_PERIOD, &period)`—Sets the sampling period at once (before Linux
    /// 3.14 at the next overflow), or the frequency in Hz if the event was opened with one.
    ///
    /// cpu-clock and task-clock take a period in ns, also if they were opened with a frequency
    /// (kernel errata).
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event does not sample, or the value is 0 or out of range.
    #[doc(alias = "PERF_EVENT_IOC_PERIOD")]
    pub fn set_period(&self, period: u64) -> Result<()> {
        // SAFETY: the kernel reads a `u64` here.
        let argument = unsafe { Setter::<PERIOD, u64>::new(period) };
        // SAFETY: as above.
        unsafe { request(self, Call::IocPeriod, argument) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, target)`—Writes this event's records into the ring of
    /// `target`, which must be mapped; `None` writes them nowhere. A redirected event cannot be
    /// mapped until it is detached by `None`, even if the ring of `target` is unmapped.
    ///
    /// Wakeups follow the watermark of `target`, and the wakeup count of the event that writes.
    ///
    /// # Errors
    ///
    /// `EINVAL` if `target` has no ring or is this event, if this event has a ring, or if the two
    /// differ in CPU, in task (on any CPU), in clock or in
    /// [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD). `EBADF` for `None` in a 32-bit
    /// program on a 64-bit kernel, which compares 64 bits with -1: such a program cannot detach an
    /// event (kernel errata). [`Error::NotCopied`] if this event
    /// [may overwrite records](Self::may_overwrite_records) of the ring of `target`, which lends
    /// them. [`Error::Forked`] in a child of `fork`.
    #[doc(alias = "PERF_EVENT_IOC_SET_OUTPUT")]
    pub fn set_output(&self, target: Option<&Event>) -> Result<()> {
        target.map_or(Ok(()), |target| Self::check_copied(self.may_overwrite_records(), target))?;
        // The kernel compares the whole word with -1, so its lower 32 bits alone would be a bad
        // descriptor.
        let output = target.map_or(word(usize::MAX), |event| descriptor(event.fd()));
        self.redirect(target.is_some(), || {
            // SAFETY: the kernel takes the descriptor by value.
            unsafe { by_value::<SET_OUTPUT>(self, Call::IocSetOutput, output) }
        })
    }

    /// `ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)`—Filters the hits of a tracepoint by its
    /// fields, or limits a PMU with address filters to ranges of code.
    ///
    /// A tracepoint event takes one filter, which cannot be replaced: open the event anew (kernel
    /// errata).
    ///
    /// # Errors
    ///
    /// `EINVAL` for a wrong syntax or an event without filters, `EEXIST` for the second filter of a
    /// tracepoint.
    #[doc(alias = "PERF_EVENT_IOC_SET_FILTER")]
    pub fn set_filter(&self, filter: &CStr) -> Result<()> {
        let text = filter.as_ptr().cast_mut().cast();
        // SAFETY: the kernel reads a string up to its NUL here; `filter` outlives the call.
        unsafe { by_value::<SET_FILTER>(self, Call::IocSetFilter, text) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_ID, &id)`—Returns the event's id, as in its records and counts.
    /// Since Linux 3.12.
    #[doc(alias = "PERF_EVENT_IOC_ID")]
    pub fn id(&self) -> Result<u64> {
        // SAFETY: the kernel writes a `u64` here.
        let argument = unsafe { Getter::<ID, u64>::new() };
        // SAFETY: as above.
        unsafe { request(self, Call::IocId, argument) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_SET_BPF, program)`—Attaches a loaded BPF program, which runs on
    /// every overflow, or on every hit of a tracepoint or probe. Since Linux 4.1.
    ///
    /// # Errors
    ///
    /// `EINVAL` if `program` is not a BPF program, or not of the event's type; `EEXIST` if the
    /// event already has a program.
    #[doc(alias = "PERF_EVENT_IOC_SET_BPF")]
    pub fn set_bpf(&self, program: impl AsFd) -> Result<()> {
        let program = descriptor(program.as_fd());
        // SAFETY: the kernel takes the descriptor by value.
        unsafe { by_value::<SET_BPF>(self, Call::IocSetBpf, program) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause)`—Pauses or resumes the output into this
    /// event's ring. The kernel drops the records in between and counts them as lost. Since Linux
    /// 4.7.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event has no ring.
    #[doc(alias = "PERF_EVENT_IOC_PAUSE_OUTPUT")]
    pub fn pause_output(&self, pause: bool) -> Result<()> {
        let pause = word(usize::from(pause));
        // SAFETY: the kernel takes the flag by value.
        unsafe { by_value::<PAUSE_OUTPUT>(self, Call::IocPauseOutput, pause) }
    }

    /// `ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, &query)`—Returns the ids of the BPF programs on this
    /// event's tracepoint. Since Linux 4.16.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event is not of a tracepoint, `EPERM` without `CAP_PERFMON`.
    #[doc(alias = "PERF_EVENT_IOC_QUERY_BPF")]
    pub fn query_bpf(&self) -> Result<BpfIds> {
        let mut ids = BpfIds::EMPTY;
        // SAFETY: the kernel reads `ids_len` and writes `prog_cnt` and at most `ids_len` ids:
        // `BpfIds`.
        let argument = unsafe { Updater::<QUERY_BPF, BpfIds>::new(&mut ids) };
        // SAFETY: as above.
        unsafe { request(self, Call::IocQueryBpf, argument) }?;
        Ok(ids)
    }

    /// `ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr)`—Replaces address, length, type and
    /// state of a breakpoint by the values in `attr`. Since Linux 4.17.
    ///
    /// # Errors
    ///
    /// `EOPNOTSUPP` if the event is not a breakpoint, `EINVAL` if `attr` differs in more than
    /// these; [`Error::AttrSize`] as from [`open`](Self::open).
    #[doc(alias = "PERF_EVENT_IOC_MODIFY_ATTRIBUTES")]
    pub fn modify_attributes(&self, attr: &Attr) -> Result<()> {
        let mut passed = AttrArgument::new(attr);
        // SAFETY: the kernel reads `size` bytes, at most all of the attr, and writes `size` on
        // E2BIG.
        let argument = unsafe { Updater::<MODIFY_ATTRIBUTES, Attr>::new(passed.as_mut()) };
        // SAFETY: as above.
        let done = unsafe { ioctl(self.fd(), argument) };
        done.map_err(|errno| passed.refused(Call::IocModifyAttributes, errno.into()))
    }
}

/// The ids of the BPF programs attached to a tracepoint, from
/// [`Event::query_bpf`](crate::Event::query_bpf). Dereferences to a slice.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct BpfIds {
    head: PerfEventQueryBpf,
    ids: [u32; Self::MAX],
}

impl BpfIds {
    /// The kernel's limit for a tracepoint: `BPF_TRACE_MAX_PROGS` in `kernel/trace/bpf_trace.c`.
    const MAX: usize = 64;

    /// The argument of the ioctl before the call, with space for [`MAX`](Self::MAX) ids.
    const EMPTY: Self =
        Self { head: PerfEventQueryBpf { ids_len: Self::MAX as u32, prog_cnt: 0 }, ids: [0; Self::MAX] };
}

impl Deref for BpfIds {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        self.ids.get(..self.head.prog_cnt as usize).unwrap_or(&self.ids)
    }
}

impl fmt::Debug for BpfIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_returned_ids_are_in_the_slice() {
        let mut found = BpfIds::EMPTY;
        found.head.prog_cnt = 1;
        found.ids[0] = 7;
        assert_eq!(*found, [7]);
    }
}
