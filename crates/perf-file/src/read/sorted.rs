//! Records in time order.
//!
//! A record is kept until no earlier one can follow. Records of a file in memory stay where they
//! are; records of a stream are copied.
//!
//! The records of a round are sorted by std's stable sort, and not merged by [`perf_decode::Heads`]
//! as the files of a directory are. `Heads` needs sources that are in order, but the rings of a
//! round follow each other without a mark, and nothing limits how often the time goes back: the
//! sources would have to be found first, and with many short ones each change of the source is
//! linear in their number, so the sort would be needed too. std's sort finds the ascending runs and
//! merges them, and costs less than the decoding of the time. A merge of runs was 3 to 7 % faster.

use std::boxed::Box;
use std::vec::Vec;

use perf_decode::RawRecord;

use super::record::Content;
use super::step::Found;
use super::{FileOffset, FileRecord, Reader, Source};
use crate::error::Result;
use crate::format::record_type;

/// Bytes of records that a sorted reader keeps by default.
const CAPACITY: usize = 32 << 20;

/// The records of a file that are kept until no earlier one can follow.
///
/// ```text
/// kept:   returned | ready | not sorted since the last mark
///         0 .. next .. ready .. len
/// ```
#[derive(Debug, Default)]
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
    /// Whether the ready records were released without a mark. Then many others stay.
    is_early: bool,
    /// The end of the file or an error, which follows the kept records; `None` while more records
    /// can follow.
    end: Option<Result<()>>,
}

/// A kept record. Its 32 bytes are documented at [`Reader::sorted_with_capacity`].
#[derive(Clone, Copy, Debug)]
struct Kept {
    time: u64,
    /// Offset of the record in the file, or of the compressed record that has it.
    offset: u64,
    is_in_compressed: bool,
    memory: Memory,
    /// Index of its first byte in the source, or of its first word among the copies.
    start: usize,
}

/// The memory of a kept record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Source,
    /// One of the two halves of the copies.
    Copy(Half),
}

/// An index of [`Copies::halves`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Half {
    #[default]
    First,
    Second,
}

/// Words that a kept record needs in addition to its own.
const KEPT_WORDS: usize = size_of::<Kept>().div_ceil(8);

/// # Order of time
impl<S: Source> Reader<S> {
    /// Returns the records in time order; keeps up to 32 MiB of them. Records that were read
    /// already stay where they were.
    #[must_use]
    pub fn sorted(self) -> Self {
        self.sorted_with_capacity(CAPACITY)
    }

    /// Returns the records in time order; keeps up to about `bytes` bytes of them, including 32
    /// bytes of overhead for each. Records of a file in memory only need the overhead. The files of
    /// a directory share the bytes.
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
        self.sort = Some(Box::new(Sort { capacity: bytes / 8, ..Sort::default() }));
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
    /// follows, because the [capacity](Self::sorted_with_capacity) was reached. 0 unless the reader
    /// is sorted.
    pub fn early(&self) -> u64 {
        let numbered = self.parts.iter().flat_map(|parts| &parts.numbered);
        self.sort.as_ref().map_or(0, |sort| sort.early) + numbered.map(Self::early).sum::<u64>()
    }

    /// Finds the next record of this file, in time order if the reader is sorted.
    #[inline]
    pub(super) fn step_sorted(&mut self) -> Result<Option<Found>> {
        match self.sort.as_mut().and_then(|sort| sort.pop()) {
            None => self.step_past_ready(),
            ready => Ok(ready),
        }
    }

    fn step_past_ready(&mut self) -> Result<Option<Found>> {
        // Taken out, because both are changed.
        let Some(mut sort) = self.sort.take() else { return self.step() };
        let read = sort.read(self);
        let next = read.map(|found| found.or_else(|| sort.pop()));
        self.sort = Some(sort);
        next
    }

