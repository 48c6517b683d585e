//! The memory shared with the kernel: the control page and the data behind it.
//!
//! # Safety
//!
//! This file may use `unsafe` because it maps memory that the kernel writes. Everything outside sees
//! two safe types: an [`Area`], whose page fields are atomics, and a [`Consumer`], which lends only
//! those data that the kernel has finished and will not touch before they are given back.
#![allow(unsafe_code)]

use core::mem::offset_of;
use core::ptr::{NonNull, null_mut};
use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

use perf_abi::MmapPage;
use perf_decode::Window;
use rustix::fd::BorrowedFd;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use crate::{Error, Result};

/// A mapping of whole pages, the first of them a control page.
#[derive(Debug)]
pub(crate) struct Area {
    base: NonNull<u64>,
    /// Bytes.
    len: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread.
unsafe impl Send for Area {}
// SAFETY: a shared `Area` gives out nothing but atomics.
unsafe impl Sync for Area {}

impl Area {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps an event's
    /// ring so that the kernel waits for the reader: it drops new records rather than unread ones.
    pub(crate) fn map(fd: BorrowedFd<'_>, data_pages: usize) -> Result<Self> {
        let len = bytes_of(data_pages)?;
        // SAFETY: the kernel chooses the address, so that no memory in use is mapped over.
        let base = unsafe { mmap(null_mut(), len, PROTECTION, MapFlags::SHARED, fd, 0) };
        Self::own(base.map_err(Error::of("mmap"))?, len)
    }

    /// An area with a control page that no kernel writes: tests play its part.
    #[cfg(test)]
    pub(crate) fn anonymous(data_pages: usize) -> Result<Self> {
        use rustix::mm::mmap_anonymous;
        let len = bytes_of(data_pages)?;
        // SAFETY: as in `map`.
        let base = unsafe { mmap_anonymous(null_mut(), len, PROTECTION, MapFlags::SHARED) };
        Self::own(base.map_err(Error::of("mmap"))?, len)
    }

    fn own(base: *mut core::ffi::c_void, len: usize) -> Result<Self> {
        // Page 0 is never given without MAP_FIXED; the error is for the type only.
        let base = NonNull::new(base.cast()).ok_or(Error::of("mmap")(rustix::io::Errno::FAULT))?;
        Ok(Self { base, len })
    }

    /// One word of the control page. Never a reference to the page: the kernel writes it at any time.
    pub(crate) fn word(&self, PageWord(offset): PageWord) -> &AtomicU64 {
        // SAFETY: the offset of a field of the control page, which is in the first page of the mapping.
        let word = unsafe { self.base.byte_add(offset) };
        // SAFETY: aligned, because pages are and `PageWord` proves the rest; mapped as long as `self`;
        // this process uses the word only through here.
        unsafe { AtomicU64::from_ptr(word.as_ptr()) }
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped, and all borrows of it have ended.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
        debug_assert_eq!(unmapped, Ok(()), "munmap of a whole mapping");
    }
}

const PROTECTION: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

fn bytes_of(data_pages: usize) -> Result<usize> {
    let pages = data_pages.checked_add(1);
    let bytes = pages.and_then(|pages| pages.checked_mul(page_size()));
    bytes.ok_or(Error::PageCount { found: data_pages })
}

/// A word of the control page by its place. Holding one proves that it is an aligned `u64` field.
#[derive(Clone, Copy)]
pub(crate) struct PageWord(usize);

impl PageWord {
    pub(crate) const DATA_HEAD: Self = Self::at(offset_of!(MmapPage, data_head));
    pub(crate) const DATA_TAIL: Self = Self::at(offset_of!(MmapPage, data_tail));
    pub(crate) const DATA_OFFSET: Self = Self::at(offset_of!(MmapPage, data_offset));
    pub(crate) const DATA_SIZE: Self = Self::at(offset_of!(MmapPage, data_size));

