//! Rings: mapping, reading and waiting.

use core::sync::atomic::{AtomicBool, Ordering};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use perf_decode::{RawRecord, Window};
use perf_sys::{DataRing, Event, page_size};

use crate::count::Count;
use crate::error::{Refused, Result};

mod aux;
#[cfg(any(test, feature = "testing"))]
mod memory;
mod read;
mod snapshot;
mod wait;

pub use aux::{AuxArea, AuxSnapshot};
pub(crate) use read::Reader;
pub use read::{Batch, BatchRecords, SkippedBytes};
pub use snapshot::{Snapshot, SnapshotRing};
use wait::Waiters;
pub(crate) use wait::{Deadline, poll};
pub use wait::{WaitResult, Waker, poll_readable};

/// An event with its mapped ring, and the right to read and release its records.
///
/// Holding one proves that it is the ring's only reader, because the [`Event`] stores whether its
/// ring is mapped. Other events may be [redirected](Self::redirect) into it. Then find the layout
/// of each record by its id, with [`Layouts`](perf_decode::Layouts).
///
/// If the ring is full, the kernel drops new records, never unread ones, and reports their number
/// in a [`Lost`](perf_decode::Lost) record before the next one that fits.
///
/// Records are borrowed from the ring, except if an event writes into it that
/// [may overwrite records](Event::may_overwrite_records): a software event other than the clocks
/// that samples registers (kernel errata, "Samples shorter than their registers"). The records of
/// such a ring are copied once when the head is loaded, and borrowed from the copy, which the
/// kernel cannot change.
///
/// There is one way to read all unread records, [`batch`](Self::batch), one that returns a record
/// from a function, [`next_record`](Self::next_record), and one that copies,
/// [`copy_into`](Self::copy_into).
///
/// The mapping is not inherited across `fork`; see [`sys::Error::Forked`](perf_sys::Error::Forked).
#[derive(Debug)]
pub struct Ring {
    // Dropped before the events, because closing the descriptor ends an event only if its ring is
    // not mapped.
    pub(crate) reader: Reader,
    pub(crate) event: Arc<Event>,
    pub(crate) redirected: Vec<Arc<Event>>,
    /// Set when a poll consumed the kernel's wakeup, until the reader loads the head.
    pending_wakeup: AtomicBool,
    /// Set if the unread records, as of the last load of the head, are kept for a later round.
    pub(crate) is_kept: bool,
    /// Set for [`in_memory`](Self::in_memory): no event writes into the ring.
    pub(crate) is_in_memory: bool,
    waiters: Waiters,
}

impl Ring {
    /// A size in bytes that fits most samplers: 512 KiB, what `perf record` maps for each CPU, and
    /// what `perf_event_mlock_kb` permits users by default for each CPU (516 KiB with the control
    /// page).
    ///
    /// Measured with 4000 samples a second of 115 bytes on each of two busy CPUs, read by
    /// [`RingSet::drain_sorted`](crate::RingSet::drain_sorted) every 100 ms: rings of 64 KiB lost
    /// 0.8 % of the samples, rings of 128 KiB none. So this size has a reserve of four times at
    /// that rate. Samples with copies of the stack need more: the formula is at `drain_sorted`.
    pub const DEFAULT_BYTES: usize = 512 << 10;

    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps a ring
    /// of `data_pages` pages for `event`.
    ///
    /// A [`WRITE_BACKWARD`] event is refused, because the kernel overwrites such a ring while it is
    /// read. Use a [`SnapshotRing`](crate::SnapshotRing) for it.
    ///
    /// # Errors
    ///
    /// The errors of [`DataRing::map`]: unless `data_pages` is a power of two, if the event has
    /// another ring, and `EPERM` if it is more memory than the user may lock, `EINVAL` for an
    /// inherited event on any CPU (open one for each CPU), and `EBUSY` for an event whose records
    /// are redirected.
    ///
    /// [`WRITE_BACKWARD`]: perf_abi::AttrFlags::WRITE_BACKWARD
    ///
    /// All of these return the event with the error, so that a smaller ring is one line:
    ///
    /// ```no_run
    /// # use perf_ring::{Event, Refused, Ring};
    /// # fn map(event: Event) -> Result<Ring, Refused<std::sync::Arc<Event>>> {
    /// let ring = Ring::map(event, 512).or_else(|refused| Ring::map(refused.value, 64))?;
    /// # Ok(ring)
    /// # }
    /// ```
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "MMAP layout".
    #[doc(alias = "mmap")]
    pub fn map(event: impl Into<Arc<Event>>, data_pages: usize) -> Result<Self, Refused<Arc<Event>>> {
        let (event, ring) = Refused::keep(event.into(), |event| DataRing::map(event, data_pages))?;
        Ok(Self::new(ring, event))
    }

