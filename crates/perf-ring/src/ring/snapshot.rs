//! Overwritten rings, as a flight recorder uses them.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use perf_decode::{BackwardRecords, Scratch};
use perf_sys::{Event, OverwrittenRing};

use super::pages_for;
use crate::error::{Refused, Result};

/// An event with a ring in which the kernel overwrites the oldest records: a flight recorder.
///
/// It costs no system call until [`snapshot`](Self::snapshot) copies the last records. Since Linux
/// 4.7.
///
/// The mapping is not inherited across `fork`; see [`sys::Error::Forked`](perf_sys::Error::Forked).
///
/// ```no_run
/// use perf_abi::{Attr, AttrFlags, Software};
/// use perf_ring::{Event, SnapshotRing, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let attr = Attr::software(Software::CPU_CLOCK)
///     .with_period(1_000_000) // ns
///     .with_flags(AttrFlags::WRITE_BACKWARD);
/// let mut recorder = SnapshotRing::map(Event::open(&attr, Target::calling_thread())?, 64)?; // pages
/// // ... and after the incident:
/// for record in recorder.snapshot()?.records()? {
///     println!("{:?}", record?.kind());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[doc(alias = "write_backward")]
pub struct SnapshotRing {
    // Dropped before the event, because closing the descriptor ends an event only if its ring is
    // not mapped.
    ring: OverwrittenRing,
    event: Arc<Event>,
    copy: Box<[u64]>,
    scratch: Box<[u64]>,
}

impl SnapshotRing {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ, MAP_SHARED, fd, 0)`—Maps an overwritten ring
    /// of `data_pages` pages, and allocates memory for a copy.
    ///
    /// # Errors
    ///
    /// [`WriteForward`](perf_sys::Error::WriteForward) unless the event has
    /// [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD), because no record can be found in a
    /// ring overwritten forward. Otherwise the errors of [`Ring::map`](crate::Ring::map).
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, `write_backward`.
    pub fn map(event: impl Into<Arc<Event>>, data_pages: usize) -> Result<Self, Refused<Arc<Event>>> {
        let (event, ring) = Refused::keep(event.into(), |event| OverwrittenRing::map(event, data_pages))?;
        let zeros = |words| vec![0; words].into_boxed_slice();
        // No record is longer than the ring, or than a Scratch.
        let scratch = ring.words().min(size_of::<Scratch>() / 8);
        let (copy, scratch) = (zeros(ring.words()), zeros(scratch));
        Ok(Self { ring, event, copy, scratch })
    }

    /// Maps a ring of at least `bytes` bytes of data, rounded up to a power of two of pages.
    ///
    /// # Errors
    ///
    /// The errors of [`map`](Self::map).
    pub fn map_bytes(event: impl Into<Arc<Event>>, bytes: usize) -> Result<Self, Refused<Arc<Event>>> {
        Self::map(event, pages_for(bytes))
    }

    /// Returns the event of this ring. Other events may be redirected here by [`Event::set_output`]
    /// if they write backward as well.
    pub const fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// Returns the size of the data area in bytes, a power of two.
    pub const fn data_size(&self) -> usize {
        self.ring.words() * 8
    }

    /// Copies the ring: `PERF_EVENT_IOC_PAUSE_OUTPUT`, `membarrier(MEMBARRIER_CMD_GLOBAL)`, a copy,
    /// and the ioctl again to resume.
    ///
    /// The ring is paused until it is copied, not until it is read. That takes milliseconds, mostly
    /// to wait for CPUs that are still writing. Copy several rings by
    /// [`snapshot_all`](Self::snapshot_all), which waits once. The kernel counts records of that
    /// time as lost. The ring is resumed even if it was paused before.
    ///
    /// # Errors
    ///
    /// [`System`](perf_sys::Error::System) from the ioctl, before Linux 4.7.
    /// [`Forked`](perf_sys::Error::Forked).
    pub fn snapshot(&mut self) -> Result<Snapshot<'_>> {
        let paused = self.pause()?;
        OverwrittenRing::wait_for_writers();
        paused.copy()
    }

    /// Copies all of `rings`, and returns the snapshots in the same order.
    ///
    /// Takes a [`snapshot`](Self::snapshot) of each ring. All rings are paused before the first is
    /// copied, and they share one wait for the CPUs that are still writing. Each ring is resumed as
    /// soon as it is copied.
    ///
    /// ```no_run
    /// # fn last(recorders: &mut [perf_ring::SnapshotRing]) -> Result<(), Box<dyn std::error::Error>> {
    /// for (cpu, mut snapshot) in perf_ring::SnapshotRing::snapshot_all(recorders)?.into_iter().enumerate() {
    ///     println!("CPU {cpu}: {} records", snapshot.records()?.count());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`snapshot`](Self::snapshot). All rings are resumed after an error too.
    pub fn snapshot_all<'r>(rings: impl IntoIterator<Item = &'r mut Self>) -> Result<Vec<Snapshot<'r>>> {
        let paused: Vec<_> = rings.into_iter().map(Self::pause).collect::<Result<_>>()?;
        if !paused.is_empty() {
            OverwrittenRing::wait_for_writers();
        }
        paused.into_iter().map(Paused::copy).collect()
    }

    /// Pauses the ring until it is copied or the result is dropped.
    fn pause(&mut self) -> Result<Paused<'_>> {
        let Self { ring, event, copy, scratch } = self;
        // First, because a child of `fork` must not pause the ring of its parent.
        ring.check_process()?;
        event.pause_output(true)?;
        Ok(Paused { output: PausedOutput(event), ring, copy, scratch })
    }
}

