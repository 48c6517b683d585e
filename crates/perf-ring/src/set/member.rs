//! A ring in a set, and its registrations with epoll.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use perf_sys::{BorrowedEvent, Event};

use super::sorted::Lookahead;
use crate::error::{Refused, Result};
use crate::ring::{Ring, WaitResult};

/// A ring of a set.
#[derive(Debug)]
pub(super) struct Member<K> {
    pub(super) key: K,
    /// Never reused, so that a stale epoll event finds no other ring.
    id: u32,
    pub(super) ring: Ring,
    /// The hang-up or failure of each of the ring's events, in the order of [`Ring::events`].
    ends: Vec<Option<WaitResult>>,
    pub(super) lookahead: Lookahead,
}

impl<K> Member<K> {
    pub(super) fn new(key: K, id: u32, ring: Ring) -> Self {
        Self { key, id, ring, ends: Vec::new(), lookahead: Lookahead::default() }
    }

    /// Adds all events of the ring to the epoll.
    pub(super) fn watch_all(&mut self, epoll: &OwnedFd) -> Result<()> {
        for event in self.ring.events().skip(self.ends.len()) {
            if self.ring.is_in_memory {
                self.ends.push(Some(WaitResult::HungUp));
                continue;
            }
            let data = u64::from(self.id) << 32 | self.ends.len() as u64;
            BorrowedEvent::from(&**event).add_to_epoll(epoll, data)?;
            self.ends.push(None);
        }
        self.ring.set_pending_wakeup(); // EPOLL_CTL_ADD polls the event
        Ok(())
    }

    /// Removes all events from the epoll that are in it.
    pub(super) fn unwatch_all(&mut self, epoll: &OwnedFd) {
        for (event, end) in self.ring.events().zip(self.ends.drain(..)) {
            if end.is_none() {
                let removed = BorrowedEvent::from(&**event).remove_from_epoll(epoll);
                debug_assert_eq!(removed, Ok(()), "the descriptor was added and is open");
            }
        }
    }

    pub(super) fn redirect(&mut self, epoll: &OwnedFd, event: Arc<Event>) -> Result<(), Refused<Arc<Event>>> {
        self.ring.redirect(event)?;
        let Err(error) = self.watch_all(epoll) else {
            self.lookahead = Lookahead::default(); // its table of events is too short
            return Ok(());
        };
        match self.ring.undo_redirect() {
            Some(event) => Err(Refused { error, value: event }),
            None => Ok(()),
        }
    }

    /// Returns the id and the event's index in the data of an epoll event.
    pub(super) const fn parse_data(data: u64) -> (u32, usize) {
        ((data >> 32) as u32, data as u32 as usize)
    }

    pub(super) const fn id(&self) -> u32 {
        self.id
    }

    /// Stores that the event `index` hung up or failed, and removes it from the epoll, which would
    /// stay readable otherwise.
    pub(super) fn set_end(&mut self, epoll: &OwnedFd, index: usize, end: WaitResult) -> Result<()> {
        let (Some(slot), Some(event)) = (self.ends.get_mut(index), self.ring.events().nth(index)) else {
            return Ok(());
        };
        if slot.replace(end).is_some() {
            return Ok(());
        }
        Ok(BorrowedEvent::from(&**event).remove_from_epoll(epoll)?)
    }

    /// Returns the hang-up or failure of the ring, `None` while an event can still write into it.
    pub(super) fn end(&self) -> Option<WaitResult> {
        WaitResult::of_all(self.ends.iter().copied())
    }
}
