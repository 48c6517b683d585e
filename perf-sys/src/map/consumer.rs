//! The reading side of a ring whose writer waits for it.
//!
//! # Safety
//!
//! This file may use `unsafe` because it lends parts of the shared memory as slices: only what the
//! kernel has finished and will not touch before it is given back.
#![allow(unsafe_code)]

use core::slice;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use perf_decode::Window;

use super::{Area, Here, PageWord, position};
use crate::{Error, Result};

/// The reading side of a ring: what the kernel has written and we have not given back.
///
/// Holding one proves that the data area lies inside the mapping, and that `[tail, head)` is at most
/// the area, was complete when `head` was loaded, and stays as it is until [`release`](Self::release):
/// the kernel writes only outside of what `data_tail` and `data_head` enclose.
#[derive(Debug)]
pub(crate) struct Consumer {
    /// Shared with the reader of an AUX area, whose positions are on the same page.
    area: Arc<Area>,
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
    pub(crate) fn new(area: Arc<Area>) -> Result<Self> {
        let (offset, words) = area.data()?;
        // Nobody but a reader stores data_tail, and that is us; an earlier one may have left off there.
        let tail = area.here()?.word(PageWord::DATA_TAIL).load(Ordering::Relaxed);
        Ok(Self { area, offset, words, tail, head: tail })
    }

    /// The area for a second reader, of AUX data; `None` while there is one already.
    pub(crate) fn share(&mut self) -> Option<Arc<Area>> {
        Arc::get_mut(&mut self.area)?;
        Some(Arc::clone(&self.area))
    }

    /// The first byte of the mapping that no data is in.
    pub(crate) fn end(&self) -> usize {
        self.offset + self.words * 8
    }

    /// Returns [`Error::Forked`] in a child of `fork`, where every other method finds nothing.
    pub(crate) fn check_here(&self) -> Result<()> {
        self.area.here().map(|_| ())
    }

    /// How far the kernel has written, as the page says at this moment.
    pub(crate) fn load_head(&self) -> u64 {
        let Ok(here) = self.area.here() else { return self.tail };
        // Acquire pairs with the write barrier before the kernel's store of data_head: the records up to
        // it are seen whole.
        position(self.tail, here.word(PageWord::DATA_HEAD).load(Ordering::Acquire))
    }

    /// Whether there is anything that [`refresh`](Self::refresh) would find.
    pub(crate) fn has_unread(&self) -> bool {
        self.load_head() != self.tail
    }

    /// Whether at least half of the area is unread.
    pub(crate) fn is_half_full(&self) -> bool {
        self.load_head().wrapping_sub(self.tail) >= self.words as u64 * 4
    }

    /// Looks how far the kernel has come.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`] if that cannot be, [`Error::Forked`]; what was known before stays.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        self.check_here()?;
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
        let Ok(here) = self.area.here() else { return Window::from_slices(&[], &[]) };
        let start = self.tail.wrapping_add(skip.min(self.len()));
        // `refresh` has checked the whole of it, and a part can only fail by its alignment.
        let (start, len) = Window::span(self.words, start, self.head).unwrap_or((0, 0));
        let first = len.min(self.words - start);
        Window::from_slices(self.slice(here, start, first), self.slice(here, 0, len - first))
    }

    /// `len` words at index `start` of the data area: only for [`window`](Self::window), inside
    /// `[tail, head)`.
    fn slice(&self, here: Here<'_>, start: usize, len: usize) -> &[u64] {
        let first = here.at(self.offset + start * 8);
        // SAFETY: `start + len <= words`, so this is inside the data area and the mapping; aligned
        // because page, offset and words are; part of `[tail, head)`, so that the kernel does not write
        // it while `self` is borrowed: only `release`, which borrows `self` alone, gives it back.
        unsafe { slice::from_raw_parts(first, len) }
    }

    /// Gives the first `bytes` of `[tail, head)` back to the kernel.
    pub(crate) fn release(&mut self, bytes: u64) {
        let Ok(here) = self.area.here() else { return };
        self.tail = self.tail.wrapping_add(bytes.min(self.len()));
        // Release pairs with the kernel's load of data_tail, on which its writing of new records
        // depends: all our reads of the old ones are done before it sees room.
        here.word(PageWord::DATA_TAIL).store(self.tail, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