impl AsRawFd for SnapshotRing {
    fn as_raw_fd(&self) -> RawFd {
        self.event.as_raw_fd()
    }
}

/// A copy of the last records of a [`SnapshotRing`], which the kernel does not change.
#[derive(Debug)]
#[must_use = "its records are not read yet"]
pub struct Snapshot<'r> {
    head: u64,
    data: &'r [u64],
    scratch: &'r mut [u64],
}

impl Snapshot<'_> {
    /// Returns where the newest record starts, in bytes, monotonically decreasing from 0. The
    /// distance from the head of an earlier snapshot is the number of bytes written since.
    pub const fn head(&self) -> u64 {
        self.head
    }

    /// Iterates over the records, newest first. The oldest record is usually truncated and left
    /// out; see [`BackwardRecords::truncated_len`].
    ///
    /// # Errors
    ///
    /// [`Decode`](crate::Error::Decode) if the control page is damaged.
    pub fn records(&mut self) -> Result<BackwardRecords<'_>> {
        Ok(BackwardRecords::new(self.data, self.head, self.scratch)?)
    }
}

/// A paused ring with the memory for its copy. Resumed when it is copied or dropped.
struct Paused<'r> {
    output: PausedOutput<'r>,
    ring: &'r OverwrittenRing,
    copy: &'r mut [u64],
    scratch: &'r mut [u64],
}

impl<'r> Paused<'r> {
    /// Copies and resumes the ring. Call [`OverwrittenRing::wait_for_writers`] before.
    fn copy(self) -> Result<Snapshot<'r>> {
        let Self { output, ring, copy, scratch } = self;
        let head = ring.head()?;
        ring.copy(copy)?;
        output.resume()?;
        Ok(Snapshot { head, data: copy, scratch })
    }
}

/// The output of an event while it is paused.
struct PausedOutput<'r>(&'r Event);

impl PausedOutput<'_> {
    fn resume(self) -> Result<()> {
        let event = self.0;
        core::mem::forget(self);
        Ok(event.pause_output(false)?)
    }
}

impl Drop for PausedOutput<'_> {
    fn drop(&mut self) {
        // The caller gets the earlier error.
        let _ = self.0.pause_output(false);
    }
}
