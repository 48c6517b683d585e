//! Records in the order of time.

use std::vec::Vec;

use super::kept::{Copies, KEPT_WORDS, Kept, Next};
use super::record::Content;
use super::{FileRecord, Found, FoundIn, Reader, Source};
use crate::Result;
use crate::format::record_type;

/// Reads the records of a file in the order of time.
///
/// A tool reads its rings one after the other, in rounds, and marks the end of each round with
/// [`FINISHED_ROUND`](record_type::FINISHED_ROUND). After a mark, no record is earlier than the
/// latest one before the preceding mark, so that records up to there can be sorted and returned.
/// This keeps the records of about two rounds.
///
/// Records without a time, with the time 0 (synthesized by tools before the recording) and those
/// of tools are returned at once, before the kept records.
///
/// ```
/// use perf_file::{Reader, Sorted};
///
/// # fn print(bytes: &[u8]) -> perf_file::Result<()> {
/// let mut sorted = Sorted::new(Reader::from_bytes(bytes)?);
/// while let Some(record) = sorted.next()? {
///     println!("{:?} {}", record.time(), record.kind());
/// }
/// assert_eq!(sorted.late(), 0);
/// # Ok(())
/// # }
/// # assert!(print(b"").is_err());
/// ```
#[derive(Debug)]
pub struct Sorted<S> {
    reader: Reader<S>,
    copies: Copies,
    /// Sorted up to the records of the last round. The first ones are ready.
    kept: Vec<Kept>,
    /// Number of records that can be returned: no earlier one follows.
    ready: usize,
    /// Number of records that were returned of these.
    next: usize,
    /// Words of kept records, above which they are returned without a mark.
    capacity: usize,
    /// The latest time that was read.
    latest: u64,
    /// The latest time that was read before the last mark.
    complete: u64,
    /// The latest time of a record that was ready.
    returned: u64,
    late: u64,
    early: u64,
    /// Whether the ready records are so without a mark.
    is_early: bool,
    end: End,
}

/// The end of the reading, which follows the kept records.
#[derive(Debug)]
enum End {
    /// More records can follow.
    None,
    /// The end of the file, or an error.
    Of(Result<()>),
}

impl<S: Source> Sorted<S> {
    /// Bytes of records that are kept by default: 32 MiB.
    pub const CAPACITY: usize = 32 << 20;

    /// Sorts the records of a reader; keeps up to [`Sorted::CAPACITY`] bytes of them.
    pub fn new(reader: Reader<S>) -> Self {
        Self::with_capacity(reader, Self::CAPACITY)
    }

    /// Sorts the records of a reader; keeps up to about `bytes` bytes of them, with 32 bytes beside
    /// each. Records of a file in memory stay there and need only these.
    ///
    /// When more records are read without a mark, the earliest half is returned, although an
    /// earlier one can follow. [`early`](Sorted::early) counts them.
    pub fn with_capacity(reader: Reader<S>, bytes: usize) -> Self {
        Self {
            reader,
            copies: Copies::default(),
            kept: Vec::new(),
            ready: 0,
            next: 0,
            capacity: bytes / 8,
            latest: 0,
            complete: 0,
            returned: 0,
            late: 0,
            early: 0,
            is_early: false,
            end: End::None,
        }
    }

    /// Returns the reader.
    pub fn reader(&self) -> &Reader<S> {
        &self.reader
    }

    /// Returns the number of records that were returned after a later one, because they were read
    /// too late.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Returns the number of records that were returned before it was certain that no earlier one
    /// follows, because [`Sorted::with_capacity`]'s limit was reached.
    pub fn early(&self) -> u64 {
        self.early
    }

