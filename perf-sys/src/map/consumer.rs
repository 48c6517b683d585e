//! The reader's side of a ring in consumer mode, in which the kernel drops new records instead of
//! overwriting unread ones.
//!
//! # Safety
//!
//! This file uses `unsafe` to borrow parts of the shared memory as slices, which must be complete
//! records that the kernel does not write before they are released.
#![allow(unsafe_code)]

use core::slice;
use core::sync::atomic::Ordering;
use std::sync::Arc;

use perf_decode::Window;

use super::{Area, Here, PageWord, position};
use crate::error::{Error, Result};

/// The reader's side of a ring.
///
/// Holding one proves that the data area lies inside the mapping, that `tail <= next <= head`, that
/// `[tail, head)` is at most the area and was complete when `head` was loaded, and that it stays as it
/// is until [`release`](Self::release), because the kernel writes only outside of `[data_tail,
/// data_head)`. The kernel itself violates the last point for software events of one kind that sample
/// different numbers of registers (`docs/kernel-errata.md`). `RegistersClaim` excludes them in this
/// process; [`copy`](Self::copy) is sound also if another process has opened one.
#[derive(Debug)]
pub(crate) struct Consumer {
    /// Shared with the reader of an AUX area, whose positions are on the same page.
    area: Arc<Area>,
    /// Offset of the data in the area, in bytes.
    offset: usize,
    /// Length of the data in words, a power of two.
    words: usize,
    /// The published `data_tail`: free-running like the kernel's, never modulo the area.
    tail: u64,
    /// Position of the first record that was not consumed.
    next: u64,
    /// `data_head` as of the last refresh.
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
        // Only a reader stores data_tail, and this is the only one; an earlier one may have left it
        // anywhere.
        let tail = area.here()?.word(PageWord::DATA_TAIL).load(Ordering::Relaxed);
        Ok(Self { area, offset, words, tail, next: tail, head: tail })
    }

    /// Returns the area for the reader of AUX data, or `None` while there is one.
    pub(crate) fn share(&mut self) -> Option<Arc<Area>> {
        Arc::get_mut(&mut self.area)?;
        Some(Arc::clone(&self.area))
    }

    /// Returns the size of the data area in bytes.
    pub(crate) const fn data_size(&self) -> usize {
        self.words * 8
    }

    /// Returns the offset of the first byte after the data.
    pub(crate) fn end(&self) -> usize {
        self.offset + self.data_size()
    }

    /// Returns [`Error::Forked`] in a child of `fork`, where the other methods find no records.
    pub(crate) fn check_here(&self) -> Result<()> {
        self.area.here().map(|_| ())
    }

    /// Loads the kernel's position; `next` in a child of `fork`.
    pub(crate) fn load_head(&self) -> u64 {
        let Ok(here) = self.area.here() else { return self.next };
        // Acquire pairs with the write barrier before the kernel's store of data_head: the records up
        // to it are complete.
        position(self.tail, here.word(PageWord::DATA_HEAD).load(Ordering::Acquire))
    }

    /// Returns the position of the first record that was not consumed.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the kernel's position as of the last refresh.
    pub(crate) const fn head(&self) -> u64 {
        self.head
    }

    /// Returns whether a refresh would find unread records.
    pub(crate) fn has_unread(&self) -> bool {
        self.load_head() != self.next
    }

    /// Returns whether at least half of the area is not released.
    pub(crate) fn is_half_full(&self) -> bool {
        self.load_head().wrapping_sub(self.tail) >= self.words as u64 * 4
    }

    /// Loads the kernel's position as the end of the unread records.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`] if that is not a possible position, and [`Error::Forked`]; the state stays as
    /// it was.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        self.check_here()?;
        let head = self.load_head();
        Window::span(self.words, self.tail, head).map_err(Error::Positions)?;
        self.head = head;
        Ok(())
    }

    /// Returns the number of unread bytes as of the last refresh.
    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.head.wrapping_sub(self.next)
    }

    /// Returns the unread records, and `next` for the one who consumes them.
    #[inline]
    pub(crate) fn parts(&mut self) -> (Unread<'_>, Position<'_>) {
        let here = self.area.here().ok();
        let (start, len) = (self.index(), self.len() as usize / 8);
        let unread = Unread { here, offset: self.offset, words: self.words, start, len };
        (unread, Position { next: &mut self.next, head: self.head })
    }

    /// Index of the word at `next`.
    #[inline]
    fn index(&self) -> usize {
        (self.next / 8) as usize & (self.words - 1)
    }

    /// Appends the unread words to `copy`, each by one atomic load: sound even while the kernel writes
    /// them.
    pub(crate) fn copy(&self, copy: &mut Vec<u64>) {
        let Ok(here) = self.area.here() else { return };
        let (start, len) = (self.index(), self.len() as usize / 8);
        let words = start..start + len;
        let mask = self.words - 1;
        copy.extend(words.map(|index| here.load_data(self.offset + (index & mask) * 8)));
    }

    /// Returns the unread words from the free-running word index `at`, modulo 2^32.
    #[inline]
    pub(crate) fn unread_from(&self, at: u32) -> Unread<'_> {
        let len = ((self.head / 8) as u32).wrapping_sub(at) as usize;
        let (len, start) = (len.min(self.words), at as usize & (self.words - 1));
        Unread { here: self.area.here().ok(), offset: self.offset, words: self.words, start, len }
    }

    /// Consumes all unread records.
    pub(crate) const fn consume_all(&mut self) {
        self.next = self.head;
    }

    /// Releases if at least an eighth of the ring was consumed since the last release.
    #[inline]
    pub(crate) fn release_if_due(&mut self) {
        // An eighth of the bytes is the number of words.
        if self.next.wrapping_sub(self.tail) >= self.words as u64 {
            self.release();
        }
    }

    /// Publishes `next` as `data_tail`: the kernel may overwrite everything before it.
    pub(crate) fn release(&mut self) {
        if self.next == self.tail {
            return;
        }
        let Ok(here) = self.area.here() else { return };
        self.tail = self.next;
        // Release pairs with the kernel's load of data_tail, on which its stores of new records
        // depend: all reads of the old ones are done before it sees the free space.
        here.word(PageWord::DATA_TAIL).store(self.tail, Ordering::Release);
    }
}