    const fn at(offset: usize) -> Self {
        assert!(offset % 8 == 0 && offset + 8 <= size_of::<MmapPage>());
        Self(offset)
    }
}

/// The reading side of a ring: what the kernel has written and we have not given back.
///
/// Holding one proves that the data area lies inside the mapping, and that `[tail, head)` is at most
/// the area, was complete when `head` was loaded, and stays as it is until [`release`](Self::release):
/// the kernel writes only outside of what `data_tail` and `data_head` enclose.
#[derive(Debug)]
pub(crate) struct Consumer {
    area: Area,
    /// Where the data start in the area, in bytes.
    offset: usize,
    /// The data's length in words: a power of two.
    words: usize,
    /// What `data_tail` is; free-running like the kernel's, never reduced to the area.
    tail: u64,
    /// What `data_head` was when it was last looked at.
    head: u64,
}

impl Consumer {
    /// Reads from `area` where its control page says the data are.
    ///
    /// # Errors
    ///
    /// [`Error::DataArea`] if that is not inside the mapping, or no ring.
    pub(crate) fn new(area: Area) -> Result<Self> {
        let (page, mapped) = (page_size() as u64, area.len as u64);
        let or_if_0 = |value, old| if value == 0 { old } else { value };
        // Written once, before the mapping was ours. Kernels before 4.1 leave both at 0.
        let offset = or_if_0(area.word(PageWord::DATA_OFFSET).load(Ordering::Relaxed), page);
        let size = or_if_0(area.word(PageWord::DATA_SIZE).load(Ordering::Relaxed), mapped - page);
        let inside = offset.checked_add(size).is_some_and(|end| end <= mapped);
        if !inside || offset < page || offset % 8 != 0 || size < 8 || !size.is_power_of_two() {
            return Err(Error::DataArea { offset, size, mapped: area.len });
        }
        // Nobody but a reader stores data_tail, and that is us; an earlier one may have left off there.
        let tail = area.word(PageWord::DATA_TAIL).load(Ordering::Relaxed);
        Ok(Self { offset: offset as usize, words: size as usize / 8, tail, head: tail, area })
    }

    /// How far the kernel has written, as the page says at this moment.
    fn load_head(&self) -> u64 {
        // Acquire pairs with the write barrier before the kernel's store of data_head: the records up to
        // it are seen whole.
        let head = self.area.word(PageWord::DATA_HEAD).load(Ordering::Acquire);
        // A 32-bit kernel counts in 32 bits and wraps; the distance is right on all of them.
        self.tail.wrapping_add(head.wrapping_sub(self.tail) as usize as u64)
    }

    /// Whether there is anything that [`refresh`](Self::refresh) would find.
    pub(crate) fn has_unread(&self) -> bool {
        self.load_head() != self.tail
    }

    /// Looks how far the kernel has come.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`] if that cannot be; what was known before stays.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let head = self.load_head();
        Window::span(self.words, self.tail, head).map_err(Error::Positions)?;
        self.head = head;
        Ok(())
    }

    /// Bytes between tail and head.
    pub(crate) fn len(&self) -> u64 {
        self.head.wrapping_sub(self.tail)
    }

    /// The window of `[tail + skip, head)`. `skip` is in bytes; too much of it leaves nothing.
    pub(crate) fn window(&self, skip: u64) -> Window<'_> {
        let start = self.tail.wrapping_add(skip.min(self.len()));
        // `refresh` has checked the whole of it, and a part can only fail by its alignment.
        let (start, len) = Window::span(self.words, start, self.head).unwrap_or((0, 0));
        let first = len.min(self.words - start);
        Window::from_slices(self.slice(start, first), self.slice(0, len - first))
    }

    /// `len` words at index `start` of the data area: only for [`window`](Self::window), inside
    /// `[tail, head)`.
    fn slice(&self, start: usize, len: usize) -> &[u64] {
        let offset = self.offset + start * 8;
        // SAFETY: `start <= words`, so this is inside the data area or at its end: inside the mapping.
        let first = unsafe { self.area.base.byte_add(offset) };
        // SAFETY: `start + len <= words`; aligned because page, offset and words are; part of
        // `[tail, head)`, so that the kernel does not write it while `self` is borrowed: only
        // `release`, which borrows `self` alone, gives it back.
        unsafe { slice::from_raw_parts(first.as_ptr(), len) }
    }

    /// Gives the first `bytes` of `[tail, head)` back to the kernel.
    pub(crate) fn release(&mut self, bytes: u64) {
        self.tail = self.tail.wrapping_add(bytes.min(self.len()));
        // Release pairs with the kernel's load of data_tail, on which its writing of new records
        // depends: all our reads of the old ones are done before it sees room.
        self.area.word(PageWord::DATA_TAIL).store(self.tail, Ordering::Release);
    }

    /// Plays the kernel: writes a word of the data area.
    #[cfg(test)]
    pub(crate) fn poke(&mut self, index: usize, value: u64) {
        assert!(index < self.words);
        // SAFETY: inside the data area by the line above.
        let word = unsafe { self.area.base.byte_add(self.offset + index * 8) };
        // SAFETY: `&mut self`: no slice of it is lent.
        unsafe { word.write(value) };
    }

    /// Plays the kernel: the control page.
    #[cfg(test)]
    pub(crate) fn page(&self, word: PageWord) -> &AtomicU64 {
        self.area.word(word)
    }
}

#[cfg(test)]
mod tests;
