//! Reading the records of a ring: the state of all ways to read, and the guard over all unread records.

use core::iter::FusedIterator;
use core::mem::take;

use perf_decode::{Error, RawRecord, Records, Window};

use crate::map::{Consumer, Position};

/// The records of a ring, read through a batch, through the cursor or by copying.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) consumer: Consumer,
    pub(super) damage: SkippedBytes,
    /// As long as the longest record that wrapped so far.
    scratch: Vec<u64>,
}

impl Reader {
    pub(super) const fn new(consumer: Consumer) -> Self {
        Self { consumer, damage: SkippedBytes { count: 0, bytes: 0, last: None }, scratch: Vec::new() }
    }

    /// Iterates over the unread records.
    #[inline]
    pub(super) fn records(&mut self) -> BatchRecords<'_> {
        let (unread, position) = self.consumer.parts();
        BatchRecords::new(unread.window(), position, &mut self.scratch, &mut self.damage)
    }

    /// Returns the first unread record and consumes it.
    #[inline]
    pub(super) fn next(&mut self) -> Option<perf_decode::Result<RawRecord<'_>>> {
        let (unread, mut position) = self.consumer.parts();
        match RawRecord::split_first(unread.contiguous()) {
            Ok((record, _)) => {
                position.advance(record.size() as u64);
                Some(Ok(record))
            }
            Err(_) => next_wrapped(unread.window(), position, &mut self.scratch, &mut self.damage),
        }
    }

    /// Returns the first unread record.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<perf_decode::Result<RawRecord<'_>>> {
        let (unread, _) = self.consumer.parts();
        match RawRecord::split_first(unread.contiguous()) {
            Ok((record, _)) => Some(Ok(record)),
            Err(_) => join_first(unread.window(), &mut self.scratch).next(),
        }
    }

    /// Returns the unread words from the free-running word index `at`, modulo 2^32, up to the end of the
    /// data area, and the reader's other parts for a record that is not in them.
    #[inline]
    pub(crate) fn words_from(&mut self, at: u32) -> (&[u64], Rest<'_>) {
        let Self { consumer, scratch, .. } = self;
        (consumer.unread_from(at).contiguous(), Rest { consumer, scratch })
    }

    /// Consumes and releases all unread bytes because of `error` at their start.
    #[cold]
    pub(crate) fn skip_damage(&mut self, error: Error) {
        self.damage.add(self.consumer.len(), error);
        self.consumer.consume_all();
        self.consumer.release();
    }

    /// Copies all unread records to `copy` and releases them.
    pub(super) fn copy_into<'c>(&mut self, copy: &'c mut Vec<u64>) -> Window<'c> {
        copy.clear();
        self.consumer.copy(copy);
        self.consumer.consume_all();
        self.consumer.release();
        Window::from_slices(copy, &[])
    }
}

/// The parts of a reader for a record that wraps, or that is out of order.
pub(crate) struct Rest<'r> {
    consumer: &'r Consumer,
    scratch: &'r mut Vec<u64>,
}

impl Rest<'_> {
    /// Returns the record at a free-running word index, modulo 2^32.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_at(&mut self, at: u32) -> perf_decode::Result<RawRecord<'_>> {
        let unread = self.consumer.unread_from(at).window();
        // Nothing to frame is an error like that of a record that is too long.
        let none = || RawRecord::split_first(&[]).map(|(record, _)| record);
        join_first(unread, self.scratch).next().unwrap_or_else(none)
    }
}

/// Returns and consumes the first record of `window` if it is not framed before the end of the data
/// area, because it wraps, is damaged or does not exist.
#[cold]
#[inline(never)]
fn next_wrapped<'c>(
    window: Window<'c>,
    mut position: Position<'c>,
    scratch: &'c mut Vec<u64>,
    damage: &mut SkippedBytes,
) -> Option<perf_decode::Result<RawRecord<'c>>> {
    let found = join_first(window, scratch).next()?;
    match found {
        Ok(record) => position.advance(record.size() as u64),
        Err(error) => damage.add(position.advance_to_end(), error),
    }
    Some(found)
}

/// Iterates over `window` with a scratch that is long enough for its first record.
fn join_first<'c>(window: Window<'c>, scratch: &'c mut Vec<u64>) -> Records<'c> {
    if let Err(Error::SizePastEnd { size, .. }) = RawRecord::split_first(window.as_slices().0) {
        let size = usize::from(size);
        if size <= window.len() && size / 8 > scratch.len() {
            scratch.resize(size / 8, 0);
        }
    }
    window.records(scratch)
}

/// The bytes of a ring that were skipped because they are not records.
///
/// A size that no record can have ends a batch, because no record after it can be found. The bytes from
/// there to the kernel's position are skipped, so that the next batch starts with records that the
/// kernel writes later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedBytes {
    /// Number of times that bytes were skipped.
    pub count: u64,
    /// Skipped bytes in total.
    pub bytes: u64,
    /// The last error. Its position is in bytes from the start of the batch.
    pub last: Option<Error>,
}

impl SkippedBytes {
    /// Adds the damage of another ring.
    pub(crate) const fn add_ring(&mut self, other: Self) {
        self.count += other.count;
        self.bytes += other.bytes;
        if other.last.is_some() {
            self.last = other.last;
        }
    }

    pub(crate) const fn add(&mut self, bytes: u64, error: Error) {
        self.count += 1;
        self.bytes += bytes;
        self.last = Some(error);
    }
}

