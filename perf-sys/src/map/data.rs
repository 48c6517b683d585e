//! The reader's side of a ring in consumer mode, in which the kernel drops new records instead of
//! overwriting unread ones.
//!
//! # Safety
//!
//! This file uses `unsafe` to borrow parts of the shared memory as slices, which must be complete
//! records that the kernel does not write before they are released.
#![allow(unsafe_code)]

use alloc::sync::Arc;
use core::slice;
use core::sync::atomic::Ordering;

use super::{Area, Here, PageWord, position};
use crate::error::{Error, Result};
use crate::event::Event;

/// The reader's side of a mapped ring in which the kernel drops new records while it is full.
///
/// It lends the unread words, from `data_tail` to `data_head`, as two slices.
/// [`refresh`](Self::refresh) loads `data_head`, [`release`](Self::release) stores `data_tail`.
///
/// Holding one proves that the data area lies inside the mapping, that it is the ring's only
/// reader, that `[tail, head)` is at most the area and was complete when `head` was loaded, and
/// that it stays unchanged until it is released, because the kernel writes only outside of it. The
/// only exception are samples of an event that
/// [may overwrite records](Event::may_overwrite_records). A ring for such an event lends nothing
/// and its words are [copied](Self::copy_from).
///
/// The mapping is not inherited across `fork`; see [`Error::Forked`].
///
/// ```no_run
/// use std::sync::Arc;
///
/// use perf_sys::{DataRing, Event};
///
/// fn read(event: &Arc<Event>) -> perf_sys::Result<()> {
///     let mut ring = DataRing::map(event, 8)?; // pages
///     let head = ring.refresh()?;
///     let (first, wrapped) = ring.unread_from(ring.tail());
///     println!("{} words of records", first.len() + wrapped.len());
///     ring.release(head);
///     Ok(())
/// }
/// ```
///
/// A slice borrows the ring, so it cannot be released meanwhile. This does not compile:
///
/// ```compile_fail,E0502
/// fn released_while_borrowed(ring: &mut perf_sys::DataRing) -> u64 {
///     let (words, _) = ring.unread_from(ring.tail());
///     ring.release(8);
///     words[0]
/// }
/// ```
#[derive(Debug)]
pub struct DataRing {
    /// Shared with the reader of an AUX area, whose positions are on the same page.
    area: Arc<Area>,
    /// Offset of the data in the area, in bytes.
    offset: usize,
    /// Length of the data in words, a power of two.
    words: usize,
    /// The published `data_tail`: free-running like the kernel's, never modulo the area.
    tail: u64,
    /// `data_head` as of the last refresh.
    head: u64,
    /// Set if the kernel may overwrite unread records, so that none is lent.
    is_copied: bool,
}

impl DataRing {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps a ring
    /// of `data_pages` pages for `event`.
    ///
    /// # Errors
    ///
    /// [`Error::PageCount`] unless `data_pages` is a power of two, [`Error::WriteBackward`],
    /// [`Error::RingInUse`], [`Error::DataArea`] if the control page is malformed, and
    /// [`Error::System`]: `EPERM` if it is more memory than the user may lock, `ENOMEM` if it is more than there
    /// is or than the kernel allocates at once, `EINVAL` for an inherited event on any CPU (open
    /// one for each CPU), and `EBUSY` for an event whose records are redirected.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "MMAP layout".
    #[doc(alias = "mmap")]
    pub fn map(event: &Arc<Event>, data_pages: usize) -> Result<Self> {
        if !data_pages.is_power_of_two() {
            return Err(Error::PageCount { found: data_pages });
        }
        if event.writes_backward() {
            return Err(Error::WriteBackward);
        }
        let area = Area::map(event, data_pages)?;
        Self::new(Arc::new(area), event.is_copied())
    }

    /// Reads from `area` where its control page says the data are.
    ///
    /// # Errors
    ///
    /// [`Error::DataArea`] if that is not inside the mapping, or no ring.
    pub(crate) fn new(area: Arc<Area>, is_copied: bool) -> Result<Self> {
        let (offset, words) = area.data()?;
        // Only a reader stores data_tail, and this is the only one; an earlier one may have left it
        // anywhere.
        let tail = area.here()?.word(PageWord::DATA_TAIL).load(Ordering::Relaxed);
        Ok(Self { area, offset, words, tail, head: tail, is_copied })
    }

