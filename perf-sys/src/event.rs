use perf_abi::{Attr, AttrFlags, OpenFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::syscall::perf_event_open;
use crate::{Result, Target};

/// An open event: a counter, or a source of records once it has a [`Ring`](crate::Ring).
///
/// Holding one proves that the descriptor is of `perf_event_open`, opened with [`attr`](Self::attr),
/// and that no safe code maps its ring but through this value. That is why there is no `try_clone`, and
/// why a foreign descriptor enters only by the `unsafe` [`from_owned_fd`](Self::from_owned_fd).
///
/// Dropping it closes the descriptor and ends the event, unless it is mapped: then with the mapping.
#[derive(Debug)]
pub struct Event {
    fd: OwnedFd,
    attr: Attr,
}

impl Event {
    /// `perf_event_open(attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)`—Opens an event of its own.
    ///
    /// With a leader or other flags: [`OpenOptions`].
    ///
    /// # Errors
    ///
    /// [`Error::AttrSize`](crate::Error::AttrSize) if the attr needs a newer kernel than this, and
    /// [`Error::System`](crate::Error::System) with the kernel's answer; its text names the usual causes.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`.
    #[doc(alias = "perf_event_open")]
    pub fn open(attr: &Attr, target: Target<'_>) -> Result<Self> {
        OpenOptions::new().open(attr, target)
    }

    pub(crate) const fn new(fd: OwnedFd, attr: Attr) -> Self {
        Self { fd, attr }
    }

    /// The attr as it was at the open. Its [`SampleLayout`](perf_decode::SampleLayout) decodes the
    /// event's records; a period or a breakpoint changed later by ioctl does not show here.
    pub const fn attr(&self) -> &Attr {
        &self.attr
    }

    /// Whether the kernel writes this event's ring downward.
    pub(crate) const fn writes_backward(&self) -> bool {
        self.attr.flags.contains(AttrFlags::WRITE_BACKWARD)
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// How to open an event that is not alone: its group, and the flags of the call.
///
/// ```no_run
/// use perf_abi::{Attr, Hardware};
/// use perf_sys::{Event, OpenOptions, Target};
///
/// # fn main() -> perf_sys::Result<()> {
/// let cycles = Event::open(&Attr::hardware(Hardware::CPU_CYCLES), Target::calling_thread())?;
/// let instructions = OpenOptions::new()
///     .leader(&cycles)
///     .open(&Attr::hardware(Hardware::INSTRUCTIONS), Target::calling_thread())?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions<'a> {
    leader: Option<BorrowedFd<'a>>,
    flags: OpenFlags,
}

impl<'a> OpenOptions<'a> {
    /// No group, closed on exec.
    pub const fn new() -> Self {
        Self { leader: None, flags: OpenFlags::FD_CLOEXEC }
    }

    /// Joins the group of `leader`: its members are on the PMU together or not at all.
    #[must_use]
    #[doc(alias = "group_fd")]
    pub fn leader(mut self, leader: &'a Event) -> Self {
        self.leader = Some(leader.as_fd());
        self
    }

    /// Sets more flags. [`PID_CGROUP`](OpenFlags::PID_CGROUP) is not one of them: the [`Target`] alone
    /// says what `pid` is.
    #[must_use]
    pub fn flags(mut self, flags: OpenFlags) -> Self {
        self.flags |= flags;
        self
    }

    /// Leaves the descriptor open for the program that this process may become.
    #[must_use]
    pub fn keep_on_exec(mut self) -> Self {
        self.flags -= OpenFlags::FD_CLOEXEC;
        self
    }

    /// Opens the event.
    ///
    /// # Errors
    ///
    /// As [`Event::open`].
    pub fn open(&self, attr: &Attr, target: Target<'_>) -> Result<Event> {
        let fd = perf_event_open(attr, target, self.leader, self.flags)?;
        Ok(Event::new(fd, *attr))
    }
}

impl Default for OpenOptions<'_> {
    fn default() -> Self {
        Self::new()
    }
}
