use core::slice;
use core::time::Duration;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use crate::{Error, Result};

/// What [`Ring::wait`](crate::Ring::wait) came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Readiness {
    /// There are records to read.
    Readable,
    /// The time is over. There may be records nevertheless, fewer than the watermark.
    TimedOut,
    /// The task that the event watched has ended, with all copies that inherited it (since Linux 3.18),
    /// and no record is left: nothing will come any more but from other events sent to this ring.
    HungUp,
    /// The event has failed and no record is left: a pinned event that could not be placed, or a PMU
    /// that is gone.
    Failed,
}

impl Readiness {
    /// Whether waiting again would be answered the same at once.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::HungUp | Self::Failed)
    }

    fn of(found: PollFlags) -> Self {
        if found.contains(PollFlags::IN) {
            Self::Readable
        } else if found.intersects(PollFlags::ERR | PollFlags::NVAL) {
            Self::Failed
        } else if found.contains(PollFlags::HUP) {
            Self::HungUp
        } else {
            Self::TimedOut
        }
    }
}

/// `ppoll` of one descriptor, taken up again after signals with what is left of the time.
pub(crate) fn poll(fd: BorrowedFd<'_>, timeout: Option<Duration>) -> Result<Readiness> {
    // A time that no clock can hold is for ever.
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut left = timeout;
    loop {
        let time = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fd = PollFd::from_borrowed_fd(fd, PollFlags::IN);
        match rustix::event::poll(slice::from_mut(&mut fd), time.as_ref()) {
            Ok(_) => return Ok(Readiness::of(fd.revents())),
            Err(Errno::INTR) => {
                left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            }
            Err(errno) => return Err(Error::of("poll")(errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_told_before_a_hang_up() {
        assert_eq!(Readiness::of(PollFlags::IN | PollFlags::HUP), Readiness::Readable);
    }

    #[test]
    fn a_failed_event_is_not_merely_hung_up() {
        assert_eq!(Readiness::of(PollFlags::ERR | PollFlags::HUP), Readiness::Failed);
    }

    #[test]
    fn nothing_found_is_the_end_of_the_time() {
        assert_eq!(Readiness::of(PollFlags::empty()), Readiness::TimedOut);
    }
}