    /// Returns the area for the reader of AUX data, or `None` while there is one.
    pub(super) fn share(&mut self) -> Option<Arc<Area>> {
        Arc::get_mut(&mut self.area)?;
        Some(Arc::clone(&self.area))
    }

    /// Returns the offset of the first byte after the data.
    pub(super) const fn end(&self) -> usize {
        self.offset + self.size()
    }

    /// Returns whether the unread words are only copied: [`unread_from`](Self::unread_from) lends
    /// none.
    #[inline]
    pub const fn is_copied(&self) -> bool {
        self.is_copied
    }

    /// Lends no word from now on, also from later mappings of the event's ring, so that events may
    /// be redirected into it that [may overwrite records](Event::may_overwrite_records).
    pub fn copy_only(&mut self) {
        self.is_copied = true;
        if let Some(claim) = &self.area.claim {
            claim.event().set_copied();
        }
    }

    /// Returns the size of the data area in bytes, a power of two.
    #[inline]
    pub const fn size(&self) -> usize {
        self.words * 8
    }

    /// Returns the position of the first byte that is not released, `data_tail`. Positions are
    /// free-running, in bytes.
    #[inline]
    pub const fn tail(&self) -> u64 {
        self.tail
    }

    /// Returns the position after the last record, `data_head`, as of the last refresh.
    #[inline]
    pub const fn head(&self) -> u64 {
        self.head
    }

    /// Returns [`Error::Forked`] in a child of `fork`, where the other methods find no records.
    pub fn check_process(&self) -> Result<()> {
        self.area.here().map(|_| ())
    }

    /// Loads the kernel's position, without the other checks of [`refresh`](Self::refresh), to test
    /// for new records.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of `fork`.
    #[inline]
    pub fn load_head(&self) -> Result<u64> {
        // Acquire pairs with the write barrier before the kernel's store of data_head: the records
        // up to it are complete.
        let head = self.area.here()?.word(PageWord::DATA_HEAD).load(Ordering::Acquire);
        Ok(position(self.tail, head))
    }

    /// Loads the kernel's position as the end of the unread words, and returns it.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`] if that is not a possible position, and [`Error::Forked`]; the state
    /// stays as it was.
    pub fn refresh(&mut self) -> Result<u64> {
        let (tail, head, size) = (self.tail, self.load_head()?, self.size());
        if (tail | head) % 8 != 0 || head.wrapping_sub(tail) > size as u64 {
            return Err(Error::Positions { tail, head, size });
        }
        self.head = head;
        Ok(head)
    }

    /// Returns the unread words from `position` to the head; those after the end of the data area
    /// are the second slice.
    ///
    /// Both are empty if `position` is not between tail and head, if the ring
    /// [is copied](Self::is_copied), and in a child of `fork`.
    #[inline]
    pub fn unread_from(&self, position: u64) -> (&[u64], &[u64]) {
        if self.is_copied {
            return (&[], &[]);
        }
        let Ok(here) = self.area.here() else { return (&[], &[]) };
        let (start, len) = self.range_from(position);
        let first = len.min(self.words - start);
        (self.slice(here, start, first), self.slice(here, 0, len - first))
    }

    /// Copies the unread words from `position` to the head, each by one atomic load: sound even
    /// while the kernel writes them. None if `position` is not between tail and head, and in a
    /// child of `fork`.
    pub fn copy_from(&self, position: u64) -> impl ExactSizeIterator<Item = u64> {
        let here = self.area.here().ok();
        let (start, len) = here.map_or((0, 0), |_| self.range_from(position));
        let (offset, mask) = (self.offset, self.words - 1);
        (start..start + len)
            .map(move |index| here.map_or(0, |here| here.load_data(offset + (index & mask) * 8)))
    }

    /// Returns the index of the word at `position` in the data, and the number of words up to the
    /// head: 0 if it is not unread.
    #[inline]
    const fn range_from(&self, position: u64) -> (usize, usize) {
        let bytes = self.head.wrapping_sub(position);
        let len = if bytes <= self.head.wrapping_sub(self.tail) { bytes as usize / 8 } else { 0 };
        ((position / 8) as usize & (self.words - 1), len)
    }

