//! Reading the records of a ring: the state of all ways to read, and the guard over all unread
//! records.

use core::iter::FusedIterator;
use core::mem::take;

use perf_decode::{Error, RawRecord, Records, Window};
use perf_sys::DataRing;

use crate::error::Result;

/// The records of a ring, read through a batch, record by record or by copying.
#[derive(Debug)]
pub(crate) struct Reader {
    ring: DataRing,
    /// Position of the first record that was not consumed, between tail and head.
    next: u64,
    /// The unread records of a ring that lends nothing.
    copied: Copied,
    pub(super) damage: SkippedBytes,
    /// Grows to the length of the longest record that wrapped so far.
    scratch: Vec<u64>,
}

/// The copy of the unread records of a ring in which the kernel may overwrite them. Each word is
/// copied once, so that a record that was looked at stays as it is until it is consumed.
#[derive(Debug, Default)]
struct Copied {
    words: Vec<u64>,
    /// Position after the last word.
    end: u64,
}

impl Copied {
    /// Removes the words before `next`, and copies those that the ring has got since the last call.
    #[cold]
    fn update(&mut self, ring: &DataRing, next: u64) {
        // The copy ends at `end`, so its last `end - next` bytes are unread.
        let kept = (self.end.wrapping_sub(next) / 8) as usize;
        self.words.drain(..self.words.len().saturating_sub(kept));
        self.words.extend(ring.copy_from(self.end));
        self.end = ring.head();
    }

    fn words_from(&self, position: u64) -> &[u64] {
        let len = (self.end.wrapping_sub(position) / 8) as usize;
        self.words.len().checked_sub(len).and_then(|start| self.words.get(start..)).unwrap_or(&[])
    }
}

/// Returns the unread words from `position`: borrowed from the ring, or from their copy if the ring
/// lends none.
#[inline]
fn unread_from<'r>(ring: &'r DataRing, copied: &'r Copied, position: u64) -> Window<'r> {
    if ring.is_copied() {
        return Window::from_slices(copied.words_from(position), &[]);
    }
    let (first, wrapped) = ring.unread_from(position);
    Window::from_slices(first, wrapped)
}

impl Reader {
    pub(super) const fn new(ring: DataRing) -> Self {
        let next = ring.tail();
        let copied = Copied { words: Vec::new(), end: next };
        let damage = SkippedBytes { count: 0, bytes: 0, last: None };
        Self { ring, next, copied, damage, scratch: Vec::new() }
    }

    /// Returns the mapping, to map an AUX area for it.
    pub(crate) const fn mapping(&mut self) -> &mut DataRing {
        &mut self.ring
    }

    /// Borrows no record of the ring from now on.
    pub(super) fn copy_only(&mut self) {
        if !self.ring.is_copied() {
            self.ring.copy_only();
            self.copied.end = self.next;
            self.copied.update(&self.ring, self.next);
        }
    }

    /// Returns the size of the data area in bytes.
    pub(crate) const fn data_size(&self) -> usize {
        self.ring.size()
    }

    /// Returns [`Error::Forked`](perf_sys::Error::Forked) in a child of `fork`.
    pub(super) fn check_here(&self) -> Result<()> {
        Ok(self.ring.check_process()?)
    }

    /// Loads the kernel's position; `next` in a child of `fork`.
    pub(crate) fn load_head(&self) -> u64 {
        self.ring.load_head().unwrap_or(self.next)
    }

    /// Returns the position of the first record that was not consumed.
    pub(crate) const fn next_position(&self) -> u64 {
        self.next
    }

    /// Returns the kernel's position as of the last refresh.
    pub(crate) const fn head(&self) -> u64 {
        self.ring.head()
    }

    /// Returns whether a refresh would find unread records.
    pub(super) fn has_unread(&self) -> bool {
        self.load_head() != self.next
    }

    /// Returns whether at least half of the area is not released.
    pub(crate) fn is_half_full(&self) -> bool {
        // Against the tail and not `next`: the kernel can only write into released space.
        self.load_head().wrapping_sub(self.ring.tail()) >= self.data_size() as u64 / 2
    }

