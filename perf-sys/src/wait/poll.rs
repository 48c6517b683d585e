use core::slice;
use core::time::Duration;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd};

use crate::{Call, Canceller, Error, Result};

/// What a wait came back with.
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
    /// Someone used the [`Canceller`]. There may be records nevertheless. The kernel does not call for them
    /// again, but the next wait is [`Readable`](Self::Readable) by them.
    Cancelled,
}

impl Readiness {
    /// Whether waiting again would be answered the same at once: until other events write into the ring
    /// of one that hung up, or a failed one is enabled again.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::HungUp | Self::Failed)
    }

    pub(super) const fn of(readable: bool, error: bool, hung_up: bool) -> Self {
        match (readable, error, hung_up) {
            (true, _, _) => Self::Readable,
            (_, true, _) => Self::Failed,
            (_, _, true) => Self::HungUp,
            _ => Self::TimedOut,
        }
    }
}

/// When a wait ends at the latest.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// A time that no clock can hold is for ever.
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        Self(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
    }

    /// The same, or at once.
    pub(crate) fn or_now(self, at_once: bool) -> Self {
        if at_once { Self::after(Some(Duration::ZERO)) } else { self }
    }

    /// What is left of the time. The clock is not read for what has no end.
    fn left(self, now: impl FnOnce() -> Instant) -> Option<Timespec> {
        self.0?.saturating_duration_since(now()).try_into().ok()
    }
}

/// `ppoll` of one descriptor, taken up again after signals with what is left of the time.
pub(crate) fn poll(fd: BorrowedFd<'_>, cancel: Option<&Canceller>, deadline: Deadline) -> Result<Readiness> {
    let descriptor = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    let mut watched = descriptor(fd);
    let found = |watched: PollFlags| {
        let error = watched.intersects(PollFlags::ERR | PollFlags::NVAL);
        Readiness::of(watched.contains(PollFlags::IN), error, watched.contains(PollFlags::HUP))
    };
    let Some(cancel) = cancel else {
        ppoll(slice::from_mut(&mut watched), deadline)?;
        return Ok(found(watched.revents()));
    };
    let mut both = [descriptor(cancel.as_fd()), watched];
    ppoll(&mut both, deadline)?;
    let [cancelled, watched] = both;
    Ok(if cancelled.revents().is_empty() { found(watched.revents()) } else { Readiness::Cancelled })
}

fn ppoll(fds: &mut [PollFd<'_>], deadline: Deadline) -> Result<()> {
    loop {
        match rustix::event::poll(fds, deadline.left(Instant::now).as_ref()) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::of(Call::Poll)(errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_told_before_a_hang_up() {
        assert_eq!(Readiness::of(true, false, true), Readiness::Readable);
    }

    #[test]
    fn a_failed_event_is_not_merely_hung_up() {
        assert_eq!(Readiness::of(false, true, true), Readiness::Failed);
    }

    #[test]
    fn nothing_found_is_the_end_of_the_time() {
        assert_eq!(Readiness::of(false, false, false), Readiness::TimedOut);
    }

    #[test]
    fn a_time_without_end_is_for_ever_and_needs_no_clock() {
        for timeout in [Some(Duration::MAX), None] {
            assert_eq!(Deadline::after(timeout).left(|| unreachable!()), None);
        }
    }

    #[test]
    fn a_time_below_a_millisecond_is_not_cut_and_one_that_is_over_is_zero() {
        let begin = Instant::now();
        let nanoseconds = |tv_nsec| Some(Timespec { tv_sec: 0, tv_nsec });
        let deadline = Deadline(Some(begin + Duration::from_nanos(1_001)));
        assert_eq!(deadline.left(|| begin), nanoseconds(1_001));
        assert_eq!(deadline.left(|| begin + Duration::from_micros(1)), nanoseconds(1));
        assert_eq!(deadline.left(|| begin + Duration::from_secs(1)), nanoseconds(0));
    }

    #[test]
    fn a_cancellation_ends_every_wait_until_it_is_reset() {
        let (cancel, quiet) = (Canceller::new().unwrap(), Canceller::new().unwrap());
        let wait = |timeout| poll(quiet.as_fd(), Some(&cancel), Deadline::after(timeout));
        cancel.cancel().unwrap();
        assert_eq!(wait(None), Ok(Readiness::Cancelled));
        assert_eq!(wait(None), Ok(Readiness::Cancelled));
        cancel.reset().unwrap();
        assert_eq!(wait(Some(Duration::from_micros(1))), Ok(Readiness::TimedOut));
    }
}
