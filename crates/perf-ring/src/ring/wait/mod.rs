//! Waiting for records: the result of a wait, its deadline, and the poll.

use core::slice;
use core::sync::atomic::Ordering;
use core::time::Duration;
use std::os::fd::AsFd;
use std::time::Instant;

use perf_sys::{BorrowedEvent, Errno, Polled};
use rustix::event::{PollFlags, Timespec};

use super::Ring;
use crate::error::Result;

mod wakers;

pub(super) use wakers::Waiters;
pub use wakers::Waker;

/// The result of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitResult {
    /// There are records to read.
    Readable,
    /// The timeout expired. There may be unread records, fewer than the watermark.
    TimedOut,
    /// The tasks that the events watch have exited, with all copies that inherited them (since
    /// Linux 3.18), and no record is left.
    HungUp,
    /// An event has failed and no record is left: a pinned event that could not be scheduled on its
    /// PMU, or a PMU that was removed.
    Failed,
    /// The [`Waker`](crate::Waker) was used: each wait returns this until its
    /// [`reset`](crate::Waker::reset). There may be unread records, so read the ring once more
    /// before the end.
    Woken,
}

impl WaitResult {
    /// Returns whether this is the end of the records: waiting again returns the same result
    /// immediately, until another event writes into a ring that hung up, or a failed event is
    /// enabled again. [`Woken`](Self::Woken) is not final.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::HungUp | Self::Failed)
    }

    /// Returns `Failed` if any event has failed, `HungUp` if all have hung up, and `None`
    /// otherwise.
    pub(crate) fn of_all(mut ends: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        ends.try_fold(Self::HungUp, |all, end| end.map(|end| if all == Self::Failed { all } else { end }))
    }

    pub(crate) const fn new(readable: bool, error: bool, hung_up: bool) -> Self {
        match (readable, error, hung_up) {
            (true, _, _) => Self::Readable,
            (_, true, _) => Self::Failed,
            (_, _, true) => Self::HungUp,
            _ => Self::TimedOut,
        }
    }
}

/// Waiting for records.
impl Ring {
    /// `ppoll(fd, POLLIN, timeout)`—Waits for the kernel's wakeup, for at most `timeout`, in ns;
    /// `None` waits without limit. A signal does not end the wait.
    ///
    /// The kernel wakes the reader at the attr's watermark or wakeup count, by default when the
    /// ring is half full. It does not wake it for fewer records, so use a timeout and read the ring
    /// after it. A wakeup that was not followed by a [`batch`](Self::batch) or another
    /// way to read, records that were left unread, and a ring left half full
    /// make the next wait return [`Readable`](WaitResult::Readable) at once.
    ///
    /// Several threads may wait at the same time; one wakeup ends the waits of all.
    ///
    /// # Errors
    ///
    /// [`System`](perf_sys::Error::System) if the kernel has no memory or no descriptor for it.
    ///
    /// # References
    ///
    /// `poll(2)`, `perf_event_open(2)`, "Overflow handling".
    pub fn wait(&self, timeout: Option<Duration>) -> Result<WaitResult> {
        self.wait_until(None, Deadline::after(timeout))
    }

    /// Waits like [`wait`](Self::wait), but also ends when `waker` is used.
    ///
    /// # Errors
    ///
    /// The errors of [`wait`](Self::wait).
    pub fn wait_or_woken(&self, timeout: Option<Duration>, waker: &Waker) -> Result<WaitResult> {
        self.wait_until(Some(waker), Deadline::after(timeout))
    }

