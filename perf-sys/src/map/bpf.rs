//! The reader's side of a BPF ring buffer map.
//!
//! # Safety
//!
//! This file uses `unsafe` to borrow records in the shared memory as slices, which must be committed and
//! which the kernel must not write before they are released.
#![allow(unsafe_code)]

use core::slice;
use core::sync::atomic::{Ordering, fence};

use perf_decode::Window;
use std::os::fd::BorrowedFd;

use super::{Here, Mapping, OVERWRITES, PageWord, WAITS, page_size, position};
use crate::{Call, Errno, Error, Result};

mod guess;

use guess::Guess;

/// Set in the length of a record that its program has not committed (`BPF_RINGBUF_BUSY_BIT`).
const BUSY: u32 = 1 << 31;
/// Set in the length of a record that its program has discarded (`BPF_RINGBUF_DISCARD_BIT`).
const DISCARDED: u32 = 1 << 30;
/// Length of a record's header in bytes (`BPF_RINGBUF_HDR_SZ`).
const HEADER: u64 = 8;
/// The first word of the consumer's and of the producer's page.
const POSITION: PageWord = PageWord::at(0);

/// The two mappings of a ring buffer map, and the reader's positions.
///
/// Holding one proves that `producer` maps a page and twice the data, that `published <= next <= head`,
/// that `[published, head)` is at most the data, and that the committed records in it stay as they are
/// until [`release`](Self::release), because the kernel writes only outside of it and a program cannot
/// write what it has committed.
#[derive(Debug)]
pub(crate) struct BpfConsumer {
    /// The page with the reader's position.
    consumer: Mapping,
    /// The page with the kernel's position, and the data twice, so that no record wraps.
    producer: Mapping,
    /// Length of the data in bytes, a power of two.
    size: usize,
    /// The published position: free-running.
    published: u64,
    /// Position of the first record that was not consumed.
    next: u64,
    /// The kernel's position as of the last refresh.
    head: u64,
}

impl BpfConsumer {
    /// Maps both parts of a ring buffer map with `size` bytes of data.
    ///
    /// The caller proves by `BPF_OBJ_GET_INFO_BY_FD` that `fd` is such a map and not one that the kernel
    /// overwrites, and is its only reader in this process.
    pub(crate) fn map(fd: BorrowedFd<'_>, size: usize) -> Result<Self> {
        // A 32-bit big-endian program cannot know whether the kernel's positions have 32 or 64 bits.
        if cfg!(all(target_pointer_width = "32", target_endian = "big")) {
            return Err(Error::System { call: Call::Mmap, errno: Errno::EOPNOTSUPP });
        }
        let page = page_size();
        let both = size.checked_mul(2).and_then(|both| both.checked_add(page));
        let both = both.ok_or(Error::System { call: Call::Mmap, errno: Errno::ENOMEM })?;
        let consumer = Mapping::of(fd, page, WAITS, 0)?;
        let producer = Mapping::of(fd, both, OVERWRITES, page as u64)?;
        // Only a reader stores this position, and this is the only one.
        let next = consumer.here()?.word(POSITION).load(Ordering::Relaxed);
        Ok(Self { consumer, producer, size, published: next, next, head: next })
    }

    /// Returns the size of the data in bytes.
    pub(crate) const fn size(&self) -> usize {
        self.size
    }

    /// Returns [`Error::Forked`] in a child of `fork`.
    pub(crate) fn check_here(&self) -> Result<()> {
        self.producer.here().map(|_| ())
    }

    /// Returns the number of bytes from the first record that was not consumed to the kernel's position
    /// as of the last refresh, with headers.
    pub(crate) const fn len(&self) -> u64 {
        self.head.wrapping_sub(self.next)
    }

    /// Loads the kernel's position.
    fn load_head(&self, here: Here<'_>) -> u64 {
        // Orders the store of the reader's position before this load. The kernel commits a record by
        // `xchg` and then loads the reader's position: either this load finds the record, or the kernel
        // finds that the reader has reached it and wakes the reader (`bpf_ringbuf_commit`).
        fence(Ordering::SeqCst);
        let head = position(self.next, here.load(POSITION));
        // Acquire pairs with the kernel's release of its position: the busy bits of the records before
        // it are set.
        fence(Ordering::Acquire);
        head
    }

