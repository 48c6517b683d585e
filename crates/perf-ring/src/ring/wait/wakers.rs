//! The two uses of an eventfd: to end waits, and to share one poll among threads.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, retry_on_intr};

use crate::Call;
use crate::error::{Error, Result};

/// Ends waits from another thread or from a signal handler: a wake is one `write(2)`, which a
/// handler may make, and a clone in a `static` `OnceLock` is where it finds the waker.
///
/// Pass it to [`Ring::wait_or_woken`](crate::Ring::wait_or_woken) or
/// [`RingSet::wait_or_woken`](crate::RingSet::wait_or_woken), and keep a clone for the code
/// that ends the wait. One waker serves any number of waits. A wake persists until
/// [`reset`](Self::reset), so that one just before the wait is not missed. Until then every wait
/// returns [`Woken`](crate::WaitResult::Woken) at once. Only a [`RingSet`](crate::RingSet)
/// without a ring, or whose events have all hung up, returns its end instead.
///
/// ```no_run
/// use perf_ring::{Waker, WaitResult, Ring};
///
/// fn read_until_stopped(ring: &mut Ring, stop: &Waker) -> perf_ring::Result<()> {
///     loop {
///         let found = ring.wait_or_woken(None, stop)?;
///         // After the wake, too: there are records below the watermark.
///         for record in ring.batch()?.records() {
///             println!("{record:?}");
///         }
///         if found == WaitResult::Woken || found.is_final() {
///             return Ok(());
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[doc(alias = "eventfd")]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// `eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)`—Creates a waker that is not woken.
    ///
    /// # Errors
    ///
    /// [`System`](perf_sys::Error::System) if no descriptor is left.
    ///
    /// # References
    ///
    /// `eventfd(2)`.
    pub fn new() -> Result<Self> {
        let fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
        Ok(Self(Arc::new(fd.map_err(Error::of(Call::Eventfd))?)))
    }

    /// `write(fd, 1)`—Ends the current waits and all later ones.
    ///
    /// # Errors
    ///
    /// [`System`](perf_sys::Error::System); no errno is known that the kernel returns here.
    pub fn wake(&self) -> Result<()> {
        match retry_on_intr(|| rustix::io::write(&self.0, &1_u64.to_ne_bytes())) {
            // The eventfd's counter is at its limit, so it is readable.
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(errno) => Err(Error::of(Call::Write)(errno)),
        }
    }

    /// `read(fd)`—Removes the wake, and returns whether there was one.
    ///
    /// # Errors
    ///
    /// `System`, as for [`wake`](Self::wake).
    pub fn reset(&self) -> Result<bool> {
        match retry_on_intr(|| rustix::io::read(&self.0, &mut [0_u8; 8])) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN) => Ok(false),
            Err(errno) => Err(Error::of(Call::Read)(errno)),
        }
    }
}

/// The eventfd, for an event loop. It is readable from the wake to the reset.
impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Required by tokio's `AsyncFd`.
impl AsRawFd for Waker {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The threads that wait for one ring.
///
/// The kernel reports a wakeup to the first poll only; the other polls of the ring keep sleeping.
/// So one thread, the leader, polls the ring, and the others, the followers, poll an eventfd that
/// the leader writes when its wait ends. The eventfd is created when two threads first wait at the
/// same time.
#[derive(Debug, Default)]
pub(in crate::ring) struct Waiters(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    has_leader: bool,
    /// Followers that the eventfd has no token for yet.
    followers: u64,
    /// An eventfd used as a semaphore. Each token wakes one follower.
    tokens: Option<Arc<OwnedFd>>,
}

/// The turn of a thread in a wait. Dropping it ends the turn.
#[derive(Debug)]
pub(in crate::ring) struct Turn<'w> {
    waiters: &'w Waiters,
    /// `None` for the leader, which polls the ring. A follower polls this eventfd, and tries again
    /// when it is readable.
    pub(in crate::ring) tokens: Option<Arc<OwnedFd>>,
}

impl Waiters {
    /// Begins a wait.
    ///
    /// # Errors
    ///
    /// [`System`](perf_sys::Error::System) if the eventfd cannot be created.
    pub(in crate::ring) fn turn(&self) -> Result<Turn<'_>> {
        let mut state = self.state();
        if !state.has_leader {
            state.has_leader = true;
            return Ok(Turn { waiters: self, tokens: None });
        }
        let tokens = if let Some(tokens) = &state.tokens {
            Arc::clone(tokens)
        } else {
            let flags = EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
            let tokens = Arc::new(eventfd(0, flags).map_err(Error::of(Call::Eventfd))?);
            Arc::clone(state.tokens.insert(tokens))
        };
        state.followers += 1;
        Ok(Turn { waiters: self, tokens: Some(tokens) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.waiters.state();
        if let Some(tokens) = &self.tokens {
            // Takes the follower's token, or removes it from those that need one.
            if rustix::io::read(tokens, &mut [0; 8]).is_err() {
                state.followers = state.followers.saturating_sub(1);
            }
            return;
        }
        // Wake all followers: one becomes the next leader if the ring is empty.
        state.has_leader = false;
        let followers = core::mem::take(&mut state.followers);
        if let Some(tokens) = state.tokens.as_ref().filter(|_| followers != 0) {
            // Fails only beyond 2^64 tokens.
            let written = rustix::io::write(tokens, &followers.to_ne_bytes());
            debug_assert!(written.is_ok(), "{written:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_woken(turn: &Turn<'_>) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let tokens = turn.tokens.as_ref().unwrap();
        poll(&mut [PollFd::new(tokens, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn first_thread_leads_and_wakes_the_others_when_its_wait_ends() {
        let waiters = Waiters::default();
        let leader = waiters.turn().unwrap();
        assert!(leader.tokens.is_none());
        let followers = [waiters.turn().unwrap(), waiters.turn().unwrap()];
        assert!(!followers.iter().any(is_woken));
        drop(leader);
        for follower in followers {
            assert!(is_woken(&follower));
        }
        let leader = waiters.turn().unwrap();
        assert!(leader.tokens.is_none());
        assert!(!is_woken(&waiters.turn().unwrap()), "all tokens were taken");
    }

    #[test]
    fn follower_that_leaves_early_takes_no_token_from_another() {
        let waiters = Waiters::default();
        let leader = waiters.turn().unwrap();
        let (early, late) = (waiters.turn().unwrap(), waiters.turn().unwrap());
        drop(early);
        drop(leader);
        assert!(is_woken(&late));
        drop(late);
        assert_eq!(waiters.state().followers, 0);
    }

    #[test]
    fn clones_share_one_descriptor() {
        let waker = Waker::new().unwrap();
        assert_eq!(waker.as_raw_fd(), waker.as_fd().as_raw_fd());
        assert_eq!(waker.as_raw_fd(), waker.clone().as_raw_fd());
    }

    #[test]
    fn one_reset_removes_many_cancellations() {
        let waker = Waker::new().unwrap();
        assert_eq!(waker.reset(), Ok(false));
        waker.wake().unwrap();
        waker.clone().wake().unwrap();
        assert_eq!(waker.reset(), Ok(true));
        assert_eq!(waker.reset(), Ok(false));
    }
}
