use perf_decode::{RawRecord, Window};

use super::reader::Reader;
use crate::error::SkippedBytes;

mod records;

pub use records::BatchRecords;

/// A guard over the unread records of a ring, as of [`Ring::batch`](crate::Ring::batch).
///
/// The records borrow the batch. Dropping it releases the consumed records by one store of
/// `data_tail`, also after a `break`, a `?` or a panic. The next batch begins with the first record
/// that was not consumed. The iterator consumes a record when it returns it. To peek at a record
/// without consuming it, use the [cursor](crate::Ring::refresh). A batch passed to [`forget`](core::mem::forget) releases nothing.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let event = perf_sys::Event::open(&perf_abi::Attr::default(), perf_sys::Target::calling_thread())?;
/// let mut ring = perf_sys::Ring::map(event, 64)?;
/// for record in ring.batch()?.records() {
///     println!("{:?}", record?.kind());
/// }
/// # Ok(())
/// # }
/// ```
///
/// A ring has one batch at a time, a batch one iterator, and a record lives as long as its batch at
/// most. None of these compiles:
///
/// ```compile_fail,E0499
/// fn two_batches(ring: &mut perf_sys::Ring) {
///     let (first, second) = (ring.batch(), ring.batch());
///     drop(first);
/// }
/// ```
///
/// ```compile_fail,E0499
/// fn two_iterators(mut batch: perf_sys::Batch<'_>) {
///     let (first, second) = (batch.records(), batch.records());
///     drop(first);
/// }
/// ```
///
/// ```compile_fail,E0505
/// fn released_while_borrowed(mut batch: perf_sys::Batch<'_>) {
///     let record = batch.records().next();
///     drop(batch);
///     println!("{record:?}");
/// }
/// ```
#[derive(Debug)]
#[must_use = "its records are not read yet"]
pub struct Batch<'r> {
    reader: &'r mut Reader,
}

impl<'r> Batch<'r> {
    pub(super) const fn new(reader: &'r mut Reader) -> Self {
        Self { reader }
    }

    /// Iterates over the records that were not consumed yet, oldest first. All of them may be held
    /// at the same time.
    ///
    /// A size that no record can have yields one `Err` with its position. The iteration ends, the
    /// bytes from there to the end of the batch are consumed, and [`damage`](Self::damage) counts
    /// them, so that a loop over batches continues with the records that the kernel writes later.
    #[inline]
    pub fn records(&mut self) -> BatchRecords<'_> {
        self.reader.records()
    }

    /// Returns the next record and consumes it; `None` if all records are consumed.
    ///
    /// The borrow ends with the record, so the ring can be [released](Self::release) after each one:
    ///
    /// ```no_run
    /// # fn read(mut batch: perf_sys::Batch<'_>) {
    /// while let Some(record) = batch.next() {
    ///     println!("{record:?}");
    ///     batch.release();
    /// }
    /// # }
    /// ```
    ///
    /// A size that no record can have is an `Err`, as of [`records`](Self::records).
    #[expect(
        clippy::should_implement_trait,
        reason = "the record borrows the batch, not an iterator's input"
    )]
    #[inline]
    pub fn next(&mut self) -> Option<perf_decode::Result<RawRecord<'_>>> {
        self.reader.next()
    }

    /// Copies all records that were not consumed yet to `copy`, consumes and releases them, and
    /// returns them as a window. The ring is free while they are read.
    ///
    /// Clears `copy` first and allocates only if its capacity is less than the unread bytes. The
    /// copy is made by atomic loads, so it is sound even if the kernel violates its own protocol.
    /// See [`Ring::copy_into`](crate::Ring::copy_into).
    pub fn copy_into<'c>(&mut self, copy: &'c mut Vec<u64>) -> Window<'c> {
        self.reader.copy_into(copy)
    }

    /// Returns the number of bytes that were not consumed yet.
    pub fn len(&self) -> u64 {
        self.reader.consumer.len()
    }

    /// Returns whether every record was consumed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Releases the records that were consumed so far, before the batch is dropped. Use it if the
    /// ring may fill up while the batch is processed, with [`next`](Self::next).
    pub fn release(&mut self) {
        self.reader.consumer.release();
    }

    /// Consumes and releases all records, and returns the number of bytes that were not read.
    pub fn discard(self) -> u64 {
        let unread = self.len();
        self.reader.consumer.consume_all();
        unread
    }

    /// Returns the bytes that were skipped in this ring because they are not records, since it was
    /// mapped.
    pub const fn damage(&self) -> SkippedBytes {
        self.reader.damage
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests;
