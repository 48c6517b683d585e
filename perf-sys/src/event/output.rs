//! The destinations of an event's records: its own ring, or another one.

use alloc::sync::Arc;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use super::Event;
use super::syscall::sched_yield;

/// Destination of an event's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Destination {
    /// None, until the event has a ring.
    None,
    /// The event's own ring, which is mapped or being mapped.
    Own,
    /// The ring of another event.
    Redirected,
}

/// The destination of an event's records under a lock, which is held for one ioctl at most, and the
/// way in which its ring is read.
///
/// A lock of std would need std.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// A [`Destination`], or [`LOCKED`].
    state: AtomicU8,
    /// Set if the records of the event's ring are never lent. Never cleared, so that no later
    /// mapping lends records while an event that was redirected meanwhile writes them.
    is_copied: AtomicBool,
}

const LOCKED: u8 = u8::MAX;

impl Output {
    /// Waits for other changes and locks the destination. In a child of `fork` a thread that only
    /// the parent has may hold the lock.
    pub(super) fn lock(&self) -> Locked<'_> {
        loop {
            // Acquire pairs with the release of the unlock, so that the changes of two threads are
            // ordered.
            match self.state.swap(LOCKED, Ordering::Acquire) {
                LOCKED => sched_yield(),
                state => return Locked { state: &self.state, destination: Destination::from_state(state) },
            }
        }
    }

    pub(super) fn is_copied(&self) -> bool {
        self.is_copied.load(Ordering::Acquire)
    }

    pub(super) fn set_copied(&self) {
        self.is_copied.store(true, Ordering::Release);
    }
}

impl Destination {
    const fn from_state(state: u8) -> Self {
        match state {
            0 => Self::None,
            1 => Self::Own,
            _ => Self::Redirected,
        }
    }
}

/// The locked destination of an event's records. Dropping it stores the destination and unlocks.
pub(super) struct Locked<'o> {
    state: &'o AtomicU8,
    destination: Destination,
}

impl Deref for Locked<'_> {
    type Target = Destination;

    fn deref(&self) -> &Destination {
        &self.destination
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Destination {
        &mut self.destination
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.state.store(self.destination as u8, Ordering::Release);
    }
}

/// The right to map the ring of an event. Holding one proves that no other mapping of the ring has
/// a reader.
#[derive(Debug)]
pub(crate) struct RingClaim(Arc<Event>);

impl RingClaim {
    pub(super) const fn new(event: Arc<Event>) -> Self {
        Self(event)
    }

    pub(crate) const fn event(&self) -> &Arc<Event> {
        &self.0
    }
}

impl Drop for RingClaim {
    fn drop(&mut self) {
        // In a child of fork the lock may be held by a thread that only the parent has.
        if self.0.check_here().is_ok() {
            *self.0.output.lock() = Destination::None;
        }
    }
}
