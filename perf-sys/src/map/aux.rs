//! The readers of an AUX area, which a trace unit writes beside the ring.
//!
//! # Safety
//!
//! This file may use `unsafe` because it borrows or copies parts of an area that hardware writes.
//! Only bytes between `aux_tail` and `aux_head` are borrowed, because the hardware does not write
//! them before they are released. Bytes that may be overwritten are copied by atomic loads.
#![allow(unsafe_code)]

use core::slice;
use core::sync::atomic::{AtomicU8, Ordering, fence};
use std::sync::Arc;

use super::page_size;
use rustix::mm::ProtFlags;
use std::os::fd::BorrowedFd;

use super::{Area, Here, Mapping, OVERWRITES, PageWord, WAITS, position};
use crate::error::{Error, Result};

/// Stores offset and size of the AUX area in the control page, as the kernel requires, and maps it.
fn map(page: &Area, fd: BorrowedFd<'_>, offset: usize, pages: usize, mode: ProtFlags) -> Result<Mapping> {
    let len = pages.checked_mul(page_size()).filter(|_| pages.is_power_of_two());
    let len = len.ok_or(Error::PageCount { found: pages })?;
    let here = page.here()?;
    here.word(PageWord::AUX_OFFSET).store(offset as u64, Ordering::Relaxed);
    here.word(PageWord::AUX_SIZE).store(len as u64, Ordering::Relaxed);
    Mapping::of(fd, len, mode, offset as u64)
}

/// The reader of an area that the hardware does not overwrite.
///
/// The length of the area in bytes is a power of two, and only this value stores `aux_tail`.
#[derive(Debug)]
pub(crate) struct AuxConsumer {
    data: Mapping,
    /// The value of `aux_tail`, free-running, never taken modulo the area.
    tail: u64,
    page: Arc<Area>,
}

impl AuxConsumer {
    pub(crate) fn map(page: Arc<Area>, fd: BorrowedFd<'_>, offset: usize, pages: usize) -> Result<Self> {
        let data = map(&page, fd, offset, pages, WAITS)?;
        Self::new(page, data)
    }

    fn new(page: Arc<Area>, data: Mapping) -> Result<Self> {
        // An earlier reader may have stored it.
        let tail = page.here()?.word(PageWord::AUX_TAIL).load(Ordering::Relaxed);
        Ok(Self { data, tail, page })
    }

    /// As [`map`](Self::map), on anonymous pages. The test writes `page`.
    #[cfg(test)]
    pub(crate) fn anonymous(page: Arc<Area>, content: &[u8]) -> Result<Self> {
        Self::new(page, filled(content)?)
    }

    /// Returns the unread range, `[tail, head)`.
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if it is longer than the area.
    pub(crate) fn unread(&self) -> Result<(u64, u64)> {
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

    /// Returns the `size` bytes from `offset`, a position as the kernel counts it. They continue in the
    /// second slice if they wrap at the end of the area.
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] unless all of them are unread.
    pub(crate) fn slices(&self, offset: u64, size: u64) -> Result<(&[u8], &[u8])> {
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
        // SAFETY: `start + len` is at most the area's length; part of `[tail, head)`, which the hardware
        // does not write while the consumer is borrowed, because `release` needs it mutably.
        unsafe { slice::from_raw_parts(first, len) }
    }

    /// Releases everything before `to`, a position as the kernel counts it. Does nothing if it is not
    /// between tail and head.
    pub(crate) fn release(&mut self, to: u64) -> Result<()> {
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

/// An area mapped for reading only, which the hardware overwrites.
#[derive(Debug)]
pub(crate) struct AuxOverwritten {
    data: Mapping,
    page: Arc<Area>,
}

impl AuxOverwritten {
    pub(crate) fn map(page: Arc<Area>, fd: BorrowedFd<'_>, offset: usize, pages: usize) -> Result<Self> {
        Ok(Self { data: map(&page, fd, offset, pages, OVERWRITES)?, page })
    }

    /// As [`map`](Self::map), on anonymous pages. The test writes `page`.
    #[cfg(test)]
    pub(crate) fn anonymous(page: Arc<Area>, content: &[u8]) -> Result<Self> {
        Ok(Self { data: filled(content)?, page })
    }

    /// Returns the length of the area in bytes.
    pub(crate) fn len(&self) -> usize {
        self.data.len
    }

    /// Copies the bytes before `aux_head`, at most the length of `copy` and of the area, and returns
    /// their number and the head.
    pub(crate) fn copy(&self, copy: &mut [u8]) -> Result<(usize, u64)> {
        // Unlike the area, the control page is mapped for writing.
        let head = self.page.here()?.word(PageWord::AUX_HEAD).load(Ordering::Acquire);
        let here = self.data.here()?;
        let len = copy.len().min(self.data.len);
        let start = (head as usize).wrapping_sub(len);
        for (index, to) in copy.iter_mut().take(len).enumerate() {
            let byte = here.at(start.wrapping_add(index) & (self.data.len - 1));
            // SAFETY: inside the area, mapped as long as `self`; this process never writes it. On all
            // targets std allows a relaxed load of a byte from pages mapped for reading only.
            *to = unsafe { AtomicU8::from_ptr(byte) }.load(Ordering::Relaxed);
        }
        fence(Ordering::Acquire);
        Ok((len, head))
    }
}

/// Returns anonymous pages that begin with `content`.
#[cfg(test)]
fn filled(content: &[u8]) -> Result<Mapping> {
    let data = Mapping::anonymous(content.len().next_multiple_of(page_size()))?;
    for (index, &byte) in content.iter().enumerate() {
        let at: *mut u8 = data.here()?.at(index);
        // SAFETY: inside the mapping, to which nothing else refers yet.
        unsafe { at.write(byte) };
    }
    Ok(data)
}