    /// Loads the kernel's position as the end of the unread records.
    ///
    /// # Errors
    ///
    /// [`Positions`](perf_sys::Error::Positions) if the control page is damaged, and
    /// [`Forked`](perf_sys::Error::Forked).
    pub(super) fn refresh(&mut self) -> Result<()> {
        self.ring.refresh()?;
        if self.ring.is_copied() {
            self.copied.update(&self.ring, self.next);
        }
        Ok(())
    }

    /// Returns the number of unread bytes as of the last refresh.
    #[inline]
    pub(crate) const fn len(&self) -> u64 {
        self.ring.head().wrapping_sub(self.next)
    }

    /// Consumes the records before `position`, at most to the end of the unread records.
    #[inline]
    pub(crate) fn advance_to(&mut self, position: u64) {
        Position { next: &mut self.next, head: self.ring.head() }.advance_to(position);
    }

    /// Consumes all unread records.
    pub(super) const fn consume_all(&mut self) {
        self.next = self.ring.head();
    }

    /// Releases if at least an eighth of the ring was consumed since the last release.
    #[inline]
    pub(crate) fn release_if_due(&mut self) {
        if self.next.wrapping_sub(self.ring.tail()) >= self.data_size() as u64 / 8 {
            self.release();
        }
    }

    /// Publishes the consumed records, so that the kernel may overwrite them.
    pub(crate) fn release(&mut self) {
        self.ring.release(self.next);
    }

    /// Returns the unread records and the other parts of the reader.
    #[inline]
    fn parts(&mut self) -> (Window<'_>, Position<'_>, &mut Vec<u64>, &mut SkippedBytes) {
        let Self { ring, next, copied, damage, scratch } = self;
        let unread = unread_from(ring, copied, *next);
        (unread, Position { next, head: ring.head() }, scratch, damage)
    }

    /// Iterates over the unread records.
    #[inline]
    pub(super) fn records(&mut self) -> BatchRecords<'_> {
        let (unread, position, scratch, damage) = self.parts();
        BatchRecords::new(unread, position, scratch, damage)
    }

    /// Returns the first unread record and consumes it.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<RawRecord<'_>>> {
        let (unread, mut position, scratch, damage) = self.parts();
        // Only the first slice. A record that wraps or is damaged takes the cold path.
        match RawRecord::split_first(unread.as_slices().0) {
            Ok((record, _)) => {
                position.advance(record.size() as u64);
                Ok(Some(record))
            }
            Err(_) => next_wrapped(unread, position, scratch, damage),
        }
    }

    /// Returns the first unread record.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<Option<RawRecord<'_>>> {
        let (unread, _, scratch, _) = self.parts();
        match RawRecord::split_first(unread.as_slices().0) {
            Ok((record, _)) => Ok(Some(record)),
            Err(_) => peek_wrapped(unread, scratch),
        }
    }

    /// Returns the unread words from the free-running word index `at`, modulo 2^32, up to the end
    /// of the data area, and the reader's other parts for a record that is not in them.
    #[inline]
    pub(crate) fn words_from(&mut self, at: u32) -> (&[u64], Rest<'_>) {
        let Self { ring, copied, scratch, .. } = self;
        let unread = unread_from(ring, copied, position_of(ring, at));
        (unread.as_slices().0, Rest { ring, copied, scratch })
    }

    /// Consumes and releases all unread bytes because of `error` at their start.
    #[cold]
    pub(crate) fn skip_damage(&mut self, error: Error) {
        // The size is the way to the next record, so no later record can be found.
        self.damage.add(self.len(), error);
        self.consume_all();
        self.release();
    }

    /// Copies all unread records to `copy` and releases them.
    pub(super) fn copy_into<'c>(&mut self, copy: &'c mut Vec<u64>) -> Window<'c> {
        copy.clear();
        let (first, wrapped) = self.parts().0.as_slices();
        copy.extend_from_slice(first);
        copy.extend_from_slice(wrapped);
        self.consume_all();
        self.release();
        Window::from_slices(copy, &[])
    }
}

