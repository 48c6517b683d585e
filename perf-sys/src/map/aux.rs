//! The reading sides of an AUX area: the bytes that a trace unit writes beside the ring.
//!
//! # Safety
//!
//! This file may use `unsafe` because it lends parts of an area that hardware writes, or copies them.
//! What is lent lies between `aux_tail` and `aux_head`, where nothing is written before it is given
//! back; what can be overwritten is copied by atomic loads.
#![allow(unsafe_code)]

use core::slice;
use core::sync::atomic::{AtomicU8, Ordering, fence};
use std::sync::Arc;

use rustix::mm::ProtFlags;
use rustix::param::page_size;
use std::os::fd::BorrowedFd;

use super::{Area, Mapping, OVERWRITES, PageWord, WAITS, position};
use crate::{Error, Result};

/// Tells the kernel, by the control page, that the AUX area begins `offset` bytes into the event's
/// file, and maps it there.
fn map(page: &Area, fd: BorrowedFd<'_>, offset: usize, pages: usize, mode: ProtFlags) -> Result<Mapping> {
    let len = pages.checked_mul(page_size()).filter(|_| pages.is_power_of_two());
    let len = len.ok_or(Error::PageCount { found: pages })?;
    page.word(PageWord::AUX_OFFSET).store(offset as u64, Ordering::Relaxed);
    page.word(PageWord::AUX_SIZE).store(len as u64, Ordering::Relaxed);
    Mapping::of(fd, len, mode, offset as u64)
}

/// The reading side of an area whose writer waits for it.
///
/// Holding one proves that the area is a power of two of bytes, and that nobody else moves `aux_tail`.
#[derive(Debug)]
pub(crate) struct AuxConsumer {
    data: Mapping,
    /// What `aux_tail` is; free-running, never reduced to the area.
    tail: u64,
    page: Arc<Area>,
}

impl AuxConsumer {
    pub(crate) fn map(page: Arc<Area>, fd: BorrowedFd<'_>, offset: usize, pages: usize) -> Result<Self> {
        let data = map(&page, fd, offset, pages, WAITS)?;
        Ok(Self::new(page, data))
    }

    fn new(page: Arc<Area>, data: Mapping) -> Self {
        // As for data_tail: an earlier reader may have left off there.
        let tail = page.word(PageWord::AUX_TAIL).load(Ordering::Relaxed);
        Self { data, tail, page }
    }

    /// As [`map`](Self::map), on pages of its own; `page` is played by the test.
    #[cfg(test)]
    pub(crate) fn anonymous(page: Arc<Area>, content: &[u8]) -> Result<Self> {
        let data = filled(content)?;
        Ok(Self::new(page, data))
    }

    /// `[tail, head)` as it is now.
    ///
    /// # Errors
    ///
    /// [`Error::AuxRange`] if it cannot be that.
    pub(crate) fn unread(&self) -> Result<(u64, u64)> {
        // Acquire pairs with the barrier before the kernel's store of aux_head: the trace up to it is
        // there.
        let head = position(self.tail, self.page.word(PageWord::AUX_HEAD).load(Ordering::Acquire));
        let size = head.wrapping_sub(self.tail);
        if size > self.data.len as u64 {
            return Err(Error::AuxRange { offset: self.tail, size, tail: self.tail, head });
        }
        Ok((self.tail, head))
    }

    /// The `size` bytes from `offset`, free-running as the kernel counts it, which go on at the area's start if the first
    /// slice does not hold them all.
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
        Ok((self.slice(start, first), self.slice(0, len - first)))
    }

    /// Only for [`slices`](Self::slices), inside `[tail, head)`.
    fn slice(&self, start: usize, len: usize) -> &[u8] {
        let first = self.data.at(start);
        // SAFETY: `start + len` is at most the area's length; part of `[tail, head)`, which the hardware
        // does not write while `self` is borrowed: only `release`, which borrows `self` alone, gives it
        // back.
        unsafe { slice::from_raw_parts(first, len) }
    }

    /// Gives everything before `to` back, as the kernel counts; a `to` that is not between tail and head changes nothing.
    pub(crate) fn release(&mut self, to: u64) -> Result<()> {
        let (tail, head) = self.unread()?;
        let to = position(tail, to);
        if to.wrapping_sub(tail) <= head.wrapping_sub(tail) {
            self.tail = to;
            // Release pairs with the kernel's load of aux_tail, on which the hardware's room depends:
            // our reads are done before it sees any.
            self.page.word(PageWord::AUX_TAIL).store(to, Ordering::Release);
        }
        Ok(())
    }
}

/// An area mapped for reading only: the hardware runs in circles over it.
#[derive(Debug)]
pub(crate) struct AuxOverwritten {
    data: Mapping,
    page: Arc<Area>,
}

impl AuxOverwritten {
    pub(crate) fn map(page: Arc<Area>, fd: BorrowedFd<'_>, offset: usize, pages: usize) -> Result<Self> {
        Ok(Self { data: map(&page, fd, offset, pages, OVERWRITES)?, page })
    }

    /// As [`map`](Self::map), on pages of its own; `page` is played by the test.
    #[cfg(test)]
    pub(crate) fn anonymous(page: Arc<Area>, content: &[u8]) -> Result<Self> {
        Ok(Self { data: filled(content)?, page })
    }

    /// Bytes in the area.
    pub(crate) fn len(&self) -> usize {
        self.data.len
    }

    /// Copies what lies before `aux_head`, as much as `copy` holds and at most the area, and returns the
    /// number of bytes and the head.
    pub(crate) fn copy(&self, copy: &mut [u8]) -> (usize, u64) {
        let head = self.page.word(PageWord::AUX_HEAD).load(Ordering::Acquire);
        let len = copy.len().min(self.data.len);
        let start = (head as usize).wrapping_sub(len);
        for (index, to) in copy.iter_mut().take(len).enumerate() {
            let byte = self.data.at(start.wrapping_add(index) & (self.data.len - 1));
            // SAFETY: inside the area, mapped as long as `self`; this process never writes it. A relaxed
            // load of a byte is allowed on pages mapped for reading only.
            *to = unsafe { AtomicU8::from_ptr(byte) }.load(Ordering::Relaxed);
        }
        fence(Ordering::Acquire);
        (len, head)
    }
}

/// Pages with this at their start.
#[cfg(test)]
fn filled(content: &[u8]) -> Result<Mapping> {
    let data = Mapping::anonymous(content.len().next_multiple_of(page_size()))?;
    for (index, &byte) in content.iter().enumerate() {
        // SAFETY: inside the mapping, which nobody else knows yet.
        unsafe { data.at::<u8>(index).write(byte) };
    }
    Ok(data)
}