    /// Maps a ring of at least `bytes` bytes of data, rounded up to a power of two of pages.
    /// [`DEFAULT_BYTES`](Self::DEFAULT_BYTES) fits most samplers.
    ///
    /// # Errors
    ///
    /// The errors of [`map`](Self::map).
    pub fn map_bytes(event: impl Into<Arc<Event>>, bytes: usize) -> Result<Self, Refused<Arc<Event>>> {
        Self::map(event, pages_for(bytes))
    }

    /// `ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring)`—Redirects the records of `event` into this
    /// ring.
    ///
    /// The ring keeps the event open and watches it in its waits. It hangs up when all events that
    /// write into it have hung up. An event that is redirected by [`Event::set_output`] is not
    /// The ring keeps the event open and watches it in its waits. It hangs up when all events that
    /// write into it have hung up. An event that is redirected by [`Event::set_output`] is not
    /// watched.
    ///
    /// An event that [may overwrite records](Event::may_overwrite_records) makes the ring copy its
    /// records, until the ring is dropped.
    ///
    /// # Errors
    ///
    /// The errors of [`Event::set_output`], with the event.
    pub fn redirect(&mut self, event: impl Into<Arc<Event>>) -> Result<(), Refused<Arc<Event>>> {
        let event = event.into();
        if event.may_overwrite_records() {
            self.reader.copy_only();
        }
        let (event, ()) = Refused::keep(event, |event| event.set_output(Some(&self.event)))?;
        self.redirected.push(event);
        Ok(())
    }

    /// Undoes the last redirection, and returns its event.
    pub(crate) fn undo_redirect(&mut self) -> Option<Arc<Event>> {
        let event = self.redirected.pop()?;
        let undone = event.set_output(None);
        // A 32-bit program cannot detach an event on a 64-bit kernel, so that it stays redirected.
        debug_assert!(undone.is_ok() || cfg!(target_pointer_width = "32"), "{undone:?}");
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

    /// Returns all events that write into this ring, first its own, then the redirected ones.
    pub fn events(&self) -> impl Iterator<Item = &Arc<Event>> {
        core::iter::once(&self.event).chain(&self.redirected)
    }

    /// Returns the size of the data area in bytes, a power of two. At most 8 bytes less can be
    /// unread at a time, so the kernel always drops a larger record.
    ///
    /// It is more than was asked of [`map_bytes`](Self::map_bytes) if that was rounded up.
    pub const fn data_size(&self) -> usize {
        self.reader.data_size()
    }

    /// Returns whether there are unread records, by one load from the control page and without a
    /// system call.
    pub fn has_records(&self) -> bool {
        self.reader.has_unread()
    }

    /// Returns [`Forked`](perf_sys::Error::Forked) in a child of `fork`.
    fn check_here(&self) -> Result<()> {
        self.reader.check_here()
    }

    /// Returns whether there are unread records other than those that are kept for a later round.
    pub(crate) fn has_new_records(&self) -> bool {
        let reader = &self.reader;
        if self.is_kept { reader.load_head() != reader.head() } else { reader.has_unread() }
    }

    /// Loads the kernel's position.
    pub(crate) fn head(&self) -> u64 {
        self.reader.load_head()
    }

    /// Returns a guard over the unread records.
    ///
    /// # Errors
    ///
    /// [`Positions`](perf_sys::Error::Positions) if the control page is damaged, so that no record
    /// can be found.
    pub fn batch(&mut self) -> Result<Batch<'_>> {
        self.look()?;
        Ok(Batch::new(&mut self.reader))
    }

    /// `read(fd, buf, len)` of each event—Returns the number of samples that the kernel has dropped
    /// because this ring was full, summed over all events that write into it. It includes the
    /// losses after the last record, which no [`Lost`](perf_decode::Lost) record reports yet.
    ///
    /// `None` unless all events have [`ReadFormat::LOST`](perf_abi::ReadFormat::LOST), since Linux
    /// 6.0.
    ///
    /// # Errors
    ///
    /// The error of [`Count::read`] for the first event that cannot be read.
    #[doc(alias = "PERF_FORMAT_LOST")]
    pub fn lost(&self) -> Result<Option<u64>> {
        self.events().try_fold(Some(0_u64), |sum, event| {
            let lost = Count::read(event)?.lost;
            Ok(sum.zip(lost).map(|(sum, lost)| sum.saturating_add(lost)))
        })
    }

