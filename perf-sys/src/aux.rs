use perf_decode::{Aux, Layout};

use crate::map::{AuxConsumer, AuxOverwritten};
use crate::{Error, Result, Ring};
use std::os::fd::AsFd;

/// The AUX area beside a [`Ring`]: the raw trace of a unit like Intel PT, `CoreSight` or SPE, in bytes.
/// Since Linux 4.1.
///
/// The kernel announces each chunk of the trace in the ring by an [`Aux`] record. Check its flags
/// ([`AuxFlags`](perf_abi::AuxFlags)), read its [`chunk`](Self::chunk), then
/// [`release`](Self::release) it. Unreleased bytes are not overwritten. When the area is full, the
/// kernel stops the event and flags the record as `TRUNCATED`. Release it, then enable the event
/// again.
///
/// The mapping is not inherited across `fork`; see [`Error::Forked`].
///
/// ```no_run
/// use perf_decode::{Record, SampleLayout};
/// use perf_sys::{AuxArea, Event, Ring, Target};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let attr = perf_abi::Attr::default();
/// let layout = SampleLayout::new(&attr);
/// let mut ring = Ring::map(Event::open(&attr, Target::calling_thread())?, 16)?;
/// let mut area = AuxArea::map(&mut ring, 1024)?;
/// for record in ring.batch()?.records() {
///     if let Record::Aux(piece) = record?.decode(&layout)? {
///         let (first, wrapped) = area.chunk(&piece)?;
///         println!("{} bytes of trace, {}", first.len() + wrapped.len(), piece.flags());
///         area.release(&piece)?;
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AuxArea {
    consumer: AuxConsumer,
}

impl AuxArea {
    /// `mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, aux_offset)`—Maps an AUX area of
    /// `pages` pages for the event of `ring`, after the ring.
    ///
    /// # Errors
    ///
    /// [`Error::PageCount`] unless `pages` is a power of two, [`Error::AuxInUse`] while the ring has
    /// another area, [`Error::Forked`], and [`Error::System`]: `EOPNOTSUPP` if the event's PMU has no AUX
    /// area, `EPERM` if the memory exceeds what the user may lock.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "MMAP layout", `aux_offset`.
    #[doc(alias = "aux_offset")]
    #[doc(alias = "aux_size")]
    pub fn map(ring: &mut Ring, pages: usize) -> Result<Self> {
        let (page, offset) = ring.share_page().ok_or(Error::AuxInUse)?;
        Ok(Self { consumer: AuxConsumer::map(page, ring.as_fd(), offset, pages)? })
    }

    /// Returns the bytes that `record` announces, as two slices. The second is empty unless the chunk
    /// wraps at the end of the area.
    ///
    /// The kernel writes the record before it stores `aux_head`. This method spins in between.
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if the bytes are not unread, for example released or of another ring.
    /// [`Error::Forked`].
    pub fn chunk<L: Layout>(&self, record: &Aux<'_, L>) -> Result<(&[u8], &[u8])> {
        /// Number of attempts, which take much longer than the kernel needs between its two stores.
        const ATTEMPTS: usize = 10_000;
        for _ in 0..ATTEMPTS {
            match self.consumer.slices(record.aux_offset(), record.aux_size()) {
                Err(Error::AuxRange { .. }) => core::hint::spin_loop(),
                result => return result,
            }
        }
        self.consumer.slices(record.aux_offset(), record.aux_size())
    }

    /// Returns all unreleased bytes, announced or not, as two slices like [`chunk`](Self::chunk).
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if the control page is damaged. [`Error::Forked`].
    pub fn unread(&self) -> Result<(&[u8], &[u8])> {
        let (tail, head) = self.consumer.unread()?;
        self.consumer.slices(tail, head.wrapping_sub(tail))
    }

    /// Releases the bytes of `record` and all bytes before them, also those whose record was lost. Does
    /// nothing if they are released already.
    ///
    /// # Errors
    ///
    /// As [`unread`](Self::unread).
    pub fn release<L: Layout>(&mut self, record: &Aux<'_, L>) -> Result<()> {
        self.consumer.release(record.aux_offset().wrapping_add(record.aux_size()))
    }

    /// Releases all bytes, read or not, and returns their number. Use it if the area stays full because
    /// [`Aux`] records were lost.
    ///
    /// # Errors
    ///
    /// As [`unread`](Self::unread).
    pub fn discard(&mut self) -> Result<u64> {
        let (tail, head) = self.consumer.unread()?;
        self.consumer.release(head)?;
        Ok(head.wrapping_sub(tail))
    }
}

/// An AUX area in which the hardware overwrites the oldest bytes, so that it has the end of a
/// trace. Since Linux 4.1.
///
/// Disable the event, copy, and enable it. Nothing is released. The kernel flags the [`Aux`] records
/// `OVERWRITE`; their offset is the position after the newest byte.
///
/// The mapping is not inherited across `fork`; see [`Error::Forked`].
#[derive(Debug)]
pub struct AuxSnapshot {
    area: AuxOverwritten,
}

impl AuxSnapshot {
    /// `mmap(NULL, pages * page, PROT_READ, MAP_SHARED, fd, aux_offset)`—Maps an AUX area that is
    /// overwritten for the event of `ring`.
    ///
    /// # Errors
    ///
    /// As [`AuxArea::map`].
    pub fn map(ring: &mut Ring, pages: usize) -> Result<Self> {
        let (page, offset) = ring.share_page().ok_or(Error::AuxInUse)?;
        Ok(Self { area: AuxOverwritten::map(page, ring.as_fd(), offset, pages)? })
    }

    /// Returns the length of the area in bytes.
    #[expect(clippy::len_without_is_empty, reason = "an area of no pages cannot be mapped")]
    pub fn len(&self) -> usize {
        self.area.len()
    }

    /// Copies the newest bytes in the order of the trace, and returns their number and `aux_head`, the
    /// position after them. Depending on the driver, it is free-running or modulo the area's length; a
    /// 32-bit kernel counts modulo 2^32.
    ///
    /// Bytes that were never written are 0. A byte that the hardware writes meanwhile is copied as it was
    /// before or after.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`].
    #[doc(alias = "aux_head")]
    pub fn copy_newest(&self, copy: &mut [u8]) -> Result<(usize, u64)> {
        self.area.copy(copy)
    }
}

#[cfg(test)]
mod tests;
