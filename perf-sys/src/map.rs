//! The memory shared with the kernel: the control page, and the mapping under everything behind it.
//!
//! # Safety
//!
//! This file may use `unsafe` because it maps memory that the kernel writes. A [`Mapping`] gives out
//! bare pointers only, and an [`Area`] the atomics of its control page; what may be borrowed of the
//! rest, and why, is proved in the files below this one.
#![allow(unsafe_code)]

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicU64, Ordering};

use perf_abi::MmapPage;
use rustix::fd::BorrowedFd;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use crate::event::RingClaim;
use crate::{Error, Result};

mod aux;
mod consumer;
#[cfg(test)]
mod kernel;
mod overwrite;

pub(crate) use aux::{AuxConsumer, AuxOverwritten};
pub(crate) use consumer::{Consumer, Position};
#[cfg(test)]
pub(crate) use kernel::Kernel;
pub(crate) use overwrite::Overwritten;

/// The kernel waits for whoever maps like this: it drops new data rather than unread ones.
const WAITS: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);
/// The kernel overwrites the oldest data of whoever maps like this.
const OVERWRITES: ProtFlags = ProtFlags::READ;

/// Whole pages shared with the kernel, unmapped at the end.
#[derive(Debug)]
struct Mapping {
    base: NonNull<c_void>,
    /// Bytes.
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared `Mapping` gives out nothing but pointers.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn of(fd: BorrowedFd<'_>, len: usize, protection: ProtFlags, offset: u64) -> Result<Self> {
        // SAFETY: the kernel chooses the address, so that no memory in use is mapped over.
        let base = unsafe { mmap(null_mut(), len, protection, MapFlags::SHARED, fd, offset) };
        Self::own(base, len)
    }

    /// Pages that no kernel writes: tests play its part.
    #[cfg(test)]
    fn anonymous(len: usize) -> Result<Self> {
        // SAFETY: as in `of`.
        let base = unsafe { rustix::mm::mmap_anonymous(null_mut(), len, WAITS, MapFlags::SHARED) };
        Self::own(base, len)
    }

    fn own(base: rustix::io::Result<*mut c_void>, len: usize) -> Result<Self> {
        // Page 0 is never given without MAP_FIXED; the error is for the type only.
        let base = base.and_then(|base| NonNull::new(base).ok_or(rustix::io::Errno::FAULT));
        Ok(Self { base: base.map_err(Error::of("mmap"))?, len })
    }

    /// Where `offset` bytes behind the start are. To use it is as safe as `offset` is inside.
    fn at<T>(&self, offset: usize) -> *mut T {
        self.base.as_ptr().wrapping_byte_add(offset).cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped, and all borrows of it have ended.
        let unmapped = unsafe { munmap(self.base.as_ptr(), self.len) };
        debug_assert_eq!(unmapped, Ok(()), "munmap of a whole mapping");
    }
}

/// A mapping of whole pages, the first of them a control page.
#[derive(Debug)]
pub(crate) struct Area {
    // Before the claim: another reader may map the ring only after it is unmapped.
    mapping: Mapping,
    _claim: Option<RingClaim>,
}

impl Area {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps an event's
    /// ring so that the kernel waits for the reader.
    pub(crate) fn map(fd: BorrowedFd<'_>, data_pages: usize, claim: RingClaim) -> Result<Self> {
        let mapping = Mapping::of(fd, bytes_of(data_pages)?, WAITS, 0)?;
        Ok(Self { mapping, _claim: Some(claim) })
    }

