//! The memory shared with the programs: the mappings of a ring buffer map, and the reader's side of
//! its protocol.
//!
//! # Safety
//!
//! The files of this folder may use `unsafe` because they map and borrow memory that the kernel
//! writes. Each file states its obligations.
#![allow(unsafe_code)]

use core::sync::atomic::{Ordering, fence};

use perf_ring::Errno;
use perf_ring::decode::Window;
use perf_ring::sys::{Error as SysError, page_size};
use std::os::fd::BorrowedFd;

use crate::error::{Error, Result};

mod pages;
mod unread;
mod walk;

use pages::{Here, Pages, refused};
use unread::{BUSY, Unread};
pub use walk::BorrowedRingBufRecords;
pub(in crate::ringbuf) use walk::Walk;

/// The two mappings of a ring buffer map, and the reader's positions.
///
/// Holding one proves that `kernel_pages` maps a page and twice the data, that
/// `published <= next <= head`, and that `[published, head)` is at most the data. If the map has no
/// other reader, the committed records in it stay unchanged until [`release`](Self::release),
/// because the kernel writes only outside of it and a program cannot write committed records.
#[derive(Debug)]
pub(in crate::ringbuf) struct Consumer {
    /// The page with the reader's position.
    reader_page: Pages,
    /// The page with the kernel's position, and the data twice, so that no record wraps.
    kernel_pages: Pages,
    /// Length of the data in bytes, a power of two.
    size: usize,
    /// The published position, free-running. Another value in the consumer's page comes from
    /// another reader.
    published: u64,
    /// Position of the first record that was not consumed.
    next: u64,
    /// The kernel's position as of the last refresh.
    head: u64,
}

impl Consumer {
    /// Maps both parts of a ring buffer map with `size` bytes of data.
    ///
    /// The caller proves by `BPF_OBJ_GET_INFO_BY_FD` that `fd` is such a map and not one that the
    /// kernel overwrites, and is its only reader in this process.
    pub(in crate::ringbuf) fn map(fd: BorrowedFd<'_>, size: usize) -> Result<Self> {
        // A 32-bit big-endian program cannot know whether the kernel's positions have 32 or 64
        // bits.
        if cfg!(all(target_pointer_width = "32", target_endian = "big")) {
            return Err(refused(Errno::EOPNOTSUPP));
        }
        let page = page_size();
        let both = size.checked_mul(2).and_then(|both| both.checked_add(page));
        let both = both.ok_or(refused(Errno::ENOMEM))?;
        let reader_page = Pages::map(fd, page, Pages::WRITABLE, 0)?;
        let kernel_pages = Pages::map(fd, both, Pages::READ_ONLY, page)?;
        // Only readers store this position.
        let next = reader_page.here()?.position().load(Ordering::Relaxed);
        Ok(Self { reader_page, kernel_pages, size, published: next, next, head: next })
    }

    /// Returns the size of the data in bytes.
    pub(in crate::ringbuf) const fn size(&self) -> usize {
        self.size
    }

    /// Returns [`Forked`](perf_ring::sys::Error::Forked) in a child of `fork`.
    pub(in crate::ringbuf) fn check_here(&self) -> Result<()> {
        self.kernel_pages.here().map(|_| ())
    }

    /// Returns the number of bytes from the first record that was not consumed to the kernel's
    /// position as of the last refresh, with headers.
    pub(in crate::ringbuf) const fn len(&self) -> u64 {
        self.head.wrapping_sub(self.next)
    }

    /// Loads the kernel's position, as a free-running position of 64 bits at or after `next`: a
    /// 32-bit kernel counts modulo 2^32, and the distance between two positions is right on all
    /// kernels.
    fn load_head(&self, here: Here<'_>) -> u64 {
        // Orders the store of the reader's position before this load. The kernel commits a record
        // by `xchg` and then loads the reader's position: either this load finds the record, or the
        // kernel finds that the reader has reached it and wakes the reader (`bpf_ringbuf_commit`).
        fence(Ordering::SeqCst);
        let distance = here.load_position().wrapping_sub(self.next) as usize;
        let head = self.next.wrapping_add(distance as u64);
        // Acquire pairs with the kernel's release of its position: the busy bits of the records
        // before it are set.
        fence(Ordering::Acquire);
        head
    }

    /// Returns the position in the consumer's page, which other readers may have stored.
    fn stored(&self) -> Result<u64> {
        // Relaxed: the records are read anew from this position, after an acquire of the kernel's.
        Ok(self.reader_page.here()?.position().load(Ordering::Relaxed))
    }

    /// Loads the kernel's position as the end of the records to read.
    ///
    /// # Errors
    ///
    /// [`Error::RingBufShared`] if another reader has released records; the next call starts there.
    /// [`Error::Event`] if the kernel's position is not a possible one, or in a child of `fork`;
    /// the state stays as it was.
    pub(in crate::ringbuf) fn refresh(&mut self) -> Result<()> {
        let (expected, found) = (self.published, self.stored()?);
        if found != expected {
            // All three, so that nothing is unread before the distance to the kernel's position is
            // checked.
            (self.published, self.next, self.head) = (found, found, found);
            return Err(Error::RingBufShared { expected, found });
        }
        let head = self.load_head(self.kernel_pages.here()?);
        let (tail, size) = (self.published, self.size);
        Window::span(size / 8, tail, head).map_err(|_| SysError::Positions { tail, head, size })?;
        self.head = head;
        Ok(())
    }

    /// Returns whether the first unread record is committed or discarded, so that a batch consumes
    /// it, or there is another reader, which [`refresh`](Self::refresh) reports.
    pub(in crate::ringbuf) fn has_committed(&self) -> bool {
        let Ok(here) = self.kernel_pages.here() else { return false };
        let head = self.load_head(here);
        let is_committed = || Unread::new(Some(here), self.size, head).header(self.next) & BUSY == 0;
        self.stored().ok() != Some(self.published) || head != self.next && is_committed()
    }

    /// Returns a walk over the records up to the position of the last refresh, which consumes them.
    #[inline]
    pub(in crate::ringbuf) fn walk<'c>(&'c mut self, discarded: &'c mut u64) -> Walk<'c> {
        let here = self.kernel_pages.here().ok();
        Walk::new(Unread::new(here, self.size, self.head), &mut self.next, discarded)
    }

    /// Publishes `next` as the reader's position, unless there is another reader. The kernel may
    /// then overwrite everything before it.
    pub(in crate::ringbuf) fn release(&mut self) {
        if self.next == self.published {
            return;
        }
        let Ok(here) = self.reader_page.here() else { return };
        // Release pairs with the kernel's acquire load of this position: all reads of the old
        // records are done before it sees the free space. A 32-bit kernel takes the lower half. A
        // plain store could move the position of another reader back, before records that the
        // kernel has overwritten.
        let position = here.position();
        if position.compare_exchange(self.published, self.next, Ordering::Release, Ordering::Relaxed).is_ok()
        {
            self.published = self.next;
        }
    }
}

#[cfg(test)]
mod writer;
#[cfg(test)]
pub(in crate::ringbuf) use writer::Writer;
