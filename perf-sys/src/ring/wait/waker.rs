use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use crate::error::{Call, Error, Result};

/// Ends waits from another thread or from a signal handler.
///
/// Pass it to [`Ring::wait_or_woken`](crate::Ring::wait_or_woken) or
/// [`RingSet::wait_or_woken`](crate::RingSet::wait_or_woken), and keep a clone for the code
/// that ends the wait. One waker serves any number of waits. A wake persists until
/// [`reset`](Self::reset), so that one just before the wait is not missed. Until then every wait
/// returns [`Woken`](crate::WaitResult::Woken) at once. Only a [`RingSet`](crate::RingSet)
/// without a ring, or whose events have all hung up, returns its end instead.
///
/// ```no_run
/// use perf_sys::{Waker, WaitResult, Ring};
///
/// fn read_until_stopped(ring: &mut Ring, stop: &Waker) -> perf_sys::Result<()> {
///     while ring.wait_or_woken(None, stop)? == WaitResult::Readable {
///         for record in ring.batch()?.records() {
///             println!("{record:?}");
///         }
///     }
///     Ok(())
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
    /// [`Error::System`] if no descriptor is left.
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
    /// [`Error::System`]; no errno is known that the kernel returns here.
    pub fn wake(&self) -> Result<()> {
        match rustix::io::write(&self.0, &1_u64.to_ne_bytes()) {
            // The eventfd's counter is at its limit, so it is readable.
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(errno) => Err(Error::of(Call::Write)(errno)),
        }
    }

    /// `read(fd)`—Removes the wake, and returns whether there was one.
    ///
    /// # Errors
    ///
    /// `Error::System`, as for [`wake`](Self::wake).
    pub fn reset(&self) -> Result<bool> {
        match rustix::io::read(&self.0, &mut [0; 8]) {
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

/// For tokio's `AsyncFd`, which needs it.
impl AsRawFd for Waker {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
