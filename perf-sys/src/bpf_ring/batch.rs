use core::iter::FusedIterator;

use crate::Result;
use crate::map::{BpfConsumer, BpfStep, BpfUnread};

/// A guard over the unread records of a ring buffer map, as of [`BpfRing::batch`](crate::BpfRing::batch).
///
/// The records borrow the batch. Dropping it releases the consumed records by one store, also after a
/// `break`, a `?` or a panic. The next batch begins with the first record that was not consumed.
///
/// ```compile_fail,E0505
/// fn released_while_borrowed(mut batch: perf_sys::BpfBatch<'_>) {
///     let record = batch.records().next();
///     drop(batch);
///     println!("{record:?}");
/// }
/// ```
#[derive(Debug)]
#[must_use = "its records are not read yet"]
pub struct BpfBatch<'r> {
    consumer: &'r mut BpfConsumer,
    discarded: &'r mut u64,
}

impl<'r> BpfBatch<'r> {
    pub(super) const fn new(consumer: &'r mut BpfConsumer, discarded: &'r mut u64) -> Self {
        Self { consumer, discarded }
    }

    /// Iterates over the data of the committed records that were not consumed yet, oldest first. All of
    /// them may be held at the same time.
    ///
    /// The iteration skips and counts [discarded](crate::BpfRing::discarded) records. It ends at a record
    /// that is reserved and not committed, although later ones may be committed. A length that no record
    /// can have yields one `Err`, and consumes all bytes of the batch.
    #[inline]
    pub fn records(&mut self) -> BpfRecords<'_> {
        let (unread, position) = self.consumer.parts();
        BpfRecords { unread, next: *position, position, discarded: self.discarded }
    }

    /// Returns the number of bytes that were not consumed, with the 8-byte headers and with records that
    /// are not committed yet.
    pub fn len(&self) -> u64 {
        self.consumer.len()
    }

    /// Returns whether every record was consumed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Releases the records that were consumed so far, before the batch is dropped. Use it if the ring may
    /// fill up while the batch is processed.
    pub fn release(&mut self) {
        self.consumer.release();
    }
}

impl Drop for BpfBatch<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// The records of a [`BpfBatch`], oldest first. The iterator consumes each record that it returns.
#[derive(Debug)]
pub struct BpfRecords<'b> {
    unread: BpfUnread<'b>,
    next: u64,
    position: &'b mut u64,
    discarded: &'b mut u64,
}

impl<'b> Iterator for BpfRecords<'b> {
    type Item = Result<&'b [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.unread.step(self.next) {
                BpfStep::End => {
                    self.unread.head = self.next; // the record may be committed meanwhile
                    return None;
                }
                BpfStep::Record(bytes, after) => {
                    self.next = after;
                    return Some(Ok(bytes));
                }
                BpfStep::Discarded(after) => {
                    self.next = after;
                    *self.discarded += 1;
                }
                BpfStep::Damaged(error) => {
                    self.next = self.unread.head;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl FusedIterator for BpfRecords<'_> {}

impl Drop for BpfRecords<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.position = self.next;
    }
}
