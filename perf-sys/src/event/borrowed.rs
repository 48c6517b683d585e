//! A borrowed event, whose descriptor stays in this process, and its epoll and poll.

use core::fmt;

use rustix::event::{PollFd, PollFlags, epoll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use super::Event;
use crate::error::{Call, Error, Result};

/// An event, or the descriptor of one that was opened elsewhere, for calls that take one.
///
/// An [`Event`] has the number of its descriptor ([`AsRawFd`]), but not [`AsFd`], from which safe
/// code makes a duplicate that it hands to another process. This could map the event's ring and
/// move `data_tail`, and the kernel would overwrite records that are borrowed here. For a call that
/// takes a [`BorrowedFd`], make one by the unsafe [`borrow_raw`](BorrowedFd::borrow_raw), and hand
/// no duplicate to another process while records are borrowed.
#[derive(Clone, Copy)]
pub struct BorrowedEvent<'fd>(BorrowedFd<'fd>);

impl BorrowedEvent<'_> {
    /// `epoll_ctl(epoll, EPOLL_CTL_ADD, fd, { EPOLLIN, data })`—Adds the event to an epoll
    /// instance.
    ///
    /// # Errors
    ///
    /// [`Error::System`] with the errno.
    pub fn add_to_epoll(self, epoll: impl AsFd, data: u64) -> Result<()> {
        epoll::add(epoll, self.0, epoll::EventData::new_u64(data), epoll::EventFlags::IN)
            .map_err(Error::of(Call::EpollCtl))
    }

    /// `epoll_ctl(epoll, EPOLL_CTL_DEL, fd)`—Removes the event from an epoll instance.
    ///
    /// # Errors
    ///
    /// [`Error::System`] with the errno.
    pub fn remove_from_epoll(self, epoll: impl AsFd) -> Result<()> {
        epoll::delete(epoll, self.0).map_err(Error::of(Call::EpollCtl))
    }
}

impl<'fd> From<&'fd Event> for BorrowedEvent<'fd> {
    fn from(event: &'fd Event) -> Self {
        Self(event.fd())
    }
}

/// A descriptor that was opened elsewhere.
impl<'fd> From<BorrowedFd<'fd>> for BorrowedEvent<'fd> {
    fn from(fd: BorrowedFd<'fd>) -> Self {
        Self(fd)
    }
}

impl AsRawFd for BorrowedEvent<'_> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl fmt::Debug for BorrowedEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BorrowedEvent").field(&self.as_raw_fd()).finish()
    }
}

/// A borrowed event, or another descriptor, with what [`poll`](super::poll) is to find and has
/// found.
#[derive(Debug)]
#[repr(transparent)]
pub struct Polled<'fd>(PollFd<'fd>);

impl<'fd> Polled<'fd> {
    /// Returns a request for `POLLIN`.
    pub fn new(event: impl Into<BorrowedEvent<'fd>>) -> Self {
        Self(PollFd::from_borrowed_fd(event.into().0, PollFlags::IN))
    }

    /// Returns a request for nothing but the end of the event: `POLLHUP` or `POLLERR`, which are
    /// reported in any case.
    pub fn for_end(event: impl Into<BorrowedEvent<'fd>>) -> Self {
        Self(PollFd::from_borrowed_fd(event.into().0, PollFlags::empty()))
    }

    /// Returns what the last [`poll`](super::poll) has found.
    pub fn revents(&self) -> PollFlags {
        self.0.revents()
    }
}
