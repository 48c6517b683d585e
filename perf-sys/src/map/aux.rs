//! The readers of an AUX area, which a trace unit writes in addition to the ring.
//!
//! # Safety
//!
//! This file may use `unsafe` because it borrows or copies parts of an area that hardware writes.
//! Only bytes between `aux_tail` and `aux_head` are borrowed, because the hardware does not write
//! them before they are released. Bytes that may be overwritten are copied by atomic loads.
#![allow(unsafe_code)]

use alloc::sync::Arc;
use core::slice;
use core::sync::atomic::{AtomicU8, Ordering, fence};

use rustix::mm::ProtFlags;

use super::{Area, DataRing, Here, Mapping, OVERWRITES, PageWord, WAITS, page_size, position};
use crate::error::{Error, Result};

/// Stores offset and size of the AUX area in the control page, as the kernel requires, and maps it
/// after the ring.
fn map(ring: &mut DataRing, pages: usize, mode: ProtFlags) -> Result<(Arc<Area>, Mapping)> {
    let offset = ring.end();
    let page = ring.share().ok_or(Error::AuxInUse)?;
    // A simulated ring has no event, and shares its page with the simulated kernel.
    let event = page.claim.as_ref().ok_or(Error::AuxInUse)?.event();
    let len = pages.checked_mul(page_size()).filter(|_| pages.is_power_of_two());
    let len = len.ok_or(Error::PageCount { found: pages })?;
    let here = page.here()?;
    here.word(PageWord::AUX_OFFSET).store(offset as u64, Ordering::Relaxed);
    here.word(PageWord::AUX_SIZE).store(len as u64, Ordering::Relaxed);
    let data = Mapping::of(event.fd(), len, mode, offset as u64)?;
    Ok((page, data))
}

/// A mapped AUX area that the hardware does not overwrite: the raw trace of a unit like Intel PT,
/// `CoreSight` or SPE, in bytes. Since Linux 4.1.
///
/// Its length in bytes is a power of two, and only this value stores `aux_tail`.
///
/// The mapping is not inherited across `fork`; see [`Error::Forked`].
#[derive(Debug)]
pub struct AuxRing {
    data: Mapping,
    /// The value of `aux_tail`, free-running, never taken modulo the area.
    tail: u64,
    page: Arc<Area>,
}

impl AuxRing {
    /// `mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, aux_offset)`—Maps an AUX
    /// area of `pages` pages for the event of `ring`, after the ring.
    ///
    /// # Errors
    ///
    /// [`Error::PageCount`] unless `pages` is a power of two, [`Error::AuxInUse`] while the ring
    /// has another area, [`Error::Forked`], and [`Error::System`]: `EOPNOTSUPP` if the event's PMU
    /// has no AUX area, `EPERM` if the memory exceeds what the user may lock.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "MMAP layout", `aux_offset`.
    #[doc(alias = "aux_offset")]
    #[doc(alias = "aux_size")]
    pub fn map(ring: &mut DataRing, pages: usize) -> Result<Self> {
        let (page, data) = map(ring, pages, WAITS)?;
        Self::new(page, data)
    }

    fn new(page: Arc<Area>, data: Mapping) -> Result<Self> {
        // An earlier reader may have stored it.
        let tail = page.here()?.word(PageWord::AUX_TAIL).load(Ordering::Relaxed);
        Ok(Self { data, tail, page })
    }

    /// Maps anonymous pages like [`map`](Self::map). The test writes `page`.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn anonymous(page: Arc<Area>, content: &[u8]) -> Result<Self> {
        Self::new(page, filled(content)?)
    }

    /// Returns the unread range, `[tail, head)`.
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if it is longer than the area.
    pub fn unread(&self) -> Result<(u64, u64)> {
        // Acquire pairs with the barrier before the kernel's store of aux_head, so the trace up to
        // it is complete.
        let head = self.page.here()?.word(PageWord::AUX_HEAD).load(Ordering::Acquire);
        let head = position(self.tail, head);
        let size = head.wrapping_sub(self.tail);
        if size > self.data.len as u64 {
            return Err(Error::AuxRange { offset: self.tail, size, tail: self.tail, head });
        }
        Ok((self.tail, head))
    }

    /// Returns the `size` bytes from `offset`, a position as the kernel counts it. They continue in
    /// the second slice if they wrap at the end of the area.
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] unless all of them are unread.
    pub fn slices(&self, offset: u64, size: u64) -> Result<(&[u8], &[u8])> {
        let (tail, head) = self.unread()?;
        let unread = head.wrapping_sub(tail);
        let skipped = position(tail, offset).wrapping_sub(tail);
        if skipped > unread || size > unread - skipped {
            return Err(Error::AuxRange { offset, size, tail, head });
        }
        let (start, len) = (offset as usize & (self.data.len - 1), size as usize);
        let first = len.min(self.data.len - start);
        let here = self.data.here()?;
        Ok((Self::slice(here, start, first), Self::slice(here, 0, len - first)))
    }

    /// Borrows `len` bytes at `start`. Only for [`slices`](Self::slices), inside `[tail, head)`.
    fn slice(here: Here<'_>, start: usize, len: usize) -> &[u8] {
        let first = here.at(start);
        // SAFETY: `start + len` is at most the area's length; part of `[tail, head)`, which the
        // hardware does not write while the consumer is borrowed, because `release` needs it
        // mutably.
        unsafe { slice::from_raw_parts(first, len) }
    }

    /// Releases everything before `to`, a position as the kernel counts it. Does nothing if it is
    /// not between tail and head.
    pub fn release(&mut self, to: u64) -> Result<()> {
        let (tail, head) = self.unread()?;
        let to = position(tail, to);
        if to.wrapping_sub(tail) <= head.wrapping_sub(tail) {
            self.tail = to;
            // Release pairs with the kernel's load of aux_tail, so this process has read the bytes
            // before the hardware may write them.
            self.page.here()?.word(PageWord::AUX_TAIL).store(to, Ordering::Release);
        }
        Ok(())
    }
}

