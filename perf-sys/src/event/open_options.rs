use std::os::fd::{AsFd, BorrowedFd};

use perf_abi::{Attr, OpenFlags};

use super::RegistersClaim;
use super::syscall::perf_event_open;
use super::{Event, Target};
use crate::error::Result;

/// Options of `perf_event_open`: the group leader and the flags.
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
    /// Returns the options of an event without a group, closed on exec.
    pub const fn new() -> Self {
        Self { leader: None, flags: OpenFlags::FD_CLOEXEC }
    }

    /// Adds the event to the group of `leader`, whose members are on the PMU together or not at
    /// all.
    #[must_use]
    #[doc(alias = "group_fd")]
    pub fn leader(mut self, leader: &'a Event) -> Self {
        self.leader = Some(leader.as_fd());
        self
    }

    /// Sets more flags. [`PID_CGROUP`](OpenFlags::PID_CGROUP) is ignored, because it follows from
    /// the [`Target`].
    #[must_use]
    pub fn flags(mut self, flags: OpenFlags) -> Self {
        self.flags |= flags;
        self
    }

    /// Keeps the descriptor open across `exec`.
    #[must_use]
    pub fn keep_on_exec(mut self) -> Self {
        self.flags -= OpenFlags::FD_CLOEXEC;
        self
    }

    /// Opens the event.
    ///
    /// # Errors
    ///
    /// [`Error::System`](crate::error::Error::System) with the errno of `perf_event_open`, as [`Event::open`] lists them.
    pub fn open(&self, attr: &Attr, target: Target<'_>) -> Result<Event> {
        let registers = RegistersClaim::new(attr)?;
        let fd = perf_event_open(attr, target, self.leader, self.flags)?;
        let is_redirected = self.leader.is_some() && self.flags.contains(OpenFlags::FD_OUTPUT);
        Ok(Event::new(fd, *attr).opened(registers, target.watched_thread(), is_redirected))
    }
}

impl Default for OpenOptions<'_> {
    fn default() -> Self {
        Self::new()
    }
}