    /// Reads the next record in the order of time; `None` at the end.
    ///
    /// # Errors
    ///
    /// Those of [`Reader::next`], after all records that were read before it.
    #[expect(clippy::should_implement_trait, reason = "the record borrows the reader")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        if self.next == self.ready {
            if let Some(found) = self.read()? {
                return self.reader.record(found).map(Some);
            }
        }
        let index = self.next;
        self.next += usize::from(index < self.ready);
        Ok(self.kept(index))
    }

    /// Finds the next record, which [`record`](Self::record) returns.
    pub(super) fn step(&mut self) -> Result<Option<Next>> {
        if self.next == self.ready {
            if let Some(found) = self.read()? {
                return Ok(Some(Next::Found(found)));
            }
        }
        let next = self.kept.get(self.next).filter(|_| self.next < self.ready);
        let next = next.map(|kept| Next::Kept { index: self.next, time: kept.time });
        self.next += usize::from(next.is_some());
        Ok(next)
    }

    /// Returns the record that the last step found.
    pub(super) fn record(&self, next: Next) -> Result<Option<FileRecord<'_>>> {
        match next {
            Next::Found(found) => self.reader.record(found).map(Some),
            Next::Kept { index, .. } => Ok(self.kept(index)),
        }
    }

    /// Reads until records are ready, the file ends, or a record follows that is returned at once.
    fn read(&mut self) -> Result<Option<Found>> {
        self.forget();
        if let End::Of(end) = &mut self.end {
            return core::mem::replace(end, Ok(())).map(|()| None);
        }
        while self.ready == 0 {
            let start = self.reader.plain.read;
            let found = if self.reader.step_plainly() {
                if self.keep_plainly(start) {
                    continue;
                }
                Ok(self.reader.found(start))
            } else {
                self.reader.step_slowly()
            };
            match found {
                Ok(Some(found)) => {
                    if !self.keep(found)? {
                        return Ok(Some(found));
                    }
                }
                end => {
                    self.end = End::Of(end.map(drop));
                    self.release(u64::MAX);
                    if self.ready == 0 {
                        return self.read();
                    }
                }
            }
        }
        Ok(None)
    }

    /// Keeps the record that starts at a word of the source if it has a time. Returns whether it does.
    #[inline]
    fn keep_plainly(&mut self, start: usize) -> bool {
        let Some(record) = self.reader.plain_record(start) else { return false };
        let (Some(raw), Some(time)) = (record.kernel(), time(&record)) else { return false };
        let kept = match self.reader.position(start) {
            Some(position) => Kept::in_source(time, record.place(), position),
            None => self.copies.keep(time, record.place(), raw),
        };
        self.push(kept);
        true
    }

    /// Keeps a record that has a time. Returns whether it does.
    fn keep(&mut self, found: Found) -> Result<bool> {
        if let FoundIn::Plain { start } = found.memory {
            return Ok(self.keep_plainly(start));
        }
        let record = self.reader.record(found)?;
        if record.kind() == record_type::FINISHED_ROUND {
            let complete = core::mem::replace(&mut self.complete, self.latest);
            self.release(complete);
            return Ok(false);
        }
        let (Some(raw), Some(time)) = (record.kernel(), time(&record)) else { return Ok(false) };
        let kept = self.copies.keep(time, found.place, raw);
        self.push(kept);
        Ok(true)
    }

    #[inline]
    fn push(&mut self, kept: Kept) {
        self.latest = self.latest.max(kept.time);
        self.kept.push(kept);
        if self.copies.len() + self.kept.len() * KEPT_WORDS > self.capacity {
            self.release_half();
        }
    }

    /// Makes the records up to the time `until` ready.
    fn release(&mut self, until: u64) {
        self.kept.sort_by_key(|kept| kept.time);
        self.make_ready(self.kept.partition_point(|kept| kept.time <= until));
    }

    /// Makes the earliest half of the records ready.
    #[cold]
    fn release_half(&mut self) {
        self.kept.sort_by_key(|kept| kept.time);
        self.make_ready(self.kept.len().div_ceil(2));
        let ready = self.kept.get(..self.ready).unwrap_or_default();
        self.early += ready.iter().filter(|kept| kept.time > self.complete).count() as u64;
        self.is_early = true;
    }

    fn make_ready(&mut self, count: usize) {
        self.ready = count;
        let ready = self.kept.get(..count).unwrap_or_default();
        self.late += ready.partition_point(|kept| kept.time < self.returned) as u64;
        self.returned = self.returned.max(ready.last().map_or(0, |kept| kept.time));
    }

    /// Forgets the records that were returned.
    fn forget(&mut self) {
        if self.ready == 0 {
            return;
        }
        self.kept.drain(..self.ready.min(self.kept.len()));
        (self.ready, self.next) = (0, 0);
        if core::mem::take(&mut self.is_early) {
            self.copies.compact(&mut self.kept);
        } else {
            self.copies.retain(&mut self.kept);
        }
    }

    /// Returns a ready record.
    #[inline]
    fn kept(&self, index: usize) -> Option<FileRecord<'_>> {
        let kept = self.kept.get(index).filter(|_| index < self.ready)?;
        let raw = match kept.start_in_source() {
            Some(start) => self.reader.raw_at(start)?,
            None => self.copies.get(kept)?,
        };
        let context = &self.reader.context;
        Some(FileRecord { place: kept.place(), content: Content::Kernel(raw), context })
    }
}

/// Returns the time by which a record is sorted.
#[inline]
fn time(record: &FileRecord<'_>) -> Option<u64> {
    record.time().filter(|time| *time != 0 && *time != u64::MAX)
}
