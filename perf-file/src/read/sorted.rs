//! Records in the order of time.

use std::boxed::Box;
use std::vec::Vec;

use super::kept::{Copies, KEPT_WORDS, Kept, Next};
use super::record::Content;
use super::{FileRecord, Found, FoundIn, Reader, Source};
use crate::Result;
use crate::format::record_type;

/// Bytes of records that a sorted reader keeps by default.
const CAPACITY: usize = 32 << 20;

/// The records of a file that are kept until no earlier one can follow.
///
/// ```text
/// kept:   returned | ready | not sorted since the last mark
///         0 .. next .. ready .. len
/// ```
#[derive(Debug)]
pub(super) struct Sort {
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
    /// The latest time that was read before the last mark. No later record is earlier.
    complete: u64,
    /// The latest time of a record that was ready.
    returned: u64,
    late: u64,
    early: u64,
    /// Whether the ready records are so without a mark: then many others stay, which are moved together.
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

/// # Order of time
impl<S: Source> Reader<S> {
    /// Returns the records in the order of time; keeps up to 32 MiB of them. Records that were read already stay
    /// where they were.
    #[must_use]
    pub fn sorted(self) -> Self {
        self.sorted_with_capacity(CAPACITY)
    }

    /// Returns the records in the order of time; keeps up to about `bytes` bytes of them, with 32 bytes beside
    /// each. Records of a file in memory stay there and need only these. The files of a directory share the bytes.
    ///
    /// When more records are read without a mark, the earliest half is returned, although an
    /// earlier one can follow. [`early`](Self::early) counts them.
    #[must_use]
    pub fn sorted_with_capacity(mut self, bytes: usize) -> Self {
        let files = 1 + self.parts.as_ref().map_or(0, |parts| parts.numbered.len());
        self.sort_within(bytes / files);
        if let Some(parts) = &mut self.parts {
            parts.sort(bytes / files);
        }
        self
    }

    pub(super) fn sort_within(&mut self, bytes: usize) {
        self.sort = Some(Box::new(Sort::new(bytes)));
    }

    /// Returns the number of records that were returned after a later one, because they were read
    /// too late. 0 unless the reader is [sorted](Self::sorted).
    pub fn late(&self) -> u64 {
        match &self.parts {
            Some(parts) => parts.late(),
            None => self.sort.as_ref().map_or(0, |sort| sort.late),
        }
    }

    /// Returns the number of records that were returned before it was certain that no earlier one
    /// follows, because the [capacity](Self::sorted_with_capacity) was reached. 0 unless the reader is sorted.
    pub fn early(&self) -> u64 {
        let numbered = self.parts.iter().flat_map(|parts| &parts.numbered);
        self.sort.as_ref().map_or(0, |sort| sort.early) + numbered.map(Self::early).sum::<u64>()
    }

    /// Finds the next record of this file, in the order of time if the reader is sorted. [`record_of`](Self::record_of) returns it.
    #[inline]
    pub(super) fn step_sorted(&mut self) -> Result<Option<Next>> {
        if let Some(next) = self.sort.as_mut().and_then(|sort| sort.pop()) {
            return Ok(Some(next));
        }
        self.step_past_ready()
    }

    fn step_past_ready(&mut self) -> Result<Option<Next>> {
        // Taken out, because both are changed.
        let Some(mut sort) = self.sort.take() else { return Ok(self.step()?.map(Next::Found)) };
        let read = sort.read(self);
        let next = read.map(|found| found.map(Next::Found).or_else(|| sort.pop()));
        self.sort = Some(sort);
        next
    }

    /// Returns the record that the last step found.
    #[inline]
    pub(super) fn record_of(&self, next: Next) -> Result<Option<FileRecord<'_>>> {
        match next {
            Next::Found(found) => self.record(found).map(Some),
            Next::Kept { index, .. } => Ok(self.kept(index)),
        }
    }

    /// Returns a ready record.
    #[inline]
    fn kept(&self, index: usize) -> Option<FileRecord<'_>> {
        let sort = self.sort.as_ref()?;
        let kept = sort.kept.get(index)?;
        let raw = match kept.start_in_source() {
            Some(start) => self.raw_at(start)?,
            None => sort.copies.get(kept)?,
        };
        Some(FileRecord { place: kept.place(), content: Content::Kernel(raw), context: &self.context })
    }
}

impl Sort {
    fn new(bytes: usize) -> Self {
        Self {
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

    /// Takes the next ready record.
    #[inline]
    fn pop(&mut self) -> Option<Next> {
        let index = self.next;
        let next = self.kept.get(index).filter(|_| index < self.ready)?;
        self.next += 1;
        Some(Next::Kept { index, time: next.time })
    }

    /// Reads until records are ready, the file ends, or a record follows that is returned at once.
    fn read<S: Source>(&mut self, reader: &mut Reader<S>) -> Result<Option<Found>> {
        self.forget();
        while self.ready == 0 {
            if let End::Of(end) = &mut self.end {
                return core::mem::replace(end, Ok(())).map(|()| None);
            }
            let start = reader.plain.read;
            let found = if reader.step_plainly() {
                if self.keep_plainly(reader, start) {
                    continue;
                }
                Ok(reader.found(start))
            } else {
                reader.step_slowly()
            };
            match found {
                Ok(Some(found)) => {
                    if !self.keep(reader, found)? {
                        return Ok(Some(found));
                    }
                }
                end => {
                    self.end = End::Of(end.map(drop));
                    self.release(u64::MAX);
                }
            }
        }
        Ok(None)
    }

    /// Keeps the record that starts at a word of the source if it has a time. Returns whether it does.
    #[inline]
    fn keep_plainly<S: Source>(&mut self, reader: &Reader<S>, start: usize) -> bool {
        let Some(record) = reader.plain_record(start) else { return false };
        let (Some(raw), Some(time)) = (record.kernel(), time(&record)) else { return false };
        let kept = match reader.position(start) {
            Some(position) => Kept::in_source(time, record.place(), position),
            None => self.copies.keep(time, record.place(), raw),
        };
        self.push(kept);
        true
    }

    /// Keeps a record that has a time. Returns whether it does.
    fn keep<S: Source>(&mut self, reader: &Reader<S>, found: Found) -> Result<bool> {
        if let FoundIn::Plain { start } = found.memory {
            return Ok(self.keep_plainly(reader, start));
        }
        let record = reader.record(found)?;
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
}

/// Returns the time by which a record is sorted.
#[inline]
fn time(record: &FileRecord<'_>) -> Option<u64> {
    record.time().filter(|time| *time != 0 && *time != u64::MAX)
}
