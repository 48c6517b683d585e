//! The walk over the records of a BPF ring buffer map, and records that are borrowed instead of
//! copied.
//!
//! # Safety
//!
//! This file may use `unsafe` because it lends shared memory as slices, which only the caller can
//! prove to be stable.

use core::iter::FusedIterator;

use super::unread::{Data, Step, Unread, damaged};
use crate::error::Result;
use crate::ringbuf::RingBufBatch;

/// A walk over the unread records. Dropping it makes its position the reader's position.
#[derive(Debug)]
pub(in crate::ringbuf) struct Walk<'b> {
    pub(super) unread: Unread<'b>,
    next: u64,
    position: &'b mut u64,
    discarded: &'b mut u64,
}

impl<'b> Walk<'b> {
    #[inline]
    pub(super) const fn new(unread: Unread<'b>, position: &'b mut u64, discarded: &'b mut u64) -> Self {
        Self { unread, next: *position, position, discarded }
    }

    /// Steps over the next committed record, and counts the discarded ones before it.
    #[inline(always)] // so that a loop keeps the guess in registers; benches/bpf
    pub(super) fn next(&mut self) -> Option<Result<Data>> {
        loop {
            match self.unread.step(self.next) {
                Step::End => {
                    self.unread.head = self.next; // the record may be committed meanwhile
                    return None;
                }
                Step::Record(data, after) => {
                    self.next = after;
                    return Some(Ok(data));
                }
                Step::Discarded(after) => {
                    self.next = after;
                    *self.discarded += 1;
                }
                Step::Damaged { at, len, available } => {
                    self.next = self.unread.head;
                    return Some(Err(damaged(at, len, available)));
                }
            }
        }
    }

    /// Like [`next`](Self::next), but copies the data of the record to the start of `free`. Returns
    /// the copy and the rest of `free`.
    #[inline(always)]
    pub(in crate::ringbuf) fn copy_next(
        &mut self,
        free: &'b mut [u64],
    ) -> Option<Result<(&'b [u8], &'b mut [u64])>> {
        match self.next()? {
            Ok(data) => self.unread.copy(data, free).map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

impl Drop for Walk<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.position = self.next;
    }
}

impl RingBufBatch<'_> {
    /// Like [`records`](Self::records), but without a copy: the records are borrowed from the ring.
    ///
    /// # Safety
    ///
    /// While the iterator or one of its records is used, the map must not have another reader that
    /// releases records: no other process that has the map by a pin, by its id or by a descriptor,
    /// and no reader of another library, or of another version of this crate, in this process. The
    /// kernel overwrites records that any reader has released, and a borrowed slice that changes is
    /// undefined behaviour.
    #[inline]
    pub unsafe fn borrow_records(&mut self) -> BorrowedRingBufRecords<'_> {
        BorrowedRingBufRecords(self.walk())
    }
}

/// The records of a [`RingBufBatch`], oldest first, borrowed from the ring. The iterator consumes
/// each record that it returns.
///
/// Holding one proves that the map has no other reader: the caller of
/// [`RingBufBatch::borrow_records`] has promised it.
#[derive(Debug)]
pub struct BorrowedRingBufRecords<'b>(Walk<'b>);

impl<'b> Iterator for BorrowedRingBufRecords<'b> {
    type Item = Result<&'b [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.0.next()? {
            // SAFETY: the map has no other reader, by the proof above.
            Ok(data) => unsafe { self.0.unread.borrow(data) }.map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

impl FusedIterator for BorrowedRingBufRecords<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ringbuf::map::Writer;

    #[test]
    fn borrowed_records_are_those_of_the_ring() {
        const SIZE: usize = 1 << 16;
        let mut writer = Writer::new(SIZE).at(SIZE as u64 - 16);
        let mut reader = writer.reader();
        (0..3).for_each(|n| assert!(writer.write(&[n; 20])));
        reader.refresh().unwrap();
        let mut discarded = 0;
        let records: Vec<_> =
            BorrowedRingBufRecords(reader.walk(&mut discarded)).map(Result::unwrap).collect();
        assert_eq!(records, [[0; 20], [1; 20], [2; 20]]);
        reader.release();
        assert_eq!(writer.released(), SIZE as u64 - 16 + 3 * 32);
    }
}