    /// Loads the kernel's position as the end of the records to read.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`] if that is not a possible position, and [`Error::Forked`]; the state stays as
    /// it was.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let head = self.load_head(self.producer.here()?);
        Window::span(self.size / 8, self.published, head).map_err(Error::Positions)?;
        self.head = head;
        Ok(())
    }

    /// Returns whether the first unread record is committed or discarded, so that a batch consumes it.
    pub(crate) fn has_committed(&self) -> bool {
        let Ok(here) = self.producer.here() else { return false };
        let head = self.load_head(here);
        head != self.next && BpfUnread::new(Some(here), self.size, head).header(self.next) & BUSY == 0
    }

    /// Returns the records up to the position of the last refresh, and `next` for the code that consumes
    /// them.
    #[inline]
    pub(crate) fn parts(&mut self) -> (BpfUnread<'_>, &mut u64) {
        let here = self.producer.here().ok();
        let unread = BpfUnread::new(here, self.size, self.head);
        (unread, &mut self.next)
    }

    /// Publishes `next` as the reader's position: the kernel may overwrite everything before it.
    pub(crate) fn release(&mut self) {
        if self.next == self.published {
            return;
        }
        let Ok(here) = self.consumer.here() else { return };
        self.published = self.next;
        // Release pairs with the kernel's acquire load of this position: all reads of the old records
        // are done before it sees the free space. A 32-bit kernel takes the lower half.
        here.word(POSITION).store(self.published, Ordering::Release);
    }
}

/// One step through the unread records.
pub(crate) enum BpfStep<'c> {
    /// All records are consumed, or the next one is not committed.
    End,
    /// A committed record, and the position after it.
    Record(&'c [u8], u64),
    /// A discarded record: the position after it.
    Discarded(u64),
    /// A record that is longer than the unread bytes.
    Damaged(Error),
}

/// The unread records, up to `head`.
#[derive(Debug)]
pub(crate) struct BpfUnread<'c> {
    /// `None` in a child of `fork`, where nothing is unread.
    here: Option<Here<'c>>,
    /// Offset of the data in the producer's mapping, in bytes.
    page: usize,
    size: usize,
    /// End of the records, free-running.
    pub(crate) head: u64,
    guess: Guess,
}

impl<'c> BpfUnread<'c> {
    #[inline]
    fn new(here: Option<Here<'c>>, size: usize, head: u64) -> Self {
        Self { here, page: page_size(), size, head, guess: Guess::new() }
    }

    /// Returns the record at `next`, which must be a position that an earlier step returned or `next` of
    /// the consumer.
    #[inline(always)] // so that a loop keeps the guess in registers; benches/bpf
    pub(crate) fn step(&mut self, next: u64) -> BpfStep<'c> {
        if next == self.head {
            return BpfStep::End;
        }
        let header = self.header(next);
        let available = self.head.wrapping_sub(next);
        if let Some(record) = self.guess.record(header) {
            if record <= available {
                return self.record(next, header, record);
            }
        }
        if header & BUSY != 0 {
            return BpfStep::End;
        }
        let len = header & !(BUSY | DISCARDED);
        let record = (HEADER + u64::from(len) + 7) & !7;
        if record > available {
            return damaged(next, len, available);
        }
        if header & DISCARDED != 0 {
            return BpfStep::Discarded(next.wrapping_add(record));
        }
        self.guess.learn(len, record);
        self.record(next, len, record)
    }

    /// Returns the committed record at `next`, of `len` bytes of data and `record` bytes in all, which are
    /// not more than the unread bytes.
    #[inline(always)]
    fn record(&self, next: u64, len: u32, record: u64) -> BpfStep<'c> {
        let Some(here) = self.here else { return BpfStep::End };
        let first = here.at(self.offset(next) + HEADER as usize);
        // SAFETY: `offset < page + size` and `HEADER + len <= record <= available <= size` (of a guess, by
        // the `learn` above), so this is inside the producer's mapping of a page and twice the data; bytes
        // need no alignment; the record is committed and in `[published, head)`, which the kernel does not
        // write before it is released, and `release` needs the consumer that `'c` borrows.
        let bytes = unsafe { slice::from_raw_parts(first, len as usize) };
        BpfStep::Record(bytes, next.wrapping_add(record))
    }

    /// Loads the length of the record at `next` with its two bits. A child of `fork` finds it busy.
    #[inline]
    fn header(&self, next: u64) -> u32 {
        let Some(here) = self.here else { return BUSY };
        let header = here.load_half(self.offset(next));
        // Acquire pairs with the `xchg` that clears the busy bit: the record is complete.
        fence(Ordering::Acquire);
        header
    }

    /// Returns the offset of the header at `next` in the mapping. It is a multiple of 8, because the kernel
    /// rounds all records to 8 bytes; a damaged position is rounded down.
    #[inline]
    fn offset(&self, next: u64) -> usize {
        self.page + (next as usize & (self.size - 1) & !7)
    }
}

/// Returns the error of a record that is longer than the unread bytes. Cold, so that a loop does not make
/// space for it.
#[cold]
fn damaged<'c>(at: u64, len: u32, available: u64) -> BpfStep<'c> {
    BpfStep::Damaged(Error::BpfRecord { at, len, available })
}

#[cfg(test)]
mod writer;
#[cfg(test)]
pub(crate) use writer::BpfWriter;
