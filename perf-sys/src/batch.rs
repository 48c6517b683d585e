use core::iter::FusedIterator;

use perf_decode::{RawRecord, Records, Scratch};

use crate::Result;
use crate::map::Consumer;

/// What lay in a ring when [`Ring::batch`](crate::Ring::batch) looked: a guard over its records.
///
/// The records borrow the batch, and dropping it gives those back to the kernel that were visited, by
/// one store: after a `break`, a `?` or a panic exactly these, and the next batch begins with the first
/// that was not. A record counts as visited once the iterator has delivered it. A batch that is
/// forgotten gives nothing back.
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
    consumer: &'r mut Consumer,
    scratch: &'r mut Scratch,
    /// Bytes delivered and not yet given back.
    visited: u64,
}

impl<'r> Batch<'r> {
    pub(crate) fn new(consumer: &'r mut Consumer, scratch: &'r mut Scratch) -> Result<Self> {
        consumer.refresh()?;
        Ok(Self { consumer, scratch, visited: 0 })
    }

    /// The records that were not visited yet, oldest first: an ordinary iterator, whose records may all
    /// live together.
    ///
    /// Damage gives one `Err` that says where, and the iteration ends. The next batch begins at the same
    /// place: only [`discard`](Self::discard) leads past it.
    #[inline]
    pub fn records(&mut self) -> BatchRecords<'_> {
        let Self { consumer, scratch, visited } = self;
        BatchRecords { records: consumer.window(*visited).records(scratch), visited }
    }

    /// Bytes that were not visited yet.
    pub fn len(&self) -> u64 {
        self.consumer.len() - self.visited
    }

    /// Whether every record was visited.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives back what was visited so far, before the batch ends: for work so long that the ring may
    /// fill up meanwhile.
    pub fn release(&mut self) {
        if self.visited != 0 {
            self.consumer.release(core::mem::take(&mut self.visited));
        }
    }

    /// Gives everything back, visited or not, and returns how many bytes were thrown away.
    pub fn discard(mut self) -> u64 {
        let thrown_away = self.len();
        self.visited = self.consumer.len();
        thrown_away
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// The records of a [`Batch`]: [`Records`] that tell the batch how far they came.
#[derive(Debug)]
pub struct BatchRecords<'b> {
    records: Records<'b>,
    visited: &'b mut u64,
}

impl<'b> Iterator for BatchRecords<'b> {
    type Item = perf_decode::Result<RawRecord<'b>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.records.next()
    }
}

impl FusedIterator for BatchRecords<'_> {}

impl Drop for BatchRecords<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.visited += self.records.position();
    }
}

#[cfg(test)]
mod tests;