    fn wait_until(&self, waker: Option<&Waker>, deadline: Deadline) -> Result<WaitResult> {
        self.check_here()?;
        if self.is_in_memory {
            return Ok(if self.has_records() { WaitResult::Readable } else { WaitResult::HungUp });
        }
        loop {
            let turn = self.waiters.turn()?;
            // After the turn began: an earlier leader keeps a wakeup before its turn ends.
            let must_not_block = self.must_not_block();
            let deadline = deadline.or_now(must_not_block);
            let found = match &turn.tokens {
                Some(tokens) => poll(tokens.as_fd(), waker, deadline),
                None if self.redirected.is_empty() => poll(&*self.event, waker, deadline),
                None => {
                    poll_events(self.events().map(|event| BorrowedEvent::from(&**event)), waker, deadline)
                }
            }?;
            let is_leader = turn.tokens.is_none();
            if is_leader && matches!(found, WaitResult::Readable | WaitResult::Woken) {
                // Keep the wakeup for other waiting threads and the next wait, because the kernel
                // reports it once.
                self.set_pending_wakeup();
            }
            drop(turn);
            return Ok(match (found, self.has_records()) {
                (WaitResult::TimedOut, true) if must_not_block => WaitResult::Readable,
                // A wakeup for records that were read before the wait, or of a leader that found no
                // records.
                (WaitResult::Readable, false) => continue,
                // The leader may have timed out while records are below the watermark.
                (WaitResult::Readable, true) if !is_leader => continue,
                // The kernel reports a hang-up without readability, even while records are unread.
                // It writes no records after it.
                (WaitResult::HungUp | WaitResult::Failed, true) => WaitResult::Readable,
                (found, _) => found,
            });
        }
    }

    /// Sets the pending wakeup if a poll may have consumed that for the records in the ring.
    pub(crate) fn set_pending_wakeup(&self) {
        if self.has_new_records() {
            self.pending_wakeup.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether a wait must not sleep, because the kernel may send no wakeup for the unread
    /// records: their wakeup is pending, a batch has left them, or the ring is at least half full.
    pub(crate) fn must_not_block(&self) -> bool {
        let is_pending = self.pending_wakeup.load(Ordering::Relaxed) && self.has_new_records();
        is_pending || self.reader.len() != 0 && !self.is_kept || self.reader.is_half_full()
    }
}

/// The time at which a wait ends at the latest.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// Returns the end of `timeout`, or no deadline for a time that the clock cannot hold.
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        Self(timeout.and_then(|timeout| Instant::now().checked_add(timeout)))
    }

    /// Returns the current time if `at_once`, else this deadline.
    pub(crate) fn or_now(self, at_once: bool) -> Self {
        if at_once { Self::after(Some(Duration::ZERO)) } else { self }
    }

    /// Returns the earlier one of this and `time`.
    pub(crate) fn at_most(self, time: Option<Instant>) -> Self {
        match (self.0, time) {
            (Some(deadline), Some(time)) => Self(Some(deadline.min(time))),
            (deadline, time) => Self(deadline.or(time)),
        }
    }

    /// Returns whether the deadline has passed.
    pub(crate) fn is_over(self) -> bool {
        self.0.is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Returns the remaining time. Reads the clock only if there is a deadline.
    fn left(self, now: impl FnOnce() -> Instant) -> Option<Timespec> {
        self.0?.saturating_duration_since(now()).try_into().ok()
    }
}

/// `ppoll(fd, POLLIN, timeout)`—Waits until a descriptor of any kind is readable, for at most
/// `timeout`, in ns; `None` waits without limit. Using the `waker` ends the wait; a signal does
/// not.
///
/// # Errors
///
/// [`System`](perf_sys::Error::System) if the kernel has no memory for it.
pub fn poll_readable(fd: impl AsFd, timeout: Option<Duration>, waker: Option<&Waker>) -> Result<WaitResult> {
    poll(fd.as_fd(), waker, Deadline::after(timeout))
}

/// Polls one descriptor by `ppoll`, and the waker if there is one.
pub(crate) fn poll<'fd>(
    fd: impl Into<BorrowedEvent<'fd>>,
    waker: Option<&'fd Waker>,
    deadline: Deadline,
) -> Result<WaitResult> {
    let mut watched = Polled::new(fd);
    let Some(waker) = waker else {
        ppoll(slice::from_mut(&mut watched), deadline)?;
        return Ok(found(&watched));
    };
    let mut both = [Polled::new(waker.as_fd()), watched];
    ppoll(&mut both, deadline)?;
    let [woken, watched] = both;
    Ok(if woken.revents().is_empty() { found(&watched) } else { WaitResult::Woken })
}

