//! Records in the order of time.

use std::vec::Vec;

use perf_abi::Header;
use perf_decode::RawRecord;

use super::record::Content;
use super::{FileRecord, Found, Place, Reader, Source};
use crate::format::record_type;
use crate::{Error, Reason, Result};

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
    /// The words of the kept records.
    words: Vec<u64>,
    /// Records that an earlier one can follow. Sorted up to the records of the last round.
    waiting: Vec<Kept>,
    /// Records that can be returned, sorted; those from `next` on are not returned yet.
    ready: Vec<Kept>,
    next: usize,
    /// Words of kept records, above which they are returned without a mark.
    capacity: usize,
    /// The latest time that was read.
    latest: u64,
    /// The latest time that was read before the last mark.
    complete: u64,
    /// The latest time that was returned.
    returned: u64,
    late: u64,
    early: u64,
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

/// A kept record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    time: u64,
    place: Place,
    header: Header,
    /// Index of its first word among the copied ones, or of its first byte in the source.
    start: usize,
    is_copied: bool,
}

/// Words that a kept record needs beside its own.
const KEPT_WORDS: usize = size_of::<Kept>().div_ceil(8);

impl Kept {
    /// Returns the indices of its words in the buffer; none if it is in the source.
    fn words(&self) -> core::ops::Range<usize> {
        let len = if self.is_copied { usize::from(self.header.size / 8) } else { 0 };
        self.start..self.start + len
    }
}

impl<S: Source> Sorted<S> {
    /// Bytes of records that are kept by default: 32 MiB.
    pub const CAPACITY: usize = 32 << 20;

    /// Sorts the records of a reader; keeps up to [`Sorted::CAPACITY`] bytes of them.
    pub fn new(reader: Reader<S>) -> Self {
        Self::with_capacity(reader, Self::CAPACITY)
    }

    /// Sorts the records of a reader; keeps up to about `bytes` bytes of them, with 48 bytes beside
    /// each. Records of a file in memory stay there and need only these.
    ///
    /// When more records are read without a mark, the earliest half is returned, although an
    /// earlier one can follow. [`early`](Sorted::early) counts them.
    pub fn with_capacity(reader: Reader<S>, bytes: usize) -> Self {
        Self {
            reader,
            words: Vec::new(),
            waiting: Vec::new(),
            ready: Vec::new(),
            next: 0,
            capacity: bytes / 8,
            latest: 0,
            complete: 0,
            returned: 0,
            late: 0,
            early: 0,
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
    pub fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        match self.step()? {
            Some(next) => self.record(next).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the record that the last step found.
    pub(super) fn record(&self, next: Next) -> Result<FileRecord<'_>> {
        match next {
            Next::Found(found) => self.reader.record(found),
            Next::Kept(kept) => self.kept(kept),
        }
    }

    pub(super) fn step(&mut self) -> Result<Option<Next>> {
        loop {
            if let Some(kept) = self.ready.get(self.next).copied() {
                self.next += 1;
                self.late += u64::from(kept.time < self.returned);
                self.returned = self.returned.max(kept.time);
                return Ok(Some(Next::Kept(kept)));
            }
            self.compact();
            if let End::Of(end) = &mut self.end {
                return core::mem::replace(end, Ok(())).map(|()| None);
            }
            match self.reader.step() {
                Ok(Some(found)) => {
                    if !self.keep(found)? {
                        return Ok(Some(Next::Found(found)));
                    }
                }
                end => {
                    self.end = End::Of(end.map(drop));
                    self.release(u64::MAX);
                }
            }
        }
    }

    /// Keeps a record that has a time. Returns whether it does.
    fn keep(&mut self, found: Found) -> Result<bool> {
        let record = self.reader.record(found)?;
        if record.kind() == record_type::FINISHED_ROUND {
            let complete = core::mem::replace(&mut self.complete, self.latest);
            self.release(complete);
            return Ok(false);
        }
        let (Some(raw), Some(time)) = (record.kernel(), record.time()) else { return Ok(false) };
        if time == 0 || time == u64::MAX {
            return Ok(false);
        }
        let in_source = self.reader.start_in_source(found);
        let start = in_source.unwrap_or(self.words.len());
        let is_copied = in_source.is_none();
        if is_copied {
            self.words.extend_from_slice(raw.words());
        }
        self.waiting.push(Kept { time, place: found.place, header: found.header, start, is_copied });
        self.latest = self.latest.max(time);
        if self.words.len() + self.waiting.len() * KEPT_WORDS > self.capacity {
            self.release_half();
        }
        Ok(true)
    }

    /// Makes the records up to the time `until` ready.
    fn release(&mut self, until: u64) {
        self.waiting.sort_by_key(|kept| kept.time);
        let count = self.waiting.partition_point(|kept| kept.time <= until);
        self.ready.extend(self.waiting.drain(..count));
    }

    /// Makes the earliest half of the records ready.
    #[cold]
    fn release_half(&mut self) {
        self.waiting.sort_by_key(|kept| kept.time);
        let count = self.waiting.len().div_ceil(2);
        self.early += self.waiting.iter().take(count).filter(|kept| kept.time > self.complete).count() as u64;
        self.ready.extend(self.waiting.drain(..count));
    }

    /// Forgets the records that were returned.
    #[inline]
    fn compact(&mut self) {
        if self.next == 0 {
            return;
        }
        self.next = 0;
        self.ready.clear();
        let len = self.waiting.iter().map(|kept| kept.words().len()).sum();
        let mut words = Vec::with_capacity(len);
        for kept in self.waiting.iter_mut().filter(|kept| kept.is_copied) {
            let from = self.words.get(kept.words()).unwrap_or_default();
            kept.start = words.len();
            words.extend_from_slice(from);
        }
        self.words.clear();
        self.words.append(&mut words);
    }

    fn kept(&self, kept: Kept) -> Result<FileRecord<'_>> {
        let raw = if kept.is_copied {
            RawRecord::from_words(self.words.get(kept.words()).unwrap_or_default())
        } else {
            let from =
                self.reader.source.whole().and_then(|whole| whole.get(kept.start..)).unwrap_or_default();
            RawRecord::from_bytes(from.get(..kept.header.size.into()).unwrap_or_default())
        };
        let raw = raw.map_err(|error| Error::new(kept.place.offset(), Reason::Decoding(error)))?;
        Ok(FileRecord { place: kept.place, content: Content::Kernel(raw), context: &self.reader.context })
    }
}

/// The next record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// One that the reader read last.
    Found(Found),
    Kept(Kept),
}

impl Next {
    /// Returns the time; 0 for a record that is returned at once.
    pub(super) fn time(&self) -> u64 {
        match self {
            Self::Found(_) => 0,
            Self::Kept(kept) => kept.time,
        }
    }
}
