use core::num::NonZeroI32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use perf_abi::{Attr, AttrFlags};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use crate::count::Label;
use crate::error::{Call, Errno, Error, Result};
use crate::map::Generation;

mod attr;
mod bpf_ids;
mod ioctl;
mod open_options;
mod prctl;
mod registers;
mod syscall;
mod target;

pub use bpf_ids::BpfIds;
pub use open_options::OpenOptions;
use registers::RegistersClaim;
use syscall::gettid;
pub(crate) use syscall::membarrier_global;
pub use target::Target;

/// An open event: a counter, or a source of records once it has a [`Ring`](crate::Ring).
///
/// Holding one proves that the descriptor is of `perf_event_open`, opened with
/// [`attr`](Self::attr), and that no safe code maps its ring but through this value. That is why
/// there is no `try_clone`, and why a foreign descriptor becomes an event only by the `unsafe`
/// [`from_owned_fd`](Self::from_owned_fd).
///
/// Dropping it closes the descriptor, which ends the event. An event whose ring is mapped ends when
/// the ring is unmapped.
///
/// A [`Ring`](crate::Ring) shares its event. Clone the [`Arc`] of
/// [`Ring::event`](crate::Ring::event) to enable, disable, read or identify the event while its
/// records are read, or in another thread.
#[derive(Debug)]
pub struct Event {
    fd: OwnedFd,
    // Dropped after the descriptor.
    #[expect(dead_code, reason = "dropped with the event")]
    registers: RegistersClaim,
    attr: Attr,
    /// The only thread that the event watches, on any CPU or on one. `None` for all tasks of a CPU
    /// or cgroup, and for a descriptor that was opened elsewhere.
    thread: Option<NonZeroI32>,
    label: Label,
    output: Mutex<Output>,
    /// The process that opened the event; `None` if it has no memory for the number.
    generation: Option<Generation>,
}

/// Destination of an event's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    /// None, until the event has a ring.
    None,
    /// The event's own ring, which is mapped or being mapped.
    Own,
    /// The ring of another event.
    Redirected,
}

impl Event {
    /// `perf_event_open(attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)`—Opens an event without a group.
    ///
    /// Use [`OpenOptions`] for a group leader or other flags.
    ///
    /// # Errors
    ///
    /// [`Error::AttrSize`](crate::Error::AttrSize) if the attr needs a newer kernel than this,
    /// [`Error::Registers`](crate::Error::Registers) for a software event if another one of its kind
    /// samples another number of registers, and [`Error::System`](crate::Error::System) with the errno.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`.
    #[doc(alias = "perf_event_open")]
    pub fn open(attr: &Attr, target: Target<'_>) -> Result<Self> {
        OpenOptions::new().open(attr, target)
    }

    /// Notes what the call that opened the event has determined.
    fn opened(self, registers: RegistersClaim, thread: Option<NonZeroI32>, is_redirected: bool) -> Self {
        if is_redirected {
            *self.output() = Output::Redirected;
        }
        Self { registers, thread, ..self }
    }

    pub(crate) fn new(fd: OwnedFd, attr: Attr) -> Self {
        let (label, generation) = (Label::from_attr(&attr), Generation::current().ok());
        let (registers, output) = (RegistersClaim::foreign(), Mutex::new(Output::None));
        Self { fd, registers, attr, thread: None, label, output, generation }
    }

    /// Sets the label of the event's counts, in place of the attr's.
    ///
    /// ```
    /// # use perf_abi::Attr;
    /// use perf_sys::{Event, Target};
    ///
    /// # fn main() -> perf_sys::Result<()> {
    /// # let (id, system, name) = (0x1a3, "sched", "sched_switch");
    /// // id, system and name as tracefs has them
    /// let event = match Event::open(&Attr::tracepoint(id), Target::calling_thread()) {
    ///     Ok(event) => event.with_label(format!("{system}:{name}")),
    ///     Err(refused) => return Ok(println!("{refused}")),
    /// };
    /// println!("{}", event.read()?); // 7  sched:sched_switch
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_label(mut self, label: impl Into<Label>) -> Self {
        self.set_label(label.into());
        self
    }

    pub(crate) fn set_label(&mut self, label: Label) {
        self.label = label;
    }

    /// Returns the label of the event's counts.
    pub const fn label(&self) -> &Label {
        &self.label
    }

    /// Returns the attr with which the event was opened. Its
    /// [`SampleLayout`](perf_decode::SampleLayout) decodes the event's records. Later changes of
    /// the period or the breakpoint by ioctl are not in the attr.
    pub const fn attr(&self) -> &Attr {
        &self.attr
    }