/// Returns the position of a free-running word index, modulo 2^32, that is before the head.
#[inline]
const fn position_of(ring: &DataRing, at: u32) -> u64 {
    // Exact, because the index is less than 2^32 words before the head.
    let words = ((ring.head() / 8) as u32).wrapping_sub(at);
    ring.head().wrapping_sub(words as u64 * 8)
}

/// The parts of a reader for a record that wraps, or that is out of order.
pub(crate) struct Rest<'r> {
    ring: &'r DataRing,
    copied: &'r Copied,
    scratch: &'r mut Vec<u64>,
}

impl Rest<'_> {
    /// Returns the record at a free-running word index, modulo 2^32.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_at(&mut self, at: u32) -> perf_decode::Result<RawRecord<'_>> {
        let unread = unread_from(self.ring, self.copied, position_of(self.ring, at));
        // An empty rest is an error, like a record that is too long.
        let none = || RawRecord::split_first(&[]).map(|(record, _)| record);
        join_first(unread, self.scratch).next().unwrap_or_else(none)
    }
}

/// The position of the first record of a ring that was not consumed.
#[derive(Debug)]
struct Position<'c> {
    next: &'c mut u64,
    head: u64,
}

impl Position<'_> {
    /// Consumes `bytes`, at most to the end of the unread records.
    #[inline]
    fn advance(&mut self, bytes: u64) {
        *self.next = self.next.wrapping_add(bytes.min(self.unread()));
    }

    /// Consumes the records before `position`, at most to the end of the unread records.
    #[inline]
    fn advance_to(&mut self, position: u64) {
        self.advance(position.wrapping_sub(*self.next));
    }

    /// Consumes all unread records and returns their length in bytes.
    fn advance_to_end(&mut self) -> u64 {
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

/// Returns and consumes the first record of `window` if it is not framed before the end of the data
/// area, because it wraps, is damaged or does not exist.
#[cold]
#[inline(never)]
fn next_wrapped<'c>(
    window: Window<'c>,
    mut position: Position<'c>,
    scratch: &'c mut Vec<u64>,
    damage: &mut SkippedBytes,
) -> Result<Option<RawRecord<'c>>> {
    let found = join_first(window, scratch).next();
    match found {
        Some(Ok(record)) => position.advance(record.size() as u64),
        Some(Err(error)) => damage.add(position.advance_to_end(), error),
        None => {}
    }
    Ok(found.transpose()?)
}

/// Returns the record of [`next_wrapped`] without consuming it.
#[cold]
#[inline(never)]
fn peek_wrapped<'c>(window: Window<'c>, scratch: &'c mut Vec<u64>) -> Result<Option<RawRecord<'c>>> {
    Ok(join_first(window, scratch).next().transpose()?)
}

/// Iterates over `window` with a scratch that is long enough for its first record.
fn join_first<'c>(window: Window<'c>, scratch: &'c mut Vec<u64>) -> Records<'c> {
    if let Err(Error::SizePastEnd { size, .. }) = RawRecord::split_first(window.as_slices().0) {
        let size = usize::from(size);
        // A record that is longer than the unread bytes is damaged: do not grow the scratch for it.
        if size <= window.len() && size / 8 > scratch.len() {
            scratch.resize(size / 8, 0);
        }
    }
    window.records(scratch)
}