    /// Returns the bytes that were skipped in this ring because they are not records, since it was
    /// mapped.
    pub const fn damage(&self) -> SkippedBytes {
        self.reader.damage
    }

    fn new(ring: DataRing, event: Arc<Event>) -> Self {
        Self {
            reader: Reader::new(ring),
            event,
            redirected: Vec::new(),
            pending_wakeup: AtomicBool::new(false),
            is_kept: false,
            is_in_memory: false,
            waiters: Waiters::default(),
        }
    }

    /// Loads the head, which ends a pending wakeup.
    pub(crate) fn look(&mut self) -> Result<()> {
        // Before the load, because a wakeup for later records must stay pending.
        self.pending_wakeup.store(false, Ordering::Relaxed);
        self.is_kept = false;
        self.reader.refresh()
    }
}

/// Reading record by record. The position is in the ring, so that a function can return each
/// record.
///
/// ```no_run
/// use perf_ring::{Record, Ring, SampleLayout};
///
/// struct Reader {
///     ring: Ring,
///     layout: SampleLayout,
/// }
///
/// impl Reader {
///     /// Returns the next record, or `None` if there are no unread records.
///     fn read(&mut self) -> perf_ring::Result<Option<Record<'_>>> {
///         let Some(record) = self.ring.next_record()? else { return Ok(None) };
///         Ok(Some(record.decode(&self.layout)?))
///     }
/// }
/// ```
impl Ring {
    /// Returns the next unread record and consumes it; `None` if no record is unread.
    ///
    /// The kernel does not overwrite the record while it is borrowed. Consumed records are released
    /// by [`release`](Self::release), and by the call that has consumed all records of the last
    /// look at the ring and looks again, by one load from the control page.
    ///
    /// # Errors
    ///
    /// The errors of [`batch`](Self::batch), and [`Error::Decode`](crate::Error::Decode) for a size
    /// that no record can have. Then all unread bytes of the last look are skipped, and
    /// [`damage`](Self::damage) counts them.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<RawRecord<'_>>> {
        if self.reader.len() == 0 {
            self.look_again()?;
        }
        self.reader.next()
    }

    /// Returns the next unread record without consuming it; `None` if no record is unread.
    ///
    /// # Errors
    ///
    /// The errors of [`next_record`](Self::next_record), which skips the bytes of an
    /// [`Error::Decode`](crate::Error::Decode).
    #[inline]
    pub fn peek_record(&mut self) -> Result<Option<RawRecord<'_>>> {
        if self.reader.len() == 0 {
            self.look_again()?;
        }
        self.reader.peek()
    }

    /// Releases and looks again after all records are consumed that were there at the last look.
    #[cold]
    #[inline(never)]
    fn look_again(&mut self) -> Result<()> {
        self.release();
        self.look()
    }

    /// Releases the consumed records, so that the kernel may overwrite them.
    pub fn release(&mut self) {
        self.reader.release();
    }

    /// Copies all unread records to `copy`, releases them, and returns them as a window.
    ///
    /// The ring is free before the records are read. Clears `copy` first and allocates only if its
    /// capacity is less than the unread bytes. The window does not wrap, so it needs no scratch.
    ///
    /// ```no_run
    /// # fn read(ring: &mut perf_ring::Ring) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut copy = Vec::new();
    /// for record in ring.copy_into(&mut copy)?.records(&mut []) {
    ///     println!("{:?}", record?.kind());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`batch`](Self::batch).
    pub fn copy_into<'c>(&mut self, copy: &'c mut Vec<u64>) -> Result<Window<'c>> {
        Ok(self.batch()?.copy_into(copy))
    }
}

/// Returns the number of data pages for a ring of at least `bytes` bytes: a power of two, or 0 if
/// it exceeds the address space.
fn pages_for(bytes: usize) -> usize {
    bytes.div_ceil(page_size()).checked_next_power_of_two().unwrap_or(0)
}

/// The number of the descriptor of the ring's own event, for an event loop such as tokio's
/// `AsyncFd`. The kernel reports its hang-up while records are still unread. Redirected events have
/// other descriptors.
///
/// Does not implement `AsFd`, by which safe code could give another process the ring: see
/// [`BorrowedEvent`](crate::sys::BorrowedEvent). A [`RingSet`](crate::RingSet) implements it, even
/// with one ring.
impl AsRawFd for Ring {
    fn as_raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
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
pub(crate) use tests::{ring_of_attr_on_pipe, ring_on_pipe};