/// Polls all events that write into one ring by `ppoll`. Returns a hang-up or a failure only when
/// none of them can write.
fn poll_events<'fd>(
    events: impl Iterator<Item = BorrowedEvent<'fd>>,
    waker: Option<&'fd Waker>,
    deadline: Deadline,
) -> Result<WaitResult> {
    let waker = waker.map(|waker| BorrowedEvent::from(waker.as_fd()));
    let first = usize::from(waker.is_some());
    let mut fds: Vec<_> = waker.into_iter().chain(events).map(Polled::new).collect();
    let mut all = WaitResult::HungUp;
    loop {
        ppoll(&mut fds, deadline)?;
        let (woken, events) = fds.split_at(first);
        if woken.iter().any(|waker| !waker.revents().is_empty()) {
            return Ok(WaitResult::Woken);
        }
        let mut ends = events.iter().map(found);
        if ends.clone().any(|end| end == WaitResult::Readable) {
            return Ok(WaitResult::Readable);
        }
        if ends.clone().any(|end| end == WaitResult::Failed) {
            all = WaitResult::Failed;
        }
        if ends.all(WaitResult::is_final) {
            return Ok(all);
        }
        // A descriptor that hung up would end every poll at once.
        let before = fds.len();
        let mut index = 0;
        fds.retain(|fd| {
            index += 1;
            index <= first || !found(fd).is_final()
        });
        if fds.len() == before {
            return Ok(WaitResult::TimedOut);
        }
    }
}

fn found(watched: &Polled<'_>) -> WaitResult {
    let found = watched.revents();
    let error = found.intersects(PollFlags::ERR | PollFlags::NVAL);
    WaitResult::new(found.contains(PollFlags::IN), error, found.contains(PollFlags::HUP))
}