/// The unread records of a ring, `[next, head)`.
///
/// Holding one proves that `start + len` words, modulo `words`, lie in the data area and are not
/// released while `'c` lasts: it borrows the consumer, whose release needs it exclusively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unread<'c> {
    /// `None` in a child of `fork`, where nothing is unread.
    here: Option<Here<'c>>,
    offset: usize,
    words: usize,
    start: usize,
    len: usize,
}

impl<'c> Unread<'c> {
    /// The unread words before the end of the data area.
    #[inline]
    pub(crate) fn contiguous(self) -> &'c [u64] {
        self.slice(self.start, self.len.min(self.words - self.start))
    }

    /// All unread words.
    #[inline]
    pub(crate) fn window(self) -> Window<'c> {
        let first = self.contiguous();
        let wrapped = self.len.saturating_sub(self.words - self.start);
        Window::from_slices(first, self.slice(0, wrapped))
    }

    /// Borrows `len` words at index `start` of the data, inside `[next, head)`.
    #[inline]
    fn slice(self, start: usize, len: usize) -> &'c [u64] {
        let Some(here) = self.here else { return &[] };
        let first = here.at(self.offset + start * 8);
        // SAFETY: `start + len <= words`, so this is inside the data area and the mapping; aligned
        // because page, offset and words are; part of `[tail, head)`, which the kernel does not write
        // before it is released, and `release` needs the consumer that `'c` borrows.
        unsafe { slice::from_raw_parts(first, len) }
    }
}

/// The position of the first record of a ring that was not consumed.
#[derive(Debug)]
pub(crate) struct Position<'c> {
    next: &'c mut u64,
    head: u64,
}

impl Position<'_> {
    /// Consumes `bytes`, at most to the end of the unread records.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: u64) {
        *self.next = self.next.wrapping_add(bytes.min(self.unread()));
    }

    /// Consumes the records before `position`, at most to the end of the unread records.
    #[inline]
    pub(crate) fn advance_to(&mut self, position: u64) {
        self.advance(position.wrapping_sub(*self.next));
    }

    /// Consumes all unread records and returns their length in bytes.
    pub(crate) fn advance_to_end(&mut self) -> u64 {
        let bytes = self.unread();
        *self.next = self.head;
        bytes
    }

    /// Returns the bytes that were not consumed.
    #[inline]
    fn unread(&self) -> u64 {
        self.head.wrapping_sub(*self.next)
    }
}

#[cfg(test)]
mod tests {
    use crate::map::page_size;

    use super::*;
    use crate::map::Kernel;