    /// Returns whether the event counts the calling thread alone.
    pub(crate) fn is_self_monitoring(&self) -> bool {
        let inherited = self.attr.flags.contains(AttrFlags::INHERIT);
        !inherited && self.thread.is_some() && self.thread == gettid()
    }

    /// Returns whether the kernel writes this event's ring backward.
    pub(crate) const fn writes_backward(&self) -> bool {
        self.attr.flags.contains(AttrFlags::WRITE_BACKWARD)
    }

    /// Redirects the records by `change`, and stores their destination. The lock keeps the changes
    /// of two threads in the order in which the kernel made them.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event has a ring, as the kernel returns for a mapped event, and
    /// [`Error::Forked`].
    fn redirect(&self, to_another: bool, change: impl FnOnce() -> Result<()>) -> Result<()> {
        self.check_here()?;
        let mut output = self.output();
        if *output == Output::Own {
            return Err(Error::System { call: Call::IocSetOutput, errno: Errno::EINVAL });
        }
        change()?;
        *output = if to_another { Output::Redirected } else { Output::None };
        Ok(())
    }

    /// Reserves the event's ring for one mapping.
    ///
    /// # Errors
    ///
    /// [`Error::RingInUse`] if the ring is mapped. [`Error::Forked`] in a child of `fork`, because
    /// the parent may map it. `EBUSY` if the records go to another event's ring. Linux returns it
    /// only since January 2026 (some 6.18.y). Older kernels map the other ring, which would then
    /// have two readers.
    pub(crate) fn claim_ring(self: &Arc<Self>) -> Result<RingClaim> {
        self.check_here()?;
        let mut output = self.output();
        match *output {
            Output::None => *output = Output::Own,
            Output::Own => return Err(Error::RingInUse),
            Output::Redirected => return Err(Error::System { call: Call::Mmap, errno: Errno::EBUSY }),
        }
        Ok(RingClaim(Arc::clone(self)))
    }

    /// Returns the error of [`claim_ring`](Self::claim_ring) if the records go to another event's
    /// ring.
    pub(crate) fn check_not_redirected(&self) -> Result<()> {
        self.check_here()?;
        match *self.output() {
            Output::Redirected => Err(Error::System { call: Call::Mmap, errno: Errno::EBUSY }),
            Output::None | Output::Own => Ok(()),
        }
    }

    /// Returns [`Error::Forked`] in a child of `fork`. `output` is a copy there, which does not
    /// have the parent's later changes of the same event.
    fn check_here(&self) -> Result<()> {
        match self.generation {
            Some(generation) if generation.is_current() => Ok(()),
            Some(_) => Err(Error::Forked),
            None => Err(Error::System { call: Call::Mmap, errno: Errno::ENOMEM }),
        }
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to map the ring of an event. Holding one proves that no other mapping of it has a reader.
#[derive(Debug)]
pub(crate) struct RingClaim(Arc<Event>);

impl Drop for RingClaim {
    fn drop(&mut self) {
        // In a child of fork the lock may be held by a thread that only the parent has.
        if self.0.check_here().is_ok() {
            *self.0.output() = Output::None;
        }
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Event {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{EventfdFlags, eventfd};

    use super::*;

    fn event() -> Arc<Event> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        Arc::new(Event::new(fd, Attr::software(perf_abi::Software::DUMMY)))
    }

    fn is_busy(event: &Arc<Event>) -> bool {
        matches!(event.claim_ring(), Err(error) if error.errno() == Some(Errno::EBUSY))
    }

    #[test]
    fn only_a_successful_redirection_is_stored() {
        let event = event();
        let refuse = || Err(Error::GroupFormat);
        assert!(event.redirect(true, refuse).is_err());
        assert!(event.claim_ring().is_ok(), "not redirected");
        event.redirect(true, || Ok(())).unwrap();
        assert!(is_busy(&event));
        assert!(event.redirect(false, refuse).is_err());
        assert!(is_busy(&event), "still redirected");
        event.redirect(false, || Ok(())).unwrap();
        assert!(event.claim_ring().is_ok());
    }

    #[test]
    fn mapped_event_has_one_reader_and_is_not_redirected() {
        let event = event();
        let claim = event.claim_ring().unwrap();
        assert_eq!(event.claim_ring().unwrap_err(), Error::RingInUse);
        let error = event.redirect(true, || unreachable!()).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EINVAL));
        drop(claim);
        assert!(event.claim_ring().is_ok());
    }
}
