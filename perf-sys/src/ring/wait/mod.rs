//! Waiting for records: the result of a wait, its deadline, and threads that share a poll.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::os::fd::AsFd;

use super::Ring;

use crate::error::Result;

mod poll;
mod readiness;
mod waiters;
mod waker;

use poll::poll_events;
pub use poll::poll_readable;
pub(crate) use poll::{Deadline, poll};
pub use readiness::WaitResult;
use waiters::Turn;
pub(in crate::ring) use waiters::Waiters;
pub use waker::Waker;

/// Waiting for records.
impl Ring {
    /// `ppoll(fd, POLLIN, timeout)`—Waits for the kernel's wakeup, for at most `timeout`, in ns; `None`
    /// waits without limit. A signal does not end the wait.
    ///
    /// The kernel wakes the reader at the attr's watermark or wakeup count, by default when the
    /// ring is half full. It does not wake it for fewer records, so use a timeout and read the ring
    /// after it. A wakeup that was not followed by a [`batch`](Self::batch) or a
    /// [`refresh`](Self::refresh), a batch that was not read to its end, and a ring left half full
    /// make the next wait return [`Readable`](WaitResult::Readable) at once.
    ///
    /// Several threads may wait at the same time; one wakeup ends the waits of all.
    ///
    /// # Errors
    ///
    /// [`Error::System`](crate::Error::System) if the kernel has no memory or no descriptor for it.
    ///
    /// # References
    ///
    /// `poll(2)`, `perf_event_open(2)`, "Overflow handling".
    pub fn wait(&self, timeout: Option<Duration>) -> Result<WaitResult> {
        self.wait_until(None, Deadline::after(timeout))
    }

    /// As [`wait`](Self::wait), until `waker` is used.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
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
            let found = match &turn {
                Turn::Leader(_) if self.redirected.is_empty() => poll(self.as_fd(), waker, deadline),
                Turn::Leader(_) => poll_events(self.events().map(|event| event.as_fd()), waker, deadline),
                Turn::Follower(follower) => poll(follower.as_fd(), waker, deadline),
            }?;
            self.keep_wakeup(&turn, found);
            let is_woken_by_leader = matches!((&turn, found), (Turn::Follower(_), WaitResult::Readable));
            drop(turn);
            return Ok(match (found, self.has_records()) {
                (WaitResult::TimedOut, true) if must_not_block => WaitResult::Readable,
                // A wakeup for records that were read before the wait, or of a leader that found no
                // records.
                (WaitResult::Readable, false) => continue,
                // The leader may have timed out while records are below the watermark.
                (WaitResult::Readable, true) if is_woken_by_leader => continue,
                // The kernel reports a hang-up without readability, even while records are unread.
                // It writes no records after it.
                (WaitResult::HungUp | WaitResult::Failed, true) => WaitResult::Readable,
                (found, _) => found,
            });
        }
    }

    /// Keeps a wakeup that the poll consumed, for the other waiting threads and the next wait,
    /// because the kernel reports it once.
    fn keep_wakeup(&self, turn: &Turn<'_>, found: WaitResult) {
        if matches!(turn, Turn::Leader(_)) && matches!(found, WaitResult::Readable | WaitResult::Woken) {
            self.set_pending_wakeup();
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
        let consumer = &self.reader.consumer;
        is_pending || consumer.len() != 0 && !self.is_kept || consumer.is_half_full()
    }
}