/// The bytes of a ring that were skipped because they are not records.
///
/// A size that no record can have ends a batch, because no record after it can be found. The bytes
/// from there to the kernel's position are skipped, so that the next batch starts with records that
/// the kernel writes later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
/// without consuming it, use [`Ring::peek_record`](crate::Ring::peek_record). A batch passed to
/// [`forget`](core::mem::forget) releases nothing.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let event = perf_ring::Event::open(&perf_abi::Attr::default(), perf_ring::Target::calling_thread())?;
/// let mut ring = perf_ring::Ring::map(event, 64)?;
/// for record in ring.batch()?.records() {
///     println!("{:?}", record?.kind());
/// }
/// # Ok(())
/// # }
/// ```
///
/// A ring has at most one batch, a batch one iterator, and a record does not outlive its batch.
/// None of these compiles:
///
/// ```compile_fail,E0499
/// fn two_batches(ring: &mut perf_ring::Ring) {
///     let (first, second) = (ring.batch(), ring.batch());
///     drop(first);
/// }
/// ```
///
/// ```compile_fail,E0499
/// fn two_iterators(mut batch: perf_ring::Batch<'_>) {
///     let (first, second) = (batch.records(), batch.records());
///     drop(first);
/// }
/// ```
///
/// ```compile_fail,E0505
/// fn released_while_borrowed(mut batch: perf_ring::Batch<'_>) {
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
    /// bytes from there to the end of the batch are consumed, and
    /// [`Ring::damage`](crate::Ring::damage) counts them, so that a loop over batches continues
    /// with the records that the kernel writes later.
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
        self.reader.len()
    }

    /// Returns whether every record was consumed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Releases the records that were consumed so far, before the batch is dropped. Use it if the
    /// ring may fill up while the batch is processed, between two calls of
    /// [`records`](Self::records).
    pub fn release(&mut self) {
        self.reader.release();
    }

    /// Consumes and releases all records, and returns the number of bytes that were not read.
    pub fn discard(self) -> u64 {
        let unread = self.len();
        self.reader.consume_all();
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
/// The iterator consumes each record that it returns. An adaptor that reads ahead, such as
/// `peekable` or `take_while`, has consumed the record that it holds or rejects: to look at a
/// record without consuming it, use [`Ring::peek_record`](crate::Ring::peek_record).
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
    /// Takes and returns the state by value, because a reference would force the iterator into
    /// memory in every loop.
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
    use perf_sys::testing::SimulatedKernel as Kernel;

    /// The length of the scratch in words after a record of `size` words was joined from two slices
    /// that hold `available` words after its header.
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

    /// Returns a reader that has looked at a ring of one page with 170 records of 24 bytes.
    fn reader() -> (Kernel, Reader) {
        let (mut kernel, data) = Kernel::new(1).unwrap();
        assert!((0..170).all(|number| kernel.write(&[0, number])));
        let mut reader = Reader::new(data);
        reader.refresh().unwrap();
        (kernel, reader)
    }

    #[test]
    fn an_eighth_of_the_ring_is_due_for_release() {
        let (kernel, mut reader) = reader();
        let eighth = reader.data_size() as u64 / 8;
        reader.advance_to(eighth - 8);
        reader.release_if_due();
        assert_eq!(kernel.tail(), 0);
        reader.advance_to(eighth);
        reader.release_if_due();
        assert_eq!(kernel.tail(), eighth);
    }

    #[test]
    fn only_unread_bytes_can_be_consumed() {
        let (kernel, mut reader) = reader();
        reader.advance_to(u64::MAX / 2);
        reader.release();
        assert_eq!((kernel.tail(), reader.len()), (170 * 24, 0));
    }

    #[test]
    fn copied_records_stay_until_they_are_consumed_and_later_ones_are_added() {
        let (mut kernel, mut reader) = reader();
        reader.copy_only();
        let number = |record: Option<RawRecord<'_>>| record.map(|record| record.words()[2]);
        assert_eq!(number(reader.next().unwrap()), Some(0));
        kernel.overwrite(reader.mapping(), 40, 77); // the number of the next record
        assert_eq!(number(reader.next().unwrap()), Some(1), "as it was copied");
        reader.release();
        assert!(kernel.write(&[0, 170]) && kernel.write(&[0, 171]), "one of them wraps");
        reader.refresh().unwrap();
        let numbers: Vec<u64> = reader.records().map(|record| record.unwrap().words()[2]).collect();
        assert!(numbers.into_iter().eq(2..172));
        reader.release();
        assert_eq!(kernel.tail(), 172 * 24);
    }
}
