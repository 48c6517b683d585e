use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use crate::map::{Area, Consumer, pages_for};
use crate::reader::Reader;
use crate::wait::Waiters;
use crate::{Batch, Damage, Error, Event, MapError, Result};

mod cursor;
mod wait;

/// An event with its ring: the records that the kernel writes, and the right to release them.
///
/// Holding one proves that it is the ring's only reader: the kernel made the ring for the [`Event`],
/// which remembers that it is mapped. Other events may write into it, by [`redirect`](Self::redirect):
/// then find each record's event by its id, with [`Layouts`](perf_decode::Layouts).
///
/// A full ring loses new records: the kernel drops them, never unread ones, and reports the number in a
/// [`Lost`](perf_decode::Lost) record before the next one that fits.
///
/// There are three ways to read: a guard over all unread records, [`batch`](Self::batch); a cursor whose
/// state is in the ring, [`next`](Self::next); a copy of the unread records,
/// [`copy_into`](Self::copy_into).
///
/// The mapping is not inherited across `fork`: see [`Error::Forked`].
#[derive(Debug)]
pub struct Ring {
    // Before the events: unmapped first, closed second, so that closing ends the event.
    pub(crate) reader: Reader,
    pub(crate) event: Arc<Event>,
    pub(crate) redirected: Vec<Arc<Event>>,
    /// Set when a poll consumed the kernel's wakeup, until the reader looks at the ring.
    pending_wakeup: AtomicBool,
    /// Whether the unread records as of the last look are kept for a later round on purpose.
    pub(crate) is_kept: bool,
    waiters: Waiters,
}

impl Ring {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps a ring of
    /// `data_pages` pages for `event`.
    ///
    /// A [`WRITE_BACKWARD`] event is refused, because the kernel overwrites such a ring while it is read;
    /// it is for a [`SnapshotRing`](crate::SnapshotRing).
    ///
    /// # Errors
    ///
    /// [`Error::PageCount`] unless `data_pages` is a power of two, [`Error::WriteBackward`],
    /// [`Error::RingInUse`], [`Error::DataArea`] if the control page is malformed, and
    /// [`Error::System`]: `EPERM` if it is more memory than the user may lock, `EINVAL` for an inherited
    /// event on any CPU, and `EBUSY` for an event whose records go to another's ring.
    ///
    /// [`WRITE_BACKWARD`]: perf_abi::AttrFlags::WRITE_BACKWARD
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
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "MMAP layout".
    #[doc(alias = "mmap")]
    pub fn map(event: impl Into<Arc<Event>>, data_pages: usize) -> Result<Self, MapError> {
        let event = event.into();
        match map(&event, data_pages) {
            Ok(consumer) => Ok(Self::new(consumer, event)),
            Err(error) => Err(MapError { error, event }),
        }
    }

    /// Maps a ring of at least `bytes` bytes of data, rounded up to a power of two of pages.
    ///
    /// # Errors
    ///
    /// As [`map`](Self::map).
    pub fn map_bytes(event: impl Into<Arc<Event>>, bytes: usize) -> Result<Self, MapError> {
        Self::map(event, pages_for(bytes))
    }

    /// `ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring)`—Makes `event` write its records into this ring.
    ///
    /// The ring keeps the event open and watches it in its waits: it hangs up only when all events that
    /// write into it have. An event that is redirected by [`Event::set_output`] is not watched.
    ///
    /// # Errors
    ///
    /// Those of [`Event::set_output`], with the event.
    pub fn redirect(&mut self, event: impl Into<Arc<Event>>) -> Result<(), MapError> {
        let event = event.into();
        match event.set_output(Some(&self.event)) {
            Ok(()) => {
                self.redirected.push(event);
                Ok(())
            }
            Err(error) => Err(MapError { error, event }),
        }
    }

    /// Takes the event that was redirected last out of the ring again.
    pub(crate) fn undo_redirect(&mut self) -> Option<Arc<Event>> {
        let event = self.redirected.pop()?;
        let undone = event.set_output(None);
        debug_assert!(undone.is_ok(), "{undone:?}");
        Some(event)
    }

    /// Returns the event whose ring this is.
    ///
    /// Clone the [`Arc`] to use the event while records are read, or in another thread.
    pub const fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Returns the events that were [redirected](Self::redirect) into this ring.
    pub fn redirected(&self) -> &[Arc<Event>] {
        &self.redirected
    }

    /// Returns all events that write into this ring: its own, then the redirected ones.
    pub fn events(&self) -> impl Iterator<Item = &Arc<Event>> {
        core::iter::once(&self.event).chain(&self.redirected)
    }

    /// Returns whether the kernel has written records that were not consumed: one look at the control
    /// page, no system call.
    pub fn has_records(&self) -> bool {
        self.reader.consumer.has_unread()
    }

    /// Returns [`Error::Forked`] in a child of `fork`.
    pub(crate) fn check_here(&self) -> Result<()> {
        self.reader.consumer.check_here()
    }

    /// Returns whether there are records beside those that are kept for a later round.
    pub(crate) fn has_new_records(&self) -> bool {
        let consumer = &self.reader.consumer;
        if self.is_kept { consumer.load_head() != consumer.head() } else { consumer.has_unread() }
    }

    /// Returns the kernel's position.
    pub(crate) fn head(&self) -> u64 {
        self.reader.consumer.load_head()
    }

    /// Returns a guard over what the kernel has written and was not consumed.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`] if the control page is damaged: no record can be found any more.
    pub fn batch(&mut self) -> Result<Batch<'_>> {
        self.look()?;
        Ok(Batch::new(&mut self.reader))
    }

    /// Returns what was skipped in this ring because it was no record, since the ring was mapped.
    pub const fn damage(&self) -> Damage {
        self.reader.damage
    }

    /// Makes a ring of an area that no kernel writes, with an event that is none.
    #[cfg(test)]
    pub(crate) fn on(area: Arc<Area>, attr: perf_abi::Attr) -> Self {
        let fd = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        Self::new(Consumer::new(area).unwrap(), Arc::new(Event::new(fd, attr)))
    }

    fn new(consumer: Consumer, event: Arc<Event>) -> Self {
        Self {
            reader: Reader::new(consumer),
            event,
            redirected: Vec::new(),
            pending_wakeup: AtomicBool::new(false),
            is_kept: false,
            waiters: Waiters::default(),
        }
    }

    /// Looks how far the kernel has written.
    pub(crate) fn look(&mut self) -> Result<()> {
        // Before the load: a wakeup for records after it must stay pending.
        self.pending_wakeup.store(false, Ordering::Relaxed);
        self.is_kept = false;
        self.reader.consumer.refresh()
    }

    /// Returns the control page for the reader of an AUX area, and the first offset of that; `None`
    /// while there is one already.
    pub(crate) fn share_page(&mut self) -> Option<(Arc<Area>, usize)> {
        let consumer = &mut self.reader.consumer;
        Some((consumer.share()?, consumer.end()))
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

/// For an event loop. The kernel reports the hang-up of the ring's own event while records are still
/// unread; redirected events have descriptors of their own.
impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// For tokio's `AsyncFd`, which needs it.
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

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::ring_on_pipe;