    /// Returns a ready record.
    #[inline]
    pub(super) fn kept(&self, index: usize) -> Option<FileRecord<'_>> {
        let sort = self.sort.as_ref()?;
        let kept = sort.kept.get(index)?;
        let raw = match kept.memory {
            Memory::Source => self.raw_at(kept.start)?,
            Memory::Copy(half) => sort.copies.get(half, kept.start)?,
        };
        let place = if kept.is_in_compressed { FileOffset::InCompressed } else { FileOffset::Offset };
        let place = place(kept.offset);
        Some(FileRecord { place, content: Content::Kernel(raw), context: &self.context })
    }
}

impl Sort {
    /// Takes the next ready record.
    #[inline]
    fn pop(&mut self) -> Option<Found> {
        let index = self.next;
        let time = self.kept.get(index).filter(|_| index < self.ready)?.time;
        self.next += 1;
        Some(Found::Kept { index, time })
    }

    /// Reads until records are ready, the file ends, or a record follows that is returned at once.
    fn read<S: Source>(&mut self, reader: &mut Reader<S>) -> Result<Option<Found>> {
        self.forget();
        while self.ready == 0 {
            if let Some(end) = &mut self.end {
                // An error is returned once.
                return core::mem::replace(end, Ok(())).map(|()| None);
            }
            match reader.step() {
                Ok(Some(found)) => {
                    if !self.keep(reader, found)? {
                        return Ok(Some(found));
                    }
                }
                end => {
                    // Nothing follows, so all kept records are ready before the end or the error.
                    self.end = Some(end.map(drop));
                    self.release(u64::MAX);
                }
            }
        }
        Ok(None)
    }

    /// Keeps a record that has a time. Returns whether it does.
    #[inline]
    fn keep<S: Source>(&mut self, reader: &Reader<S>, found: Found) -> Result<bool> {
        let Some(record) = reader.record(found)? else { return Ok(false) };
        let Some((raw, time)) = record.kernel().zip(time(&record)) else {
            if record.kind() == record_type::FINISHED_ROUND {
                // Records read before the preceding mark are complete now. The latest time before
                // this mark is complete at the next one.
                let complete = core::mem::replace(&mut self.complete, self.latest);
                self.release(complete);
            }
            return Ok(false);
        };
        let position = match found {
            Found::Plain { start } => reader.position(start),
            _ => None,
        };
        let (memory, start) = match position {
            Some(position) => (Memory::Source, position),
            None => self.copies.keep(raw),
        };
        let is_in_compressed = matches!(record.place(), FileOffset::InCompressed(_));
        let offset = record.place().offset();
        self.kept.push(Kept { time, offset, is_in_compressed, memory, start });
        self.latest = self.latest.max(time);
        if self.copies.len() + self.kept.len() * KEPT_WORDS > self.capacity {
            self.release_half();
        }
        Ok(true)
    }

    /// Releases the records up to the time `until`.
    fn release(&mut self, until: u64) {
        // Stable, so that records of one time keep their order.
        self.kept.sort_by_key(|kept| kept.time);
        self.make_ready(self.kept.partition_point(|kept| kept.time <= until));
    }

    /// Releases the earliest half of the records.
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
        // The records are sorted, so late ones come first.
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
        self.copies.forget(&mut self.kept, core::mem::take(&mut self.is_early));
    }
}

/// Returns the time by which a record is sorted.
#[inline]
fn time(record: &FileRecord<'_>) -> Option<u64> {
    record.time().filter(|time| *time != 0 && *time != u64::MAX)
}

/// Copies of kept records.
///
/// The records of a round are returned in the next one. So two halves are used in turn: when all
/// records of one were returned, it is used for the next round, and nothing is moved.
#[derive(Debug, Default)]
struct Copies {
    halves: [Vec<u64>; 2],
    current: Half,
}

impl Copies {
    /// Returns the number of words, including returned records.
    #[inline]
    fn len(&self) -> usize {
        self.halves.iter().map(Vec::len).sum()
    }

    /// Copies a record. Returns its place.
    #[inline]
    fn keep(&mut self, raw: RawRecord<'_>) -> (Memory, usize) {
        let half = self.current;
        let words = self.half(half);
        let start = words.len();
        words.extend_from_slice(raw.words());
        (Memory::Copy(half), start)
    }