/// A guard over the unread records of a ring, as of [`Ring::batch`](crate::Ring::batch).
///
/// The records borrow the batch. Dropping it releases the consumed records by one store of
/// `data_tail`, also after a `break`, a `?` or a panic. The next batch begins with the first record
/// that was not consumed. The iterator consumes a record when it returns it. To peek at a record
/// without consuming it, use the [cursor](crate::Ring::refresh), which also releases each record. A batch passed to [`forget`](core::mem::forget) releases nothing.
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
    /// bytes from there to the end of the batch are consumed, and [`Ring::damage`](crate::Ring::damage) counts
    /// them, so that a loop over batches continues with the records that the kernel writes later.
    #[inline]
    pub fn records(&mut self) -> BatchRecords<'_> {
        self.reader.records()
    }

    /// Copies all records that were not consumed yet to `copy`, consumes and releases them, and
    /// returns them as a window. The ring is free while they are read. See
    /// [`Ring::copy_into`](crate::Ring::copy_into).
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
    /// ring may fill up while the batch is processed, between two calls of [`records`](Self::records).
    pub fn release(&mut self) {
        self.reader.consumer.release();
    }

    /// Consumes and releases all records, and returns the number of bytes that were not read.
    pub fn discard(self) -> u64 {
        let unread = self.len();
        self.reader.consumer.consume_all();
        unread
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// The records of a [`Batch`], oldest first.
///
/// The iterator consumes each record that it returns. An adaptor that reads ahead, such as `peekable` or
/// `take_while`, has consumed the record that it holds or rejects: to look at a record without consuming it,
/// use the cursor of the ring ([`Ring::refresh`](crate::Ring::refresh), `peek`, `next`).
#[derive(Debug)]
pub struct BatchRecords<'b> {
    records: Records<'b>,
    rest: Ends<'b>,
}

/// State for a record that wraps and for the end of the iteration. Apart from `records`, so that a
/// loop keeps those in registers.
#[derive(Debug, Default)]
struct Ends<'b> {
    /// The window of `records`.
    window: Window<'b>,
    /// Bytes of the records before `window`.
    before: u64,
    scratch: Option<&'b mut Vec<u64>>,
    position: Option<Position<'b>>,
    damage: Option<&'b mut SkippedBytes>,
}

impl<'b> BatchRecords<'b> {
    #[inline]
    fn new(
        window: Window<'b>,
        position: Position<'b>,
        scratch: &'b mut Vec<u64>,
        damage: &'b mut SkippedBytes,
    ) -> Self {
        let (scratch, position, damage) = (Some(scratch), Some(position), Some(damage));
        let rest = Ends { window, before: 0, scratch, position, damage };
        Self { records: window.records(&mut []), rest }
    }
}

impl<'b> Ends<'b> {
    /// Joins the record that wraps, or skips damage, after an error of the records.
    ///
    /// Takes and returns the state by value, because a reference would force the iterator into memory
    /// in every loop.
    #[cold]
    #[inline(never)]
    fn recover(
        mut self,
        error: Error,
        yielded: u64,
    ) -> (Self, Records<'b>, Option<perf_decode::Result<RawRecord<'b>>>) {
        let unread = skip(self.window, yielded);
        self.before += yielded;
        if let (Error::ScratchTooShort { .. }, Some(scratch)) = (error, self.scratch.take()) {
            self.window = unread;
            let mut records = join_first(unread, scratch);
            let joined = records.next();
            return (self, records, joined);
        }
        let bytes = unread.len() as u64;
        let error = moved(error, self.before - yielded);
        if let Some(damage) = &mut self.damage {
            damage.add(bytes, error);
        }
        self.before += bytes;
        self.window = Window::default();
        (self, Window::default().records(&mut []), Some(Err(error)))
    }
}

/// Returns `error` with `bytes` added to its position.
fn moved(error: Error, bytes: u64) -> Error {
    match error {
        Error::SizeBelowHeader { at, size } => Error::SizeBelowHeader { at: at + bytes, size },
        Error::UnalignedSize { at, size } => Error::UnalignedSize { at: at + bytes, size },
        Error::SizePastEnd { at, size, available } => Error::SizePastEnd { at: at + bytes, size, available },
        error => error,
    }
}

/// Returns the part of `window` after its first `bytes` bytes.
fn skip(window: Window<'_>, bytes: u64) -> Window<'_> {
    let (first, second) = window.as_slices();
    let words = (bytes / 8) as usize;
    match first.get(words..) {
        Some(rest) => Window::from_slices(rest, second),
        None => Window::from_slices(second.get(words - first.len()..).unwrap_or(&[]), &[]),
    }
}

impl<'b> Iterator for BatchRecords<'b> {
    type Item = perf_decode::Result<RawRecord<'b>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.records.next() {
            Some(Err(error)) => {
                let yielded = self.records.position();
                let (rest, records, item) = take(&mut self.rest).recover(error, yielded);
                self.rest = rest;
                self.records = records;
                item
            }
            found => found,
        }
    }
}

impl FusedIterator for BatchRecords<'_> {}

impl Drop for BatchRecords<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(position) = &mut self.rest.position {
            position.advance(self.rest.before + self.records.position());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Kernel;

    /// The length of the scratch in words after a record of `size` words was joined from two slices that
    /// hold `available` words after its header.
    fn scratch_after(mut scratch: Vec<u64>, size: usize, available: usize) -> usize {
        let rest = vec![0; available];
        let _record = join_first(Window::from_slices(&[Kernel::header(size)], &rest), &mut scratch).next();
        scratch.len()
    }

    #[test]
    fn scratch_is_as_long_as_the_longest_record_that_wrapped() {
        assert_eq!(scratch_after(vec![], 3, 2), 3);
        assert_eq!(scratch_after(vec![0; 2], 3, 9), 3);
        assert_eq!(scratch_after(vec![0; 5], 3, 2), 5);
    }

    #[test]
    fn scratch_does_not_grow_for_a_record_past_the_end() {
        assert_eq!(scratch_after(vec![], 4, 2), 0);
    }
}
