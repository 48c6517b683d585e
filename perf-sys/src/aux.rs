use perf_decode::{Aux, Layout};

use crate::map::{AuxConsumer, AuxOverwritten};
use crate::{Error, Result, Ring};
use rustix::fd::AsFd;

/// The AUX area beside a [`Ring`]: the raw trace of a unit like Intel PT, `CoreSight` or SPE, which does
/// not fit into records. Since Linux 4.1.
///
/// Each piece is announced in the ring by an [`Aux`] record: look at its flags
/// ([`AuxFlags`](perf_abi::AuxFlags)), read its [`chunk`](Self::chunk), then [`release`](Self::release)
/// it. The hardware waits: what has not been given back is not overwritten. When the area is full the
/// kernel stops the event and flags the piece as `TRUNCATED`: release, then enable it again.
///
/// The mapping is not inherited across `fork`: see [`Error::Forked`].
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
    /// `mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, aux_offset)`—Gives the event of
    /// `ring` an AUX area of `pages` pages, behind the ring.
    ///
    /// # Errors
    ///
    /// [`Error::PageCount`] unless `pages` is a power of two, [`Error::AuxInUse`] while another area of
    /// this ring is there, and [`Error::System`]: `EOPNOTSUPP` if the event's PMU traces nothing,
    /// `EPERM` if the memory is more than the user may lock.
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

    /// The bytes that `record` announces: two slices, the second empty unless the piece goes on at the
    /// start of the area.
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if they are not there: given back already, from another ring, or, for an
    /// instant, not published yet: the kernel writes the record before it moves `aux_head`.
    pub fn chunk<L: Layout>(&self, record: &Aux<'_, L>) -> Result<(&[u8], &[u8])> {
        /// Far longer than the kernel takes from the one store to the other.
        const LOOKS: usize = 10_000;
        for _ in 0..LOOKS {
            match self.consumer.slices(record.aux_offset(), record.aux_size()) {
                Err(Error::AuxRange { .. }) => core::hint::spin_loop(),
                answer => return answer,
            }
        }
        self.consumer.slices(record.aux_offset(), record.aux_size())
    }

    /// Everything that was not given back, announced or not: two slices, as from
    /// [`chunk`](Self::chunk).
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if the control page was damaged.
    pub fn unread(&self) -> Result<(&[u8], &[u8])> {
        let (tail, head) = self.consumer.unread()?;
        self.consumer.slices(tail, head.wrapping_sub(tail))
    }

    /// Gives the bytes of `record` back to the hardware, and all before them: also those whose record
    /// was lost.
    ///
    /// # Errors
    ///
    /// As [`unread`](Self::unread). A record that was given back already changes nothing.
    pub fn release<L: Layout>(&mut self, record: &Aux<'_, L>) -> Result<()> {
        self.consumer.release(record.aux_offset().wrapping_add(record.aux_size()))
    }

    /// Gives everything back, read or not, and returns how many bytes were thrown away: the way on after
    /// [`Aux`] records were lost and the area stays full.
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

/// An AUX area that the hardware overwrites in circles: the last moments of a trace. Since Linux 4.1.
///
/// Stop the event, copy, go on. There is nothing to release; the [`Aux`] records that the kernel writes
/// are flagged `OVERWRITE`, their offset is the position up to which was written.
///
/// The mapping is not inherited across `fork`: see [`Error::Forked`].
#[derive(Debug)]
pub struct AuxSnapshot {
    area: AuxOverwritten,
}

impl AuxSnapshot {
    /// `mmap(NULL, pages * page, PROT_READ, MAP_SHARED, fd, aux_offset)`—Gives the event of `ring` an AUX
    /// area that is overwritten.
    ///
    /// # Errors
    ///
    /// As [`AuxArea::map`].
    pub fn map(ring: &mut Ring, pages: usize) -> Result<Self> {
        let (page, offset) = ring.share_page().ok_or(Error::AuxInUse)?;
        Ok(Self { area: AuxOverwritten::map(page, ring.as_fd(), offset, pages)? })
    }

    /// Bytes in the area.
    #[expect(clippy::len_without_is_empty, reason = "an area of no pages cannot be mapped")]
    pub fn len(&self) -> usize {
        self.area.len()
    }

    /// Copies the newest bytes, oldest of them first, and returns how many, and `aux_head`: the position
    /// behind them, which some drivers count on for ever and others keep below the area's length.
    ///
    /// What was never written is 0. What is written meanwhile is copied as it was before or after.
    #[doc(alias = "aux_head")]
    pub fn copy_newest(&self, copy: &mut [u8]) -> Result<(usize, u64)> {
        self.area.copy(copy)
    }
}

#[cfg(test)]
mod tests;
