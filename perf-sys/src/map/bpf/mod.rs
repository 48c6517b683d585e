//! The reader's side of a BPF ring buffer map.

use core::sync::atomic::{Ordering, fence};

use perf_decode::Window;
use std::os::fd::BorrowedFd;

use super::{Here, Mapping, OVERWRITES, PageWord, WAITS, page_size, position};
use crate::error::{Call, Errno, Error, Result};

mod borrowed;
mod guess;
mod unread;
mod walk;

pub use borrowed::BorrowedBpfRecords;
use unread::{BUSY, BpfData, BpfStep, BpfUnread};
pub(crate) use walk::BpfWalk;

/// The first word of the consumer's and of the producer's page.
const POSITION: PageWord = PageWord::at(0);

/// The two mappings of a ring buffer map, and the reader's positions.
///
/// Holding one proves that `producer` maps a page and twice the data, that `published <= next <= head`, and
/// that `[published, head)` is at most the data. The committed records in it stay as they are until
/// [`release`](Self::release) if there is no other reader, because the kernel writes only outside of it and
/// a program cannot write what it has committed.
#[derive(Debug)]
pub(crate) struct BpfConsumer {
    /// The page with the reader's position.
    consumer: Mapping,
    /// The page with the kernel's position, and the data twice, so that no record wraps.
    producer: Mapping,
    /// Length of the data in bytes, a power of two.
    size: usize,
    /// The published position: free-running. Another one in the consumer's page is that of another reader.
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
        // Only readers store this position.
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

    /// Returns the position in the consumer's page, which other readers may have stored.
    fn stored(&self) -> Result<u64> {
        // Relaxed: the records are read anew from this position, after an acquire of the kernel's.
        Ok(self.consumer.here()?.word(POSITION).load(Ordering::Relaxed))
    }

    /// Loads the kernel's position as the end of the records to read.
    ///
    /// # Errors
    ///
    /// [`Error::BpfRingShared`] if another reader has released records; the next call starts there.
    /// [`Error::Positions`] if the kernel's position is not a possible one, and [`Error::Forked`]; the
    /// state stays as it was.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let (expected, found) = (self.published, self.stored()?);
        if found != expected {
            // All three, so that nothing is unread before the distance to the kernel's position is checked.
            (self.published, self.next, self.head) = (found, found, found);
            return Err(Error::BpfRingShared { expected, found });
        }
        let head = self.load_head(self.producer.here()?);
        Window::span(self.size / 8, self.published, head).map_err(Error::Positions)?;
        self.head = head;
        Ok(())
    }

    /// Returns whether the first unread record is committed or discarded, so that a batch consumes it, or
    /// there is another reader, which [`refresh`](Self::refresh) reports.
    pub(crate) fn has_committed(&self) -> bool {
        let Ok(here) = self.producer.here() else { return false };
        let head = self.load_head(here);
        let is_committed = || BpfUnread::new(Some(here), self.size, head).header(self.next) & BUSY == 0;
        self.stored() != Ok(self.published) || head != self.next && is_committed()
    }

    /// Returns a walk over the records up to the position of the last refresh, which consumes them.
    #[inline]
    pub(crate) fn walk<'c>(&'c mut self, discarded: &'c mut u64) -> BpfWalk<'c> {
        let here = self.producer.here().ok();
        BpfWalk::new(BpfUnread::new(here, self.size, self.head), &mut self.next, discarded)
    }

    /// Publishes `next` as the reader's position, unless there is another reader: the kernel may overwrite
    /// everything before it.
    pub(crate) fn release(&mut self) {
        if self.next == self.published {
            return;
        }
        let Ok(here) = self.consumer.here() else { return };
        // Release pairs with the kernel's acquire load of this position: all reads of the old records
        // are done before it sees the free space. A 32-bit kernel takes the lower half. A store could move
        // the position back from that of another reader, before records that the kernel has overwritten.
        let position = here.word(POSITION);
        if position.compare_exchange(self.published, self.next, Ordering::Release, Ordering::Relaxed).is_ok()
        {
            self.published = self.next;
        }
    }
}

#[cfg(test)]
use unread::{DISCARDED, HEADER};
#[cfg(test)]
mod writer;
#[cfg(test)]
pub(crate) use writer::BpfWriter;