    /// Borrows `len` words at index `start` of the data, inside `[tail, head)`. Only for
    /// [`unread_from`](Self::unread_from).
    #[inline]
    fn slice<'r>(&'r self, here: Here<'r>, start: usize, len: usize) -> &'r [u64] {
        let first = here.at(self.offset + start * 8);
        // SAFETY: `start + len <= words`, so this is inside the data area and the mapping; aligned
        // because page, offset and words are; part of `[tail, head)`, which the kernel does not
        // write before it is released, because no event writes here that may overwrite records, and
        // `release` needs the ring exclusively, which `'r` borrows.
        unsafe { slice::from_raw_parts(first, len) }
    }

    /// Stores `data_tail`: the kernel may overwrite all words before `to`. Does nothing if `to` is
    /// not a multiple of 8 between tail and head.
    pub fn release(&mut self, to: u64) {
        let is_unread = to.wrapping_sub(self.tail) <= self.head.wrapping_sub(self.tail);
        if to == self.tail || to % 8 != 0 || !is_unread {
            return;
        }
        let Ok(here) = self.area.here() else { return };
        self.tail = to;
        // Release pairs with the kernel's load of data_tail, on which its stores of new records
        // depend: all reads of the old ones are done before it sees the free space.
        here.word(PageWord::DATA_TAIL).store(to, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::page_size;
    use crate::testing::SimulatedKernel;

    /// Returns a ring of one data page whose control page names this data area.
    fn ring_at(offset: u64, size: u64) -> Result<DataRing> {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_OFFSET).store(offset, Ordering::Relaxed);
        area.word(PageWord::DATA_SIZE).store(size, Ordering::Relaxed);
        DataRing::new(Arc::new(area), false)
    }

    fn page() -> u64 {
        page_size() as u64
    }

    fn ring() -> (SimulatedKernel, DataRing) {
        SimulatedKernel::new(1).unwrap()
    }

    #[test]
    fn zeros_of_an_old_kernel_mean_the_rest_of_the_mapping() {
        for (offset, size, words) in [(page(), 2048, 256), (0, 0, page_size() / 8)] {
            let found = ring_at(offset, size).unwrap();
            assert_eq!((found.offset as u64, found.words), (page(), words));
        }
        let found = DataRing::new(Arc::new(Area::anonymous(0).unwrap()), false).unwrap_err();
        assert_eq!(found, Error::DataArea { offset: page(), size: 0, mapped: page_size() });
    }

    #[test]
    fn invalid_data_area_is_refused() {
        let impossible = [
            (page(), page() * 2), // longer than the mapping
            (page() * 2, page()), // after it
            (u64::MAX - 7, 16),   // wraps
            (64, 2048),           // on the control page
            (page() + 4, 2048),   // not aligned
            (page(), 24),         // not a power of two
            (page(), 4),          // less than a word
        ];
        for (offset, size) in impossible {
            let mapped = 2 * page_size();
            assert_eq!(ring_at(offset, size).unwrap_err(), Error::DataArea { offset, size, mapped });
        }
    }

    /// Returns the unread words from a position, borrowed, and checks that a copy has the same.
    fn words(ring: &DataRing, position: u64) -> Vec<u64> {
        let (first, second) = ring.unread_from(position);
        let words = [first, second].concat();
        assert!(ring.copy_from(position).eq(words.iter().copied()));
        words
    }

    #[test]
    fn only_unread_words_are_borrowed() {
        let (mut kernel, mut ring) = ring();
        kernel.write_words(&[1, 0, 3]);
        assert_eq!(words(&ring, 0), [0; 0], "nothing before the first refresh");
        assert_eq!(ring.refresh(), Ok(24));
        kernel.write_words(&[4]);
        assert_eq!(words(&ring, 0), [1, 0, 3]);
        assert_eq!(words(&ring, 16), [3]);
        ring.release(16);
        for not_unread in [8, 24, 32, u64::MAX] {
            assert_eq!(words(&ring, not_unread), [0; 0], "{not_unread}");
        }
        assert_eq!(words(&ring, 16), [3]);
    }

    #[test]
    fn ring_that_is_copied_lends_nothing() {
        let (mut kernel, mut ring) = ring();
        kernel.write_words(&[1, 2]);
        ring.refresh().unwrap();
        ring.copy_only();
        assert_eq!((ring.is_copied(), ring.unread_from(0)), (true, (&[][..], &[][..])));
        assert!(ring.copy_from(0).eq([1, 2]));
    }

    #[test]
    fn tail_is_free_running() {
        let (mut kernel, mut ring) = ring();
        kernel.publish(page());
        let head = ring.refresh().unwrap();
        ring.release(head);
        kernel.write_words(&[0, 7]);
        ring.refresh().unwrap();
        assert_eq!((words(&ring, page()), kernel.tail()), (vec![0, 7], page()));
        ring.release(page() + 16);
        assert_eq!(kernel.tail(), page() + 16);
    }

    #[test]
    fn unread_words_wrap_and_are_copied_in_order() {
        let (mut kernel, mut ring) = ring();
        kernel.publish(page() - 16);
        let head = ring.refresh().unwrap();
        ring.release(head);
        kernel.write_words(&[1, 2, 3]);
        ring.refresh().unwrap();
        assert_eq!(ring.unread_from(page() - 16), (&[1, 2][..], &[3][..]));
        assert_eq!(ring.unread_from(page() - 8), (&[2][..], &[3][..]));
        assert_eq!((words(&ring, page() - 16), ring.copy_from(page()).len()), (vec![1, 2, 3], 1));
    }

    #[test]
    fn second_reader_continues_at_the_tail_of_the_first() {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_TAIL).store(48, Ordering::Relaxed);
        area.word(PageWord::DATA_HEAD).store(56, Ordering::Relaxed);
        let mut ring = DataRing::new(Arc::new(area), false).unwrap();
        assert_eq!((ring.tail(), ring.load_head(), ring.refresh()), (48, Ok(56), Ok(56)));
    }

