use std::sync::Arc;

use perf_decode::{BackwardRecords, Scratch};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use rustix::thread::{MembarrierCommand, membarrier};

use crate::map::{Area, Overwritten, pages_for};
use crate::{Error, Event, MapError, Result};

/// An event with a ring that the kernel overwrites, the oldest records first: a flight recorder.
///
/// It runs at the kernel's cost alone until something happens; then [`snapshot`](Self::snapshot) gives
/// the last records, newest first. Since Linux 4.7.
///
/// The mapping is not inherited across `fork`: see [`Error::Forked`].
///
/// ```no_run
/// use perf_abi::{Attr, AttrFlags, Software};
/// use perf_sys::{Event, SnapshotRing, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let attr = Attr::software(Software::CPU_CLOCK)
///     .with_period(1_000_000)
///     .with_flags(AttrFlags::WRITE_BACKWARD);
/// let mut recorder = SnapshotRing::map(Event::open(&attr, Target::calling_thread())?, 64)?;
/// // ... and when it has happened:
/// for record in recorder.snapshot()?.records()? {
///     println!("{:?}", record?.kind());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[doc(alias = "write_backward")]
pub struct SnapshotRing {
    // Before the event: unmapped first, closed second, so that closing ends the event.
    ring: Overwritten,
    event: Arc<Event>,
    copy: Box<[u64]>,
    scratch: Box<Scratch>,
}

impl SnapshotRing {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ, MAP_SHARED, fd, 0)`—Gives `event` a ring of
    /// `data_pages` pages that is overwritten, and makes room for a copy of it.
    ///
    /// # Errors
    ///
    /// [`Error::WriteForward`] unless the event has [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD):
    /// in a ring overwritten forward no record can be found. Otherwise as [`Ring::map`](crate::Ring::map).
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, `write_backward`.
    pub fn map(event: impl Into<Arc<Event>>, data_pages: usize) -> Result<Self, MapError> {
        let event = event.into();
        let mapped = map(&event, data_pages);
        match mapped {
            Ok(ring) => {
                let copy = vec![0; ring.words()].into_boxed_slice();
                Ok(Self { ring, event, copy, scratch: Box::default() })
            }
            Err(error) => Err(MapError { error, event }),
        }
    }

    /// Maps a ring of at least `bytes` bytes of data: see [`Ring::map_bytes`](crate::Ring::map_bytes).
    ///
    /// # Errors
    ///
    /// As [`map`](Self::map).
    pub fn map_bytes(event: impl Into<Arc<Event>>, bytes: usize) -> Result<Self, MapError> {
        Self::map(event, pages_for(bytes))
    }

    /// The event whose ring this is. Others may send their records here, by [`Event::set_output`], if
    /// they write backward as well.
    pub const fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// `ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1)`, a copy, and the same with 0—What the ring holds now.
    ///
    /// The ring is paused as long as the copy takes, not as long as it is read: milliseconds, most of
    /// them for the kernel to see that no CPU is still writing. What comes meanwhile counts as lost.
    /// It goes on afterwards, even if it was paused before.
    ///
    /// # Errors
    ///
    /// [`Error::System`] from the ioctl, on kernels before 4.7.
    pub fn snapshot(&mut self) -> Result<Snapshot<'_>> {
        self.ring.check_here()?;
        self.event.pause_output(true)?;
        // A writer that came before the pause may be in the middle of a record, over the oldest ones. It
        // cannot be preempted there, and this waits for a grace period of RCU: for all who cannot. Where
        // it is refused (nohz_full, seccomp) the oldest records may come out damaged.
        let _ = membarrier(MembarrierCommand::Global);
        let head = self.ring.head()?;
        self.ring.copy(&mut self.copy)?;
        self.event.pause_output(false)?;
        Ok(Snapshot { head, data: &self.copy, scratch: &mut self.scratch })
    }
}

fn map(event: &Arc<Event>, data_pages: usize) -> Result<Overwritten> {
    if !data_pages.is_power_of_two() {
        return Err(Error::PageCount { found: data_pages });
    }
    if !event.writes_backward() {
        return Err(Error::WriteForward);
    }
    Overwritten::new(Area::map_overwritten(event.as_fd(), data_pages, event.claim_ring()?)?)
}

impl AsFd for SnapshotRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl AsRawFd for SnapshotRing {
    fn as_raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}

/// The last records of a [`SnapshotRing`]: a copy, which stays as it is while the ring goes on.
#[derive(Debug)]
#[must_use = "its records are not read yet"]
pub struct Snapshot<'r> {
    head: u64,
    data: &'r [u64],
    scratch: &'r mut Scratch,
}

impl Snapshot<'_> {
    /// The records, newest first. The oldest is usually cut and left out: see
    /// [`BackwardRecords::truncated_len`].
    ///
    /// # Errors
    ///
    /// [`Error::Positions`] if the control page was damaged.
    pub fn records(&mut self) -> Result<BackwardRecords<'_>> {
        BackwardRecords::new(self.data, self.head, self.scratch).map_err(Error::Positions)
    }
}
