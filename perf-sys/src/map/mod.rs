//! The memory shared with the kernel: mappings, and the control page at the start of a ring's.
//!
//! # Safety
//!
//! This file may use `unsafe` because it maps memory that the kernel writes. A [`Mapping`] lends
//! only [`Here`], the proof that it exists in this process. `Here` has raw pointers and the atomics
//! of the control page. The files of the folder `map` borrow parts of the data, each with its
//! proof.
#![allow(unsafe_code)]

use alloc::sync::Arc;
use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::AtomicU64;

use perf_abi::MmapPage;
use rustix::fd::BorrowedFd;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::error::{Call, Error, Result};
use crate::event::{Event, RingClaim};

mod aux;
mod data;
mod generation;
mod overwritten;

pub use aux::{AuxRing, OverwrittenAux};
pub use data::DataRing;
pub use generation::Generation;
pub use overwritten::OverwrittenRing;

/// `sysconf(_SC_PAGESIZE)`—Returns the size of a page in bytes, the unit of ring sizes.
#[must_use]
pub fn page_size() -> usize {
    // SAFETY: no preconditions. By the C library: rustix's function takes most of its build.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096) // it cannot fail; the number is for the type only
}

/// Protection of a mapping that the kernel does not overwrite. It drops new data if the mapping is
/// full.
const WAITS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);
/// Protection of a mapping in which the kernel overwrites the oldest data.
const OVERWRITES: ProtFlags = ProtFlags::READ;

/// Whole pages shared with the kernel, unmapped on drop by the process that mapped them.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<c_void>,
    /// Length in bytes.
    len: usize,
    /// Generation of the process that mapped the pages. A child of `fork` does not have them.
    generation: Generation,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared `Mapping` lends nothing but pointers.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn of(fd: BorrowedFd<'_>, len: usize, protection: ProtFlags, offset: u64) -> Result<Self> {
        let generation = Generation::current()?;
        // SAFETY: the kernel chooses the address, so no memory in use is mapped over.
        let base = unsafe { mmap(null_mut(), len, protection, MapFlags::SHARED, fd, offset) };
        Self::own(base, len, generation)
    }

    /// Maps pages that no kernel writes, for tests that simulate it.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn anonymous(len: usize) -> Result<Self> {
        let generation = Generation::current()?;
        // SAFETY: as in `of`.
        let base = unsafe { rustix::mm::mmap_anonymous(null_mut(), len, WAITS, MapFlags::SHARED) };
        Self::own(base, len, generation)
    }

    fn own(base: rustix::io::Result<*mut c_void>, len: usize, generation: Generation) -> Result<Self> {
        // The kernel never maps page 0 without MAP_FIXED; the error is for the type only.
        let base = base.and_then(|base| NonNull::new(base).ok_or(rustix::io::Errno::FAULT));
        Ok(Self { base: base.map_err(Error::of(Call::Mmap))?, len, generation })
    }

    /// Returns the proof that the calling process has this mapping.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of `fork`.
    #[inline]
    pub(crate) fn here(&self) -> Result<Here<'_>> {
        if self.generation.is_current() { Ok(Here(self)) } else { Err(Error::Forked) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // In a child of `fork` other memory may have these addresses.
        if self.generation.is_current() {
            // SAFETY: exactly what this process mapped, and all borrows of it have ended.
            let unmapped = unsafe { munmap(self.base.as_ptr(), self.len) };
            debug_assert_eq!(unmapped, Ok(()), "munmap of a whole mapping");
        }
    }
}

/// A proof that the calling process has a mapping, and is not a child of the process that made it.
///
/// It is checked once per operation. No value that holds one is returned from this crate, because
/// the caller may fork.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here<'m>(&'m Mapping);

impl<'m> Here<'m> {
    /// Returns the address `offset` bytes after the start. It is valid if `offset` is inside the
    /// mapping.
    #[inline]
    pub(crate) fn at<T>(self, offset: usize) -> *mut T {
        self.0.base.as_ptr().wrapping_byte_add(offset).cast()
    }

    /// Returns a word of the control page, which must be the first page of the mapping.
    ///
    /// There is never a reference to the whole page, because the kernel writes it at any time.
    /// Words of a page mapped for reading only are read by `load` in `map/overwritten`.
    pub(crate) fn word(self, PageWord(offset): PageWord) -> &'m AtomicU64 {
        // SAFETY: a `PageWord` is the offset of an aligned `u64` of the first page; mapped in this
        // process as long as `'m`; this process accesses the word only atomically.
        unsafe { AtomicU64::from_ptr(self.at(offset)) }
    }
}

/// A mapping of whole pages that begins with a control page.
#[derive(Debug)]
pub(crate) struct Area {
    // Dropped before the claim, because another reader may map the ring only after it is unmapped.
    mapping: Mapping,
    claim: Option<RingClaim>,
}