/// Polls again after signals, with the remaining time.
fn ppoll(fds: &mut [Polled<'_>], deadline: Deadline) -> Result<()> {
    loop {
        match perf_sys::poll(fds, deadline.left(Instant::now).as_ref()) {
            Err(error) if error.errno() == Some(Errno::EINTR) => {}
            done => return Ok(done?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_beyond_the_clock_has_no_deadline_and_reads_no_clock() {
        for timeout in [Some(Duration::MAX), None] {
            assert_eq!(Deadline::after(timeout).left(|| unreachable!()), None);
        }
    }

    #[test]
    fn remaining_time_keeps_its_nanoseconds_and_is_never_negative() {
        let begin = Instant::now();
        let nanoseconds = |tv_nsec| Some(Timespec { tv_sec: 0, tv_nsec });
        let deadline = Deadline(Some(begin + Duration::from_nanos(1_001)));
        assert_eq!(deadline.left(|| begin), nanoseconds(1_001));
        assert_eq!(deadline.left(|| begin + Duration::from_micros(1)), nanoseconds(1));
        assert_eq!(deadline.left(|| begin + Duration::from_secs(1)), nanoseconds(0));
    }

    #[test]
    fn earlier_of_two_deadlines_counts() {
        let (begin, later) = (Instant::now(), Instant::now() + Duration::from_secs(1));
        assert_eq!(Deadline(Some(later)).at_most(Some(begin)).0, Some(begin));
        assert_eq!(Deadline(Some(begin)).at_most(Some(later)).0, Some(begin));
        assert_eq!(Deadline(None).at_most(Some(begin)).0, Some(begin));
        assert_eq!(Deadline(Some(begin)).at_most(None).0, Some(begin));
    }

    #[test]
    fn wake_ends_every_wait_until_it_is_reset() {
        let (waker, quiet) = (Waker::new().unwrap(), Waker::new().unwrap());
        let wait = |timeout| poll(quiet.as_fd(), Some(&waker), Deadline::after(timeout));
        let wait_for_two = |timeout| {
            poll_events(
                [BorrowedEvent::from(quiet.as_fd()); 2].into_iter(),
                Some(&waker),
                Deadline::after(timeout),
            )
        };
        waker.wake().unwrap();
        assert_eq!(wait(None), Ok(WaitResult::Woken));
        assert_eq!(wait_for_two(None), Ok(WaitResult::Woken));
        waker.reset().unwrap();
        let short = Some(Duration::from_micros(1));
        assert_eq!(wait(short), Ok(WaitResult::TimedOut));
        assert_eq!(wait_for_two(short), Ok(WaitResult::TimedOut));
    }

    #[test]
    fn hang_up_of_one_event_does_not_end_the_wait_for_another() {
        let (hung_up, _) = rustix::pipe::pipe().unwrap();
        let quiet = Waker::new().unwrap();
        let (begin, timeout) = (Instant::now(), Duration::from_millis(20));
        let events = [hung_up.as_fd(), quiet.as_fd()].map(BorrowedEvent::from).into_iter();
        assert_eq!(poll_events(events, None, Deadline::after(Some(timeout))), Ok(WaitResult::TimedOut));
        assert!(begin.elapsed() >= timeout);
    }

    #[test]
    fn error_of_one_event_is_a_failure_when_all_have_ended() {
        let ((_, failed), (hung_up, _)) = (rustix::pipe::pipe().unwrap(), rustix::pipe::pipe().unwrap());
        assert_eq!(poll(failed.as_fd(), None, Deadline(None)), Ok(WaitResult::Failed));
        let events = [failed.as_fd(), hung_up.as_fd()].map(BorrowedEvent::from).into_iter();
        assert_eq!(poll_events(events, None, Deadline(None)), Ok(WaitResult::Failed));
    }

    #[test]
    fn events_hang_up_when_the_last_of_them_does() {
        let ((reads, writes), (other, writes_too)) =
            (rustix::pipe::pipe().unwrap(), rustix::pipe::pipe().unwrap());
        let wait = |timeout| {
            poll_events(
                [reads.as_fd(), other.as_fd()].map(BorrowedEvent::from).into_iter(),
                None,
                Deadline::after(timeout),
            )
        };
        drop(writes);
        assert_eq!(wait(Some(Duration::from_micros(1))), Ok(WaitResult::TimedOut));
        rustix::io::write(&writes_too, b"x").unwrap();
        assert_eq!(wait(None), Ok(WaitResult::Readable));
        rustix::io::read(&other, &mut [0; 1]).unwrap();
        drop(writes_too);
        assert_eq!(wait(None), Ok(WaitResult::HungUp));
    }

    #[test]
    fn readability_is_reported_before_a_failure_and_a_failure_before_a_hang_up() {
        let found = [(true, true, true), (false, true, true), (false, false, true), (false, false, false)]
            .map(|(readable, error, hung_up)| WaitResult::new(readable, error, hung_up));
        let expected = [WaitResult::Readable, WaitResult::Failed, WaitResult::HungUp, WaitResult::TimedOut];
        assert_eq!(found, expected);
    }

    #[test]
    fn one_failure_counts_more_than_hang_ups() {
        let (hung_up, failed) = (Some(WaitResult::HungUp), Some(WaitResult::Failed));
        assert_eq!(WaitResult::of_all([hung_up, failed, hung_up].into_iter()), failed);
        assert_eq!(WaitResult::of_all([failed, None].into_iter()), None);
        assert_eq!(WaitResult::of_all([].into_iter()), hung_up, "no events");
    }
}