/// A mapped AUX area in which the hardware overwrites the oldest bytes. Since Linux 4.1.
///
/// Disable the event, copy, and enable it. The bytes are only copied.
///
/// The mapping is not inherited across `fork`; see [`Error::Forked`].
#[derive(Debug)]
pub struct OverwrittenAux {
    data: Mapping,
    page: Arc<Area>,
}

impl OverwrittenAux {
    /// `mmap(NULL, pages * page, PROT_READ, MAP_SHARED, fd, aux_offset)`—Maps an AUX area that is
    /// overwritten for the event of `ring`.
    ///
    /// # Errors
    ///
    /// [`Error::PageCount`] unless `pages` is a power of two, [`Error::AuxInUse`] while the ring
    /// has another area, [`Error::Forked`], and [`Error::System`]: `EOPNOTSUPP` if the event's PMU
    /// has no AUX area, `EPERM` if the memory exceeds what the user may lock.
    pub fn map(ring: &mut DataRing, pages: usize) -> Result<Self> {
        let (page, data) = map(ring, pages, OVERWRITES)?;
        Ok(Self { data, page })
    }

    /// Maps anonymous pages like [`map`](Self::map). The test writes `page`.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn anonymous(page: Arc<Area>, content: &[u8]) -> Result<Self> {
        Ok(Self { data: filled(content)?, page })
    }

    /// Returns the length of the area in bytes.
    #[expect(clippy::len_without_is_empty, reason = "an area of no pages cannot be mapped")]
    pub const fn len(&self) -> usize {
        self.data.len
    }

    /// Copies the newest bytes, up to `aux_head`, in the order of the trace: at most the length of
    /// `copy` and of the area. Returns their number and the head, which depending on the driver is
    /// free-running or modulo the area's length; a 32-bit kernel counts modulo 2^32.
    ///
    /// Bytes that were never written are 0. A byte that the hardware writes meanwhile is copied as
    /// it was before or after.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of `fork`.
    #[doc(alias = "aux_head")]
    pub fn copy(&self, copy: &mut [u8]) -> Result<(usize, u64)> {
        // Unlike the area, the control page is mapped for writing.
        let head = self.page.here()?.word(PageWord::AUX_HEAD).load(Ordering::Acquire);
        let here = self.data.here()?;
        let len = copy.len().min(self.data.len);
        let start = (head as usize).wrapping_sub(len);
        for (index, to) in copy.iter_mut().take(len).enumerate() {
            let byte = here.at(start.wrapping_add(index) & (self.data.len - 1));
            // SAFETY: inside the area, mapped as long as `self`; this process never writes it. On
            // all targets std allows a relaxed load of a byte from pages mapped for reading only.
            *to = unsafe { AtomicU8::from_ptr(byte) }.load(Ordering::Relaxed);
        }
        fence(Ordering::Acquire);
        Ok((len, head))
    }
}

/// Returns anonymous pages that begin with `content`.
#[cfg(any(test, feature = "testing"))]
fn filled(content: &[u8]) -> Result<Mapping> {
    let data = Mapping::anonymous(content.len().next_multiple_of(page_size()))?;
    for (index, &byte) in content.iter().enumerate() {
        let at: *mut u8 = data.here()?.at(index);
        // SAFETY: inside the mapping, to which nothing else refers yet.
        unsafe { at.write(byte) };
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::in_child;
    use crate::testing::SimulatedKernel;

    #[test]
    fn areas_are_refused_in_a_child_of_fork() {
        let (kernel, _) = SimulatedKernel::new(1).unwrap();
        kernel.set_aux_head(64);
        let mut area = kernel.aux(&[7; 64]).unwrap();
        let overwritten = kernel.overwritten_aux(&[7; 64]).unwrap();
        assert!(in_child(|| {
            area.slices(0, 8) == Err(Error::Forked)
                && area.unread() == Err(Error::Forked)
                && area.release(8) == Err(Error::Forked)
                && overwritten.copy(&mut [0; 8]) == Err(Error::Forked)
        }));
        assert_eq!(kernel.aux_tail(), 0, "these pages are shared: the child stored nothing");
        assert_eq!(area.unread(), Ok((0, 64)));
    }

    #[test]
    fn ring_has_one_aux_area_after_its_data() {
        let (kernel, mut ring) = SimulatedKernel::new(1).unwrap();
        assert_eq!(ring.end(), 2 * page_size());
        assert!(ring.share().is_none(), "the simulated kernel has the page");
        drop(kernel);
        let page = ring.share().unwrap();
        assert!(ring.share().is_none());
        drop(page);
        assert!(ring.share().is_some());
    }
}