    /// Returns a copied record.
    #[inline]
    fn get(&self, half: Half, start: usize) -> Option<RawRecord<'_>> {
        let [first, second] = &self.halves;
        let words = if half == Half::First { first } else { second };
        RawRecord::split_first(words.get(start..)?).ok().map(|(raw, _)| raw)
    }

    /// Forgets the records that are not among `waiting`, and continues in the half that was used
    /// longer ago.
    fn forget(&mut self, waiting: &mut [Kept], is_early: bool) {
        if self.len() == 0 {
            return;
        }
        let current = self.current;
        let old = if current == Half::First { Half::Second } else { Half::First };
        // After a mark, nearly all records of the old half were returned, and hardly any of the
        // current one. Half of all records were returned without a mark, so that both halves have
        // gaps.
        self.compact(old, waiting);
        if is_early {
            self.compact(current, waiting);
        }
        self.current = old;
    }

    /// Moves the records of a half that are among `waiting` to its start, and forgets the others.
    fn compact(&mut self, half: Half, waiting: &mut [Kept]) {
        let in_half = |kept: &&mut Kept| kept.memory == Memory::Copy(half);
        let mut waiting: Vec<&mut Kept> = waiting.iter_mut().filter(in_half).collect();
        // In the order of memory, so that a record is only moved over those that were moved or
        // forgotten.
        waiting.sort_unstable_by_key(|kept| kept.start);
        let words = self.half(half);
        let mut end = 0;
        for kept in waiting {
            let framed = RawRecord::split_first(words.get(kept.start..).unwrap_or_default());
            let len = framed.map_or(0, |(raw, _)| raw.words().len());
            words.copy_within(kept.start..kept.start + len, end);
            kept.start = end;
            end += len;
        }
        words.truncate(end);
    }

    #[inline]
    fn half(&mut self, half: Half) -> &mut Vec<u64> {
        let [first, second] = &mut self.halves;
        if half == Half::First { first } else { second }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps a record with a number, which is its time too.
    fn keep(copies: &mut Copies, value: u64) -> Kept {
        // type 9, misc 0, size 16; a number
        let header =
            perf_abi::Header { kind: perf_abi::RecordType(9), misc: perf_abi::Misc::empty(), size: 16 };
        let words = [header.to_word(), value];
        let (memory, start) = copies.keep(RawRecord::from_words(&words).unwrap());
        Kept { time: value, offset: value, is_in_compressed: false, memory, start }
    }

    fn values(copies: &Copies, kept: &[Kept]) -> Vec<u64> {
        let value = |kept: &Kept| match kept.memory {
            Memory::Copy(half) => copies.get(half, kept.start).unwrap().words()[1],
            Memory::Source => panic!("it was copied"),
        };
        kept.iter().map(value).collect()
    }

    #[test]
    fn memory_of_a_round_is_used_again_after_the_next_one() {
        let mut copies = Copies::default();
        let mut waiting = Vec::new();
        let mut most = 0;
        for round in 0..100 {
            let next: Vec<Kept> = (0..10).map(|value| keep(&mut copies, round * 10 + value)).collect();
            most = most.max(copies.len());
            // The last record of a round is returned two rounds later.
            waiting.retain(|kept: &Kept| kept.time + 11 > round * 10);
            waiting.extend(next);
            copies.forget(&mut waiting, false);
            let times: Vec<u64> = waiting.iter().map(|kept| kept.time).collect();
            assert_eq!(values(&copies, &waiting), times);
        }
        assert!(most <= 2 * 2 * 22, "{most}");
    }

    #[test]
    fn only_waiting_records_are_left_after_compaction() {
        let mut copies = Copies::default();
        let mut waiting: Vec<Kept> = (0..50).map(|value| keep(&mut copies, value)).collect();
        copies.forget(&mut waiting, false);
        waiting.extend((50..100).map(|value| keep(&mut copies, value)));
        waiting.retain(|kept| kept.time % 10 == 9);
        waiting.reverse();
        copies.forget(&mut waiting, true);
        let left: Vec<u64> = (0..10).rev().map(|index| 10 * index + 9).collect();
        assert_eq!((copies.len(), values(&copies, &waiting)), (20, left));
    }
}
