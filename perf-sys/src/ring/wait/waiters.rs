use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};

use crate::error::{Call, Error, Result};

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

/// The role of a thread in a wait. Dropping it ends the role.
#[derive(Debug)]
pub(in crate::ring) enum Turn<'w> {
    /// The thread polls the ring.
    Leader(#[expect(dead_code, reason = "dropped at the end of the wait")] Leader<'w>),
    /// The thread polls this descriptor and tries again when it is readable.
    Follower(Follower<'w>),
}

#[derive(Debug)]
pub(in crate::ring) struct Leader<'w>(&'w Waiters);

#[derive(Debug)]
pub(in crate::ring) struct Follower<'w> {
    waiters: &'w Waiters,
    tokens: Arc<OwnedFd>,
}

impl Waiters {
    /// Begins a wait.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the eventfd cannot be created.
    pub(in crate::ring) fn turn(&self) -> Result<Turn<'_>> {
        let mut state = self.state();
        if !state.has_leader {
            state.has_leader = true;
            return Ok(Turn::Leader(Leader(self)));
        }
        let tokens = if let Some(tokens) = &state.tokens {
            Arc::clone(tokens)
        } else {
            let flags = EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
            let tokens = Arc::new(eventfd(0, flags).map_err(Error::of(Call::Eventfd))?);
            Arc::clone(state.tokens.insert(tokens))
        };
        state.followers += 1;
        Ok(Turn::Follower(Follower { waiters: self, tokens }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Leader<'_> {
    /// Wakes all followers, one of which is the next leader if there is nothing to read.
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.has_leader = false;
        let followers = core::mem::take(&mut state.followers);
        if let Some(tokens) = state.tokens.as_ref().filter(|_| followers != 0) {
            // Fails only beyond 2^64 tokens.
            let written = rustix::io::write(tokens, &followers.to_ne_bytes());
            debug_assert!(written.is_ok(), "{written:?}");
        }
    }
}

impl AsFd for Follower<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tokens.as_fd()
    }
}

impl Drop for Follower<'_> {
    /// Reads the follower's token, or removes the follower from those that need one.
    fn drop(&mut self) {
        let mut state = self.waiters.state();
        if rustix::io::read(&self.tokens, &mut [0; 8]).is_err() {
            state.followers = state.followers.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_woken(turn: &Turn<'_>) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let Turn::Follower(follower) = turn else { panic!("{turn:?}") };
        poll(&mut [PollFd::new(follower, PollFlags::IN)], Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn first_thread_leads_and_wakes_the_others_when_its_wait_ends() {
        let waiters = Waiters::default();
        let leader = waiters.turn().unwrap();
        assert!(matches!(leader, Turn::Leader(_)));
        let followers = [waiters.turn().unwrap(), waiters.turn().unwrap()];
        assert!(!followers.iter().any(is_woken));
        drop(leader);
        for follower in followers {
            assert!(is_woken(&follower));
        }
        let leader = waiters.turn().unwrap();
        assert!(matches!(leader, Turn::Leader(_)));
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
}