    /// Returns a ring of one data page whose control page names this data area.
    fn consumer(offset: u64, size: u64) -> Result<Consumer> {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_OFFSET).store(offset, Ordering::Relaxed);
        area.word(PageWord::DATA_SIZE).store(size, Ordering::Relaxed);
        Consumer::new(Arc::new(area))
    }

    fn page() -> u64 {
        page_size() as u64
    }

    fn ring() -> (Kernel, Consumer) {
        let area = Arc::new(Area::anonymous(1).unwrap());
        (Kernel::on(&area), Consumer::new(area).unwrap())
    }

    #[test]
    fn zeros_of_an_old_kernel_mean_the_rest_of_the_mapping() {
        for (offset, size, words) in [(page(), 2048, 256), (0, 0, page_size() / 8)] {
            let found = consumer(offset, size).unwrap();
            assert_eq!((found.offset as u64, found.words), (page(), words));
        }
        let found = Consumer::new(Arc::new(Area::anonymous(0).unwrap())).unwrap_err();
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
            assert_eq!(consumer(offset, size).unwrap_err(), Error::DataArea { offset, size, mapped });
        }
    }

    /// Returns the unread words, and consumes `bytes` bytes of them.
    fn read(consumer: &mut Consumer, bytes: u64) -> Vec<u64> {
        let (unread, mut position) = consumer.parts();
        let (first, second) = unread.window().as_slices();
        let words = [first, second].concat();
        position.advance(bytes);
        words
    }

    #[test]
    fn only_unread_words_are_borrowed() {
        let (mut kernel, mut consumer) = ring();
        kernel.write_words(&[1, 0, 3]);
        assert_eq!(read(&mut consumer, 8), [0; 0], "nothing before the first refresh");
        consumer.refresh().unwrap();
        kernel.write_words(&[4]);
        assert_eq!(read(&mut consumer, 16), [1, 0, 3]);
        assert_eq!(read(&mut consumer, 0), [3]);
        assert_eq!(consumer.unread_from(3).window().len(), 0);
        assert_eq!(read(&mut consumer, u64::MAX), [3]);
        assert_eq!((read(&mut consumer, 8).len(), consumer.len()), (0, 0));
    }

    #[test]
    fn tail_is_free_running() {
        let (mut kernel, mut consumer) = ring();
        kernel.publish(page());
        consumer.refresh().unwrap();
        consumer.consume_all();
        consumer.release();
        kernel.write_words(&[0, 7]);
        consumer.refresh().unwrap();
        assert_eq!(read(&mut consumer, 16), [0, 7]);
        assert_eq!(kernel.tail(), page(), "consumed, not released");
        consumer.release();
        assert_eq!(kernel.tail(), page() + 16);
    }

    #[test]
    fn unread_words_wrap_and_are_copied_in_order() {
        let (mut kernel, mut consumer) = ring();
        kernel.publish(page() - 16);
        consumer.refresh().unwrap();
        consumer.consume_all();
        consumer.release();
        kernel.write_words(&[1, 2, 3]);
        consumer.refresh().unwrap();
        let (unread, _) = consumer.parts();
        assert_eq!(
            (unread.contiguous(), unread.window().as_slices()),
            (&[1, 2][..], (&[1, 2][..], &[3][..]))
        );
        assert_eq!(consumer.unread_from(page() as u32 / 8 - 1).window().as_slices(), (&[2][..], &[3][..]));
        let mut copy = vec![0];
        consumer.copy(&mut copy);
        assert_eq!(copy, [0, 1, 2, 3]);
    }

    #[test]
    fn second_reader_continues_at_the_tail_of_the_first() {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_TAIL).store(48, Ordering::Relaxed);
        area.word(PageWord::DATA_HEAD).store(56, Ordering::Relaxed);
        let mut consumer = Consumer::new(Arc::new(area)).unwrap();
        assert!(consumer.has_unread());
        consumer.refresh().unwrap();
        assert_eq!(consumer.len(), 8);
    }

    #[test]
    fn positions_may_wrap_at_64_bits() {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_TAIL).store(0_u64.wrapping_sub(16), Ordering::Relaxed);
        area.word(PageWord::DATA_HEAD).store(8, Ordering::Relaxed);
        let mut consumer = Consumer::new(Arc::new(area)).unwrap();
        assert!(consumer.has_unread());
        consumer.refresh().unwrap();
        assert_eq!(consumer.len(), 24, "a head that wrapped is not before its tail");
        consumer.consume_all();
        consumer.release();
        assert_eq!((consumer.tail, consumer.has_unread()), (8, false));
    }

    #[test]
    fn invalid_head_keeps_the_last_valid_one() {
        let (mut kernel, mut consumer) = ring();
        kernel.publish(8);
        consumer.refresh().unwrap();
        for head in [12, page() + 8, u64::MAX] {
            kernel.publish(head);
            assert!(matches!(consumer.refresh(), Err(Error::Positions(_))), "{head}");
            assert_eq!(consumer.len(), 8);
        }
    }

    #[test]
    fn only_unread_bytes_can_be_consumed() {
        let (mut kernel, mut consumer) = ring();
        kernel.publish(16);
        consumer.refresh().unwrap();
        read(&mut consumer, u64::MAX);
        consumer.release();
        assert_eq!(kernel.tail(), 16);
    }

    #[test]
    fn an_eighth_of_the_ring_is_due_for_release() {
        let (mut kernel, mut consumer) = ring();
        kernel.publish(page());
        consumer.refresh().unwrap();
        read(&mut consumer, page() / 8 - 8);
        consumer.release_if_due();
        assert_eq!(kernel.tail(), 0);
        read(&mut consumer, 8);
        consumer.release_if_due();
        assert_eq!(kernel.tail(), page() / 8);
    }
}
