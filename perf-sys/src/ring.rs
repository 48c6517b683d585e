use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::Arc;

use perf_decode::Scratch;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use crate::map::{Area, Consumer, pages_for};
use crate::wait::{Deadline, poll};
use crate::{Batch, Canceller, Error, Event, MapError, Readiness, Result};

/// An event with its ring: the records that the kernel writes, and the right to give them back.
///
/// Holding one proves that nobody else reads this ring: it owns the [`Event`] and the mapping, and the
/// kernel made the ring for this event.
/// Other events may send their records here, by [`Event::set_output`]: then find each record's event by
/// its id, with [`Layouts`](perf_decode::Layouts).
///
/// A full ring loses what comes: the kernel drops new records, never unread ones, and says so in a
/// [`Lost`](perf_decode::Lost) record before the next that fits.
///
/// The mapping is not inherited across `fork`: see [`Error::Forked`].
#[derive(Debug)]
pub struct Ring {
    // Before the event: unmapped first, closed second, so that closing ends the event.
    consumer: Consumer,
    event: Arc<Event>,
    scratch: Box<Scratch>,
    /// Whether the kernel may have called for records that are there without a wait having told.
    untold: AtomicBool,
}

impl Ring {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Gives `event` a
    /// ring of `data_pages` pages.
    ///
    /// A [`WRITE_BACKWARD`] event is refused: it is for rings that the kernel overwrites while they are
    /// read, and records borrowed from this ring must stay as they are.
    ///
    /// # Errors
    ///
    /// [`Error::PageCount`] unless `data_pages` is a power of two, [`Error::WriteBackward`],
    /// [`Error::DataArea`] if the kernel's page is not to be believed, and [`Error::System`]: above all
    /// `EPERM`, more memory than the user may lock, `EINVAL`, an inherited event on any CPU, and `EBUSY`,
    /// an event whose records go to another's ring.
    ///
    /// [`WRITE_BACKWARD`]: perf_abi::AttrFlags::WRITE_BACKWARD
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "MMAP layout".
    ///
    /// All of these return the event with the error, so that a smaller ring is one line:
    ///
    /// ```no_run
    /// # use perf_sys::{Event, MapError, Ring};
    /// # fn map(event: Event) -> Result<Ring, MapError> {
    /// let ring = Ring::map(event, 512).or_else(|refused| Ring::map(refused.event, 64))?;
    /// # Ok(ring)
    /// # }
    /// ```
    #[doc(alias = "mmap")]
    pub fn map(event: impl Into<Arc<Event>>, data_pages: usize) -> Result<Self, MapError> {
        let event = event.into();
        match map(&event, data_pages) {
            Ok(consumer) => {
                Ok(Self { consumer, event, scratch: Box::default(), untold: AtomicBool::new(false) })
            }
            Err(error) => Err(MapError { error, event }),
        }
    }

    /// Maps a ring of at least `bytes` bytes of data: rounded up to a power of two of pages.
    ///
    /// # Errors
    ///
    /// As [`map`](Self::map).
    pub fn map_bytes(event: impl Into<Arc<Event>>, bytes: usize) -> Result<Self, MapError> {
        Self::map(event, pages_for(bytes))
    }

    /// The event whose ring this is.
    ///
    /// Clone the [`Arc`] to use the event while a batch borrows the ring, or in another thread.
    pub const fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Whether there is a record that no batch has visited: one look at the page, no system call.
    pub fn has_records(&self) -> bool {
        self.consumer.has_unread()
    }

    /// Returns [`Error::Forked`] in a child of `fork`.
    pub(crate) fn check_here(&self) -> Result<()> {
        self.consumer.check_here()
    }

    /// How far the kernel has written.
    pub(crate) fn head(&self) -> u64 {
        self.consumer.load_head()
    }

    /// Notes that somebody polled the event and told nobody. The kernel calls once, for what was there.
    pub(crate) fn polled_untold(&self) {
        if self.has_records() {
            self.untold.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a wait must not sleep, for there are records and perhaps no call for them to come: once for
    /// a call that was not told, and always from half the ring, as a full one makes no call any more.
    pub(crate) fn is_due(&self) -> bool {
        let untold = self.untold.swap(false, Ordering::Relaxed);
        untold && self.has_records() || self.consumer.is_half_full()
    }

    /// What the kernel has written since the last batch, up to now.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`] if the control page was damaged: no record can be found any more.
    pub fn batch(&mut self) -> Result<Batch<'_>> {
        Batch::new(&mut self.consumer, &mut self.scratch)
    }

    /// `ppoll(fd, POLLIN, timeout)`—Waits until the kernel calls, at most as long as `timeout`, to the
    /// nanosecond; `None` is for ever. A signal does not end it.
    ///
    /// The kernel calls when as much has come as the attr's watermark or number of wakeup events says,
    /// and at half the ring if it says nothing. What lies below makes no call, however long it lies: use
    /// a timeout, and look at [`batch`](Self::batch) after one. A ring left half full or more is readable.
    ///
    /// # Errors
    ///
    /// [`Error::System`], if the kernel has no memory for it.
    ///
    /// # References
    ///
    /// `poll(2)`, `perf_event_open(2)`, "Overflow handling".
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Readiness> {
        self.wait_until(None, Deadline::after(timeout))
    }

    /// As [`wait`](Self::wait), until `cancel` is used.
    ///
    /// # Errors
    ///
    /// As [`wait`](Self::wait).
    pub fn wait_or_cancelled(&self, timeout: Option<Duration>, cancel: &Canceller) -> Result<Readiness> {
        self.wait_until(Some(cancel), Deadline::after(timeout))
    }

    fn wait_until(&self, cancel: Option<&Canceller>, deadline: Deadline) -> Result<Readiness> {
        self.check_here()?;
        loop {
            let is_due = self.is_due();
            let found = poll(self.as_fd(), cancel, deadline.or_now(is_due))?;
            if found == Readiness::Cancelled {
                self.polled_untold();
            }
            return Ok(match (found, self.has_records()) {
                (Readiness::TimedOut, true) if is_due => Readiness::Readable,
                // Called for what a batch has visited since. The call is over now: wait for the next.
                (Readiness::Readable, false) => continue,
                // A hang-up comes alone, even while records are left. None come after it.
                (Readiness::HungUp | Readiness::Failed, true) => Readiness::Readable,
                (found, _) => found,
            });
        }
    }

    /// The control page for the reader of an AUX area, and where that can begin; `None` while there is
    /// one already.
    pub(crate) fn share_page(&mut self) -> Option<(Arc<Area>, usize)> {
        Some((self.consumer.share()?, self.consumer.end()))
    }
}

fn map(event: &Arc<Event>, data_pages: usize) -> Result<Consumer> {
    if !data_pages.is_power_of_two() {
        return Err(Error::PageCount { found: data_pages });
    }
    if event.writes_backward() {
        return Err(Error::WriteBackward);
    }
    Consumer::new(Arc::new(Area::map(event.as_fd(), data_pages, event.claim_ring()?)?))
}

/// For an event loop of one's own. The kernel's hang-up comes while records are still there.
impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// For tokio's `AsyncFd`, which asks for it.
impl AsRawFd for Ring {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// A ring may move to the thread that reads it.
const _: () = {
    const fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Ring>();
};