impl Area {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps an
    /// event's ring so that the kernel does not overwrite unread records.
    fn map(event: &Arc<Event>, data_pages: usize) -> Result<Self> {
        Self::claim_and_map(event, data_pages, WAITS)
    }

    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ, MAP_SHARED, fd, 0)`—Maps an event's ring so
    /// that the kernel overwrites it. A store to it, also to the control page, is a fault.
    fn map_overwritten(event: &Arc<Event>, data_pages: usize) -> Result<Self> {
        Self::claim_and_map(event, data_pages, OVERWRITES)
    }

    fn claim_and_map(event: &Arc<Event>, data_pages: usize, protection: ProtFlags) -> Result<Self> {
        let claim = event.claim_ring()?;
        let mapping = Mapping::of(event.fd(), bytes_of(data_pages)?, protection, 0)?;
        Ok(Self { mapping, claim: Some(claim) })
    }

    /// `mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps an event's control page
    /// alone.
    pub(crate) fn map_page(fd: BorrowedFd<'_>) -> Result<Self> {
        Ok(Self { mapping: Mapping::of(fd, page_size(), WAITS, 0)?, claim: None })
    }

    /// Maps an area with a control page that no kernel writes.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn anonymous(data_pages: usize) -> Result<Self> {
        Ok(Self { mapping: Mapping::anonymous(bytes_of(data_pages)?)?, claim: None })
    }

    /// Returns access to the area.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of `fork`.
    #[inline]
    pub(crate) fn here(&self) -> Result<Here<'_>> {
        self.mapping.here()
    }

    /// Returns a word of the control page, for tests.
    #[cfg(test)]
    pub(crate) fn word(&self, word: PageWord) -> &AtomicU64 {
        self.here().unwrap().word(word)
    }

    /// Returns the offset of the data in bytes, and their length in words, a power of two.
    ///
    /// # Errors
    ///
    /// [`Error::DataArea`] if the control page places them outside the mapping, or their length is
    /// impossible for a ring.
    pub(crate) fn data(&self) -> Result<(usize, usize)> {
        let (here, page, mapped) = (self.here()?, page_size() as u64, self.mapping.len as u64);
        let or_if_0 = |value, default| if value == 0 { default } else { value };
        // The kernel writes both once, in mmap. Before Linux 4.1 they are 0.
        let offset = or_if_0(here.load(PageWord::DATA_OFFSET), page);
        let size = or_if_0(here.load(PageWord::DATA_SIZE), mapped - page);
        let inside = offset.checked_add(size).is_some_and(|end| end <= mapped);
        if !inside || offset < page || offset % 8 != 0 || size < 8 || !size.is_power_of_two() {
            return Err(Error::DataArea { offset, size, mapped: self.mapping.len });
        }
        Ok((offset as usize, size as usize / 8))
    }
}

fn bytes_of(data_pages: usize) -> Result<usize> {
    let pages = data_pages.checked_add(1);
    let bytes = pages.and_then(|pages| pages.checked_mul(page_size()));
    bytes.ok_or(Error::PageCount { found: data_pages })
}

/// Returns `found` as a free-running position of 64 bits, at or after `known`.
///
/// A 32-bit kernel counts modulo 2^32; the distance between two positions is right on all kernels.
fn position(known: u64, found: u64) -> u64 {
    known.wrapping_add(found.wrapping_sub(known) as usize as u64)
}

/// The offset of an aligned `u64` of the control page, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct PageWord(usize);

impl PageWord {
    pub(crate) const DATA_HEAD: Self = Self::at(offset_of!(MmapPage, data_head));
    pub(crate) const DATA_TAIL: Self = Self::at(offset_of!(MmapPage, data_tail));
    const DATA_OFFSET: Self = Self::at(offset_of!(MmapPage, data_offset));
    const DATA_SIZE: Self = Self::at(offset_of!(MmapPage, data_size));
    pub(crate) const AUX_HEAD: Self = Self::at(offset_of!(MmapPage, aux_head));
    pub(crate) const AUX_TAIL: Self = Self::at(offset_of!(MmapPage, aux_tail));
    const AUX_OFFSET: Self = Self::at(offset_of!(MmapPage, aux_offset));
    const AUX_SIZE: Self = Self::at(offset_of!(MmapPage, aux_size));

    pub(crate) const fn at(offset: usize) -> Self {
        assert!(offset % 8 == 0 && offset + 8 <= size_of::<MmapPage>());
        Self(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_count_beyond_the_address_space_is_refused() {
        let found = 1 << (usize::BITS - 1);
        assert_eq!(bytes_of(found), Err(Error::PageCount { found }));
    }
}
