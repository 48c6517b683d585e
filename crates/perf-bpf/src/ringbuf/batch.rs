//! Batches of unread records.

use core::iter::FusedIterator;

use super::map::{Consumer, Walk};
use crate::error::Result;

/// A guard over the unread records of a ring buffer map, from
/// [`RingBuf::batch`](crate::RingBuf::batch).
///
/// The records are copied from the ring and borrow the batch. Dropping it releases the consumed
/// records by one store, also after a `break`, a `?` or a panic. The next batch begins with the
/// first record that was not consumed.
///
/// ```compile_fail,E0505
/// fn released_while_borrowed(mut batch: perf_bpf::RingBufBatch<'_>) {
///     let record = batch.records().next();
///     drop(batch);
///     println!("{record:?}");
/// }
/// ```
#[derive(Debug)]
#[must_use = "its records are not read yet"]
pub struct RingBufBatch<'r> {
    consumer: &'r mut Consumer,
    copies: &'r mut Vec<u64>,
    discarded: &'r mut u64,
}

impl<'r> RingBufBatch<'r> {
    pub(super) const fn new(
        consumer: &'r mut Consumer,
        copies: &'r mut Vec<u64>,
        discarded: &'r mut u64,
    ) -> Self {
        Self { consumer, copies, discarded }
    }

    /// Iterates over the data of the committed records that were not consumed yet, oldest first.
    /// All of them may be held at the same time.
    ///
    /// Each record is copied when it is returned, to a buffer that the ring keeps and that is as
    /// long as the most unread bytes so far. [`borrow_records`](Self::borrow_records) makes no
    /// copy.
    ///
    /// The iteration skips and counts [discarded](crate::RingBuf::discarded) records. It ends at a
    /// record that is reserved and not committed, although later ones may be committed. A length
    /// that no record can have yields one `Err`, and consumes all bytes of the batch.
    #[inline]
    pub fn records(&mut self) -> RingBufRecords<'_> {
        // The data of all records are shorter than the unread bytes, which are at most the ring.
        let words = self.consumer.len() as usize / 8;
        if self.copies.len() < words {
            *self.copies = vec![0; words.next_power_of_two()];
        }
        RingBufRecords { walk: self.consumer.walk(self.discarded), free: self.copies }
    }

    /// Returns the walk of [`borrow_records`](Self::borrow_records).
    #[inline]
    pub(in crate::ringbuf) fn walk(&mut self) -> Walk<'_> {
        self.consumer.walk(self.discarded)
    }

    /// Returns the number of bytes that were not consumed, with the 8-byte headers and with records
    /// that are not committed yet.
    pub fn len(&self) -> u64 {
        self.consumer.len()
    }

    /// Returns whether every record was consumed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Releases the records that were consumed so far, before the batch is dropped. Use it if the
    /// ring may fill up while the batch is processed.
    pub fn release(&mut self) {
        self.consumer.release();
    }
}

impl Drop for RingBufBatch<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// The records of a [`RingBufBatch`], oldest first. The iterator consumes each record that it
/// returns.
#[derive(Debug)]
pub struct RingBufRecords<'b> {
    walk: Walk<'b>,
    /// The part of the buffer that no record has yet.
    free: &'b mut [u64],
}

impl<'b> Iterator for RingBufRecords<'b> {
    type Item = Result<&'b [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // After `None` or an error nothing is left to copy.
        let (copy, free) = match self.walk.copy_next(core::mem::take(&mut self.free))? {
            Ok(copied) => copied,
            Err(error) => return Some(Err(error)),
        };
        self.free = free;
        Some(Ok(copy))
    }
}

impl FusedIterator for RingBufRecords<'_> {}
