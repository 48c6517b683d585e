//! Waiting for any ring of a set.

use core::mem::{MaybeUninit, replace};
use core::time::Duration;
use std::os::fd::AsFd;
use std::time::Instant;

use perf_sys::Call;
use rustix::event::{Timespec, epoll};

use super::{Member, RingSet};
use crate::error::{Error, Result};
use crate::ring::{Deadline, WaitResult, Waker, poll};

/// State of a set between two waits.
#[derive(Debug, Default)]
pub(super) struct Wakeups {
    /// The sum of the rings' heads at the last wakeup.
    heads: u64,
    /// Number of wakeups in a row that came with new data, modulo [`REAP_EVERY`].
    with_data: u8,
    /// Set if the last wait slept and no wakeup ended it, so that the kernel sent none for the
    /// records that were written meanwhile.
    slept_through: bool,
}

impl Wakeups {
    /// Returns whether the last call since the last round was a wait that no wakeup ended.
    pub(super) const fn take_slept_through(&mut self) -> bool {
        replace(&mut self.slept_through, false)
    }
}

/// At least one of this number of wakeups checks for hang-ups, at the cost of 1/16 system call per
/// wakeup.
const REAP_EVERY: u8 = 16;

/// Waiting for records.
impl<K> RingSet<K> {
    /// `ppoll(epoll, POLLIN, timeout)`—Waits for a wakeup of any ring, for at most `timeout`, in
    /// ns; `None` waits without limit. A signal does not end the wait.
    ///
    /// Unread records that a batch has left, a ring left half full, and records that a ring had
    /// when it was added make a wait return [`Readable`](WaitResult::Readable) at once. If the
    /// kernel has sent a wakeup for records that [`drain_sorted`](Self::drain_sorted) keeps, one
    /// wait ends at the [next round](Self::next_round).
    ///
    /// Returns [`HungUp`](WaitResult::HungUp) when all events have hung up and no record is left,
    /// and for an empty set, or [`Failed`](WaitResult::Failed) if any event has failed.
    /// [`end`](Self::end) and [`pop_ended`](Self::pop_ended) return it for each ring.
    ///
    /// # Errors
    ///
    /// [`System`](perf_sys::Error::System) if the kernel has no memory for it.
    ///
    /// # References
    ///
    /// `poll(2)`, `epoll(7)`.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<WaitResult> {
        self.wait_until(None, Deadline::after(timeout))
    }

    /// Waits like [`wait`](Self::wait), but also ends when `waker` is used.
    ///
    /// # Errors
    ///
    /// The errors of [`wait`](Self::wait).
    pub fn wait_or_woken(&mut self, timeout: Option<Duration>, waker: &Waker) -> Result<WaitResult> {
        self.wait_until(Some(waker), Deadline::after(timeout))
    }

    fn wait_until(&mut self, waker: Option<&Waker>, deadline: Deadline) -> Result<WaitResult> {
        self.check_here()?;
        self.wakeups.slept_through = false;
        // An event loop waits like this, and its own poll may have consumed the wakeup.
        let cannot_sleep = deadline.is_over();
        loop {
            if let Some(end) = self.end_of_all() {
                let has_records = self.members.iter().any(|member| member.ring.has_records());
                return Ok(if has_records { WaitResult::Readable } else { end });
            }
            let must_not_block = self.members.iter().any(|member| member.ring.must_not_block());
            let next_round = self.next_round();
            let deadline = deadline.at_most(next_round).or_now(must_not_block);
            match poll(self.epoll.as_fd(), waker, deadline)? {
                // One system call is enough.
                WaitResult::Readable if self.has_new_data() => {}
                // A wakeup for records that were read meanwhile, or a hang-up.
                WaitResult::Readable => self.reap_hung_up()?,
                WaitResult::TimedOut if must_not_block => {
                    self.keep_wakeups();
                    return Ok(WaitResult::Readable);
                }
                WaitResult::TimedOut => {
                    self.wakeups.slept_through = !cannot_sleep;
                    let is_due = next_round.is_some_and(|due| due <= Instant::now());
                    return Ok(if is_due { WaitResult::Readable } else { WaitResult::TimedOut });
                }
                WaitResult::Woken => {
                    self.keep_wakeups();
                    return Ok(WaitResult::Woken);
                }
                found => return Ok(found),
            }
            self.keep_wakeups();
            if self.members.iter().any(|member| member.ring.has_new_records()) {
                return Ok(WaitResult::Readable);
            }
        }
    }

    /// Keeps the wakeup of each ring with records, because a reader may leave some rings unread.
    fn keep_wakeups(&self) {
        self.members.iter().for_each(|member| member.ring.set_pending_wakeup());
    }

    /// Returns whether the kernel has written records since the last wakeup, which explain this
    /// one.
    ///
    /// An event that hung up keeps the epoll readable, which is not noticed while others write. So
    /// new data is ignored once in [`REAP_EVERY`] wakeups.
    fn has_new_data(&mut self) -> bool {
        let heads = self.members.iter().fold(0_u64, |sum, member| sum.wrapping_add(member.ring.head()));
        let has_new = replace(&mut self.wakeups.heads, heads) != heads;
        self.wakeups.with_data = if has_new { (self.wakeups.with_data + 1) % REAP_EVERY } else { 0 };
        self.wakeups.with_data != 0
    }

    /// Finds the events that hung up or failed, and removes them from the epoll.
    ///
    /// Readable events are ignored, because the kernel reports a wakeup once, and an event loop
    /// around this epoll may have consumed it. New records are found by the rings' heads.
    fn reap_hung_up(&mut self) -> Result<()> {
        const SOME: usize = 32;
        loop {
            let mut buffer = [MaybeUninit::uninit(); SOME];
            // Does not block, so no signal interrupts it.
            let found = epoll::wait(&self.epoll, &mut buffer[..], Some(&Timespec::default()));
            let (found, _) = found.map_err(Error::of(Call::EpollWait))?;
            for event in &*found {
                let (flags, data) = (event.flags, event.data.u64());
                self.reap(data, flags)?;
            }
            if found.len() < SOME {
                return Ok(());
            }
        }
    }

    fn reap(&mut self, data: u64, found: epoll::EventFlags) -> Result<()> {
        let (error, hung_up) = (epoll::EventFlags::ERR, epoll::EventFlags::HUP);
        let end = WaitResult::new(false, found.contains(error), found.contains(hung_up));
        let (id, index) = Member::<K>::parse_data(data);
        match self.members.iter_mut().find(|member| member.id() == id) {
            Some(member) if end.is_final() => member.set_end(&self.epoll, index, end),
            _ => Ok(()),
        }
    }

    /// Returns `HungUp` or `Failed` if all rings have hung up or failed.
    pub(super) fn end_of_all(&self) -> Option<WaitResult> {
        WaitResult::of_all(self.members.iter().map(Member::end))
    }
}