    #[test]
    fn positions_may_wrap_at_64_bits() {
        let area = Area::anonymous(1).unwrap();
        let tail = 0_u64.wrapping_sub(16);
        area.word(PageWord::DATA_TAIL).store(tail, Ordering::Relaxed);
        area.word(PageWord::DATA_HEAD).store(8, Ordering::Relaxed);
        let mut ring = DataRing::new(Arc::new(area), false).unwrap();
        assert_eq!(ring.refresh(), Ok(8), "a head that wrapped is not before its tail");
        assert_eq!(words(&ring, tail).len(), 3);
        ring.release(8);
        assert_eq!((ring.tail(), ring.load_head()), (8, Ok(8)));
    }

    #[test]
    fn invalid_head_keeps_the_last_valid_one() {
        let (mut kernel, mut ring) = ring();
        kernel.publish(8);
        ring.refresh().unwrap();
        for head in [12, page() + 8, u64::MAX] {
            kernel.publish(head);
            assert!(matches!(ring.refresh(), Err(Error::Positions { tail: 0, .. })), "{head}");
            assert_eq!(ring.head(), 8);
        }
    }

    #[test]
    fn only_whole_unread_words_are_released() {
        let (mut kernel, mut ring) = ring();
        kernel.publish(16);
        ring.refresh().unwrap();
        for not_unread in [24, 12, u64::MAX, 0] {
            ring.release(not_unread);
            assert_eq!((kernel.tail(), ring.tail()), (0, 0), "{not_unread}");
        }
        ring.release(16);
        assert_eq!((kernel.tail(), ring.tail()), (16, 16));
    }

    #[test]
    fn child_of_a_fork_finds_and_releases_nothing() {
        let (mut kernel, mut ring) = ring();
        kernel.write_words(&[1, 2]);
        ring.refresh().unwrap();
        assert!(crate::child::in_child(|| {
            ring.release(8);
            let is_empty = ring.unread_from(0).0.is_empty() && ring.copy_from(0).len() == 0;
            is_empty && ring.refresh() == Err(Error::Forked)
        }));
        assert_eq!((kernel.tail(), words(&ring, 0)), (0, vec![1, 2]));
    }
}