    /// `mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps an event's control page alone.
    pub(crate) fn map_page(fd: BorrowedFd<'_>) -> Result<Self> {
        Ok(Self { mapping: Mapping::of(fd, page_size(), WAITS, 0)?, _claim: None })
    }

    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ, MAP_SHARED, fd, 0)`—Maps an event's ring so that
    /// the kernel overwrites it. No word of its page may be stored to.
    pub(crate) fn map_overwritten(fd: BorrowedFd<'_>, data_pages: usize, claim: RingClaim) -> Result<Self> {
        let mapping = Mapping::of(fd, bytes_of(data_pages)?, OVERWRITES, 0)?;
        Ok(Self { mapping, _claim: Some(claim) })
    }

    /// An area with a control page that no kernel writes.
    #[cfg(test)]
    pub(crate) fn anonymous(data_pages: usize) -> Result<Self> {
        Ok(Self { mapping: Mapping::anonymous(bytes_of(data_pages)?)?, _claim: None })
    }

    /// One word of the control page. Never a reference to the page: the kernel writes it at any time.
    pub(crate) fn word(&self, PageWord(offset): PageWord) -> &AtomicU64 {
        // SAFETY: the offset of a field of the control page, which is in the first page of the mapping;
        // aligned, because pages are and `PageWord` proves the rest; mapped as long as `self`; this
        // process uses the word only through here.
        unsafe { AtomicU64::from_ptr(self.mapping.at(offset)) }
    }

    /// Where the data are: their first byte, and their length in words, a power of two.
    ///
    /// # Errors
    ///
    /// [`Error::DataArea`] if that is not inside the mapping, or no ring.
    fn data(&self) -> Result<(usize, usize)> {
        let (page, mapped) = (page_size() as u64, self.mapping.len as u64);
        let or_if_0 = |value, old| if value == 0 { old } else { value };
        // Written once, before the mapping was ours. Kernels before 4.1 leave both at 0.
        let offset = or_if_0(self.word(PageWord::DATA_OFFSET).load(Ordering::Relaxed), page);
        let size = or_if_0(self.word(PageWord::DATA_SIZE).load(Ordering::Relaxed), mapped - page);
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

/// Returns the number of data pages for a ring of at least `bytes` bytes: a power of two, or 0 if no
/// address space holds so many.
pub(crate) fn pages_for(bytes: usize) -> usize {
    bytes.div_ceil(page_size()).checked_next_power_of_two().unwrap_or(0)
}

/// The free-running position that the kernel means by `found`, at or after `known`: a 32-bit kernel
/// counts in 32 bits and wraps, and the distance is right on all of them.
fn position(known: u64, found: u64) -> u64 {
    known.wrapping_add(found.wrapping_sub(known) as usize as u64)
}

/// A word of the control page by its place. Holding one proves that it is an aligned `u64` field.
#[derive(Clone, Copy)]
pub(crate) struct PageWord(usize);

impl PageWord {
    pub(crate) const DATA_HEAD: Self = Self::at(offset_of!(MmapPage, data_head));
    pub(crate) const DATA_TAIL: Self = Self::at(offset_of!(MmapPage, data_tail));
    pub(crate) const DATA_OFFSET: Self = Self::at(offset_of!(MmapPage, data_offset));
    pub(crate) const DATA_SIZE: Self = Self::at(offset_of!(MmapPage, data_size));
    pub(crate) const AUX_HEAD: Self = Self::at(offset_of!(MmapPage, aux_head));
    pub(crate) const AUX_TAIL: Self = Self::at(offset_of!(MmapPage, aux_tail));
    pub(crate) const AUX_OFFSET: Self = Self::at(offset_of!(MmapPage, aux_offset));
    pub(crate) const AUX_SIZE: Self = Self::at(offset_of!(MmapPage, aux_size));

    pub(crate) const fn at(offset: usize) -> Self {
        assert!(offset % 8 == 0 && offset + 8 <= size_of::<MmapPage>());
        Self(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_rounded_up_to_a_power_of_two_of_pages() {
        let page = page_size();
        assert_eq!([0, 1, page, page + 1, 5 * page].map(pages_for), [1, 1, 1, 2, 8]);
        assert_eq!(pages_for(usize::MAX), (usize::MAX / page) + 1);
    }

    #[test]
    fn a_page_count_beyond_the_address_space_is_refused() {
        let found = 1 << (usize::BITS - 1);
        assert_eq!(bytes_of(found), Err(Error::PageCount { found }));
    }
}
