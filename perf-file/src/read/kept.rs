//! Records that are kept until no earlier one can follow.

use std::vec::Vec;

use perf_decode::RawRecord;

use super::{FileOffset, Found};

/// A kept record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) time: u64,
    offset: u64,
    /// Index of its first word among the copies, or of its first byte in the source.
    start: usize,
    memory: Memory,
    is_in_compressed: bool,
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

/// Words that a kept record needs beside its own.
pub(super) const KEPT_WORDS: usize = size_of::<Kept>().div_ceil(8);

impl Kept {
    /// Creates a record whose first byte in the source is `start`.
    #[inline]
    pub(super) fn in_source(time: u64, place: FileOffset, start: usize) -> Self {
        Self::new(time, place, start, Memory::Source)
    }

    #[inline]
    fn new(time: u64, place: FileOffset, start: usize, memory: Memory) -> Self {
        let is_in_compressed = matches!(place, FileOffset::InCompressed(_));
        Self { time, offset: place.offset(), start, memory, is_in_compressed }
    }

    /// Returns its position in the file.
    #[inline]
    pub(super) fn place(&self) -> FileOffset {
        if self.is_in_compressed {
            FileOffset::InCompressed(self.offset)
        } else {
            FileOffset::Offset(self.offset)
        }
    }

    /// Returns the index of its first byte in the source; `None` if it was copied.
    #[inline]
    pub(super) fn start_in_source(&self) -> Option<usize> {
        (self.memory == Memory::Source).then_some(self.start)
    }
}

/// Copies of kept records.
///
/// The records of a round are returned in the next one. So two halves are used in turn: when all
/// records of one were returned, it is used for the next round.
#[derive(Debug, Default)]
pub(super) struct Copies {
    halves: [Vec<u64>; 2],
    current: Half,
}

impl Copies {
    /// Returns the number of words, with those of records that were returned.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.halves.iter().map(Vec::len).sum()
    }

    /// Copies a record.
    #[inline]
    pub(super) fn keep(&mut self, time: u64, place: FileOffset, raw: RawRecord<'_>) -> Kept {
        let half = self.current;
        let words = self.half(half);
        let kept = Kept::new(time, place, words.len(), Memory::Copy(half));
        words.extend_from_slice(raw.words());
        kept
    }

    /// Returns a copied record.
    #[inline]
    pub(super) fn get(&self, kept: &Kept) -> Option<RawRecord<'_>> {
        let [first, second] = &self.halves;
        let words = match kept.memory {
            Memory::Copy(Half::First) => first,
            Memory::Copy(Half::Second) => second,
            Memory::Source => return None,
        };
        RawRecord::split_first(words.get(kept.start..)?).ok().map(|(raw, _)| raw)
    }

    /// Forgets the records that are not among `waiting`.
    pub(super) fn retain(&mut self, waiting: &mut [Kept]) {
        let old = match self.current {
            Half::First => Half::Second,
            Half::Second => Half::First,
        };
        // A few records at most, unless they were returned without a mark.
        let mut rest = core::mem::take(self.half(old));
        for kept in waiting.iter_mut().filter(|kept| kept.memory == Memory::Copy(old)) {
            let words = rest.get(kept.start..).unwrap_or_default();
            if let Ok((raw, _)) = RawRecord::split_first(words) {
                *kept = self.keep(kept.time, kept.place(), raw);
            }
        }
        rest.clear();
        *self.half(old) = rest;
        self.current = old;
    }

    /// Forgets the records that are not among `waiting`, and moves these together in their halves. If
    /// there are copies, `waiting` is in the order of reading afterwards.
    pub(super) fn compact(&mut self, waiting: &mut [Kept]) {
        if self.len() == 0 {
            return;
        }
        let current = self.current;
        waiting.sort_unstable_by_key(|kept| (kept.offset, kept.memory == Memory::Copy(current), kept.start));
        for half in [Half::First, Half::Second] {
            let words = self.half(half);
            let mut end = 0;
            for kept in waiting.iter_mut().filter(|kept| kept.memory == Memory::Copy(half)) {
                let framed = RawRecord::split_first(words.get(kept.start..).unwrap_or_default());
                let len = framed.map_or(0, |(raw, _)| raw.words().len());
                words.copy_within(kept.start..kept.start + len, end);
                kept.start = end;
                end += len;
            }
            words.truncate(end);
        }
    }

    #[inline]
    fn half(&mut self, half: Half) -> &mut Vec<u64> {
        let [first, second] = &mut self.halves;
        match half {
            Half::First => first,
            Half::Second => second,
        }
    }
}

/// The next record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// One that the reader read last.
    Found(Found),
    /// A ready one.
    Kept { index: usize, time: u64 },
}

impl Next {
    /// Returns the time; 0 for a record that is returned at once.
    pub(super) fn time(&self) -> u64 {
        match self {
            Self::Found(_) => 0,
            Self::Kept { time, .. } => *time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: u64) -> [u64; 2] {
        // type 9, misc 0, size 16; a number
        let mut header = [0; 8];
        header[..4].copy_from_slice(&9_u32.to_ne_bytes());
        header[6..].copy_from_slice(&16_u16.to_ne_bytes());
        [u64::from_ne_bytes(header), value]
    }

    fn keep(copies: &mut Copies, value: u64) -> Kept {
        let words = record(value);
        copies.keep(value, FileOffset::Offset(value), RawRecord::from_words(&words).unwrap())
    }

    fn values(copies: &Copies, kept: &[Kept]) -> Vec<u64> {
        kept.iter().map(|kept| copies.get(kept).unwrap().words()[1]).collect()
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
            copies.retain(&mut waiting);
            let times: Vec<u64> = waiting.iter().map(|kept| kept.time).collect();
            assert_eq!(values(&copies, &waiting), times);
        }
        assert!(most <= 2 * 2 * 22, "{most}");
    }

    #[test]
    fn only_waiting_records_are_left_after_compaction() {
        let mut copies = Copies::default();
        let mut waiting: Vec<Kept> = (0..100).map(|value| keep(&mut copies, value)).collect();
        waiting.retain(|kept| kept.time % 10 == 9);
        waiting.reverse();
        copies.compact(&mut waiting);
        let left: Vec<u64> = (0..10).map(|index| 10 * index + 9).collect();
        assert_eq!((copies.len(), values(&copies, &waiting)), (20, left));
        let kept = waiting[0];
        assert_eq!((kept.place(), kept.start_in_source()), (FileOffset::Offset(9), None));
        let inside = Kept::in_source(1, FileOffset::InCompressed(8), 24);
        assert_eq!((inside.place(), inside.start_in_source()), (FileOffset::InCompressed(8), Some(24)));
        assert!(copies.get(&inside).is_none());
    }
}
