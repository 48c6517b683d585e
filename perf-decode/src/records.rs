//! The records of a window.

use core::iter::FusedIterator;

use crate::guess::{Guess, read_ahead};
use crate::raw::{frame, framing_error};
use perf_abi::Header;

use crate::error::{Error, Result};
use crate::raw::RawRecord;
use crate::window::Window;

/// The records of a [`Window`], oldest first.
///
/// An ordinary iterator. Its records borrow the window, so they can be collected, sorted and
/// merged. A record that wraps at the end of the ring is joined in the scratch.
///
/// A size that no record can have yields one `Err` with its position and ends the iteration,
/// because no record after it can be found.
#[derive(Debug)]
pub struct Records<'a> {
    /// The unread part of the slice that is being read. Not in `Rest`, so that a loop keeps it in
    /// registers.
    current: &'a [u64],
    guess: Guess,
    rest: Rest<'a>,
}

/// The part of a window after the slice that is being read.
#[derive(Debug, Default)]
struct Rest<'a> {
    /// The second slice, until the first is finished.
    next: &'a [u64],
    /// Empty once a record was joined in it.
    scratch: &'a mut [u64],
    /// Words of the window, or words before the damaged record once there is one.
    end: usize,
}

impl<'a> Records<'a> {
    #[inline]
    pub(crate) fn new(window: Window<'a>, scratch: &'a mut [u64]) -> Self {
        let (current, next) = window.as_slices();
        let end = current.len() + next.len();
        Self { current, guess: Guess::default(), rest: Rest { next, scratch, end } }
    }

    /// Returns the bytes of the records yielded so far, by which `data_tail` may advance.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u64 {
        self.rest.at(self.current) as u64 * 8
    }
}

impl<'a> Rest<'a> {
    /// Returns the words yielded before `current`.
    fn at(&self, current: &[u64]) -> usize {
        self.end - self.next.len() - current.len()
    }

    /// Returns the next record if no record can be framed in `current`: the first of the second
    /// slice, the one that wraps, or `None` at the end.
    ///
    /// Takes and returns the state by value, because a reference would force the iterator into
    /// memory in every loop.
    #[cold]
    #[inline(never)]
    fn next(mut self, current: &'a [u64]) -> (Self, &'a [u64], Option<Result<RawRecord<'a>>>) {
        let words = if current.is_empty() {
            core::mem::take(&mut self.next)
        } else {
            self.join_wrapped(current).unwrap_or(current)
        };
        if words.is_empty() {
            return (self, &[], None);
        }
        // A record that wraps fills its slice, so `rest` is the second slice then.
        if let Some((record, rest)) = frame(words) {
            return (self, rest, Some(Ok(record)));
        }
        // Ends the iteration, because no later record can be found. `end` keeps the position.
        let (at, end) = (self.at(words), self.end);
        let found = self.scratch.len();
        self.next = &[];
        self.end = at;
        let error = match framing_error(words, at, end - at) {
            // Not damaged: the record is in the window, in two parts.
            Error::SizePastEnd { at, size, available } if u64::from(size) <= available => {
                Error::ScratchTooShort { at, size, found: found as u64 * 8 }
            }
            error => error,
        };
        (self, &[], Some(Err(error)))
    }

    fn join_wrapped(&mut self, current: &[u64]) -> Option<&'a [u64]> {
        let size = Header::from_word(*current.first()?).size;
        if size % 8 != 0 {
            return None;
        }
        let missing = usize::from(size / 8).checked_sub(current.len())?;
        let (second, rest) = self.next.split_at_checked(missing)?;
        let len = current.len() + missing;
        // Before `take`, which would lose a scratch that is too short.
        if len > self.scratch.len() {
            return None;
        }
        let (joined, _) = core::mem::take(&mut self.scratch).split_at_mut_checked(len)?;
        for (to, from) in joined.iter_mut().zip(current.iter().chain(second)) {
            *to = *from;
        }
        self.next = rest;
        Some(joined)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RawRecord<'a>>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some((record, rest)) = self.guess.frame(self.current) {
            self.current = rest;
            return Some(Ok(record));
        }
        if let Some((record, rest)) = frame(self.current) {
            read_ahead(self.current);
            self.guess.learn(record.words().len());
            self.current = rest;
            return Some(Ok(record));
        }
        let (rest, current, next) = core::mem::take(&mut self.rest).next(self.current);
        self.rest = rest;
        self.current = current;
        next
    }
}

impl FusedIterator for Records<'_> {}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use perf_abi::{Header, Misc, RecordType};

    use super::*;
    use crate::error::Error;
    use crate::scratch::Scratch;

    /// A record of `words` words whose body words all hold `value`.
    fn record(words: u16, value: u64) -> Vec<u64> {
        let header = Header { kind: RecordType(999), misc: Misc::empty(), size: words * 8 };
        let mut record = vec![value; usize::from(words)];
        record[0] = header.to_word();
        record
    }

    /// Writes words into a ring of `len` words from word `start` on; returns it with tail and head.
    fn laid(words: &[u64], len: usize, start: usize) -> (Vec<u64>, u64, u64) {
        let mut data = vec![0xdead_dead_dead_dead; len];
        for (index, word) in words.iter().enumerate() {
            data[(start + index) % len] = *word;
        }
        (data, start as u64 * 8, (start + words.len()) as u64 * 8)
    }

    #[test]
    fn record_that_wraps_is_framed_at_every_offset() {
        let records: Vec<_> = (1..=5_u16).map(|n| record(n, u64::from(n))).collect();
        let words = records.concat();
        for len in [16, 32] {
            for start in 0..len {
                let (data, tail, head) = laid(&words, len, start);
                let mut scratch = Scratch::new();
                let window = Window::new(&data, tail, head).unwrap();
                let read: Vec<_> =
                    window.records(&mut scratch).map(|read| read.unwrap().words().to_vec()).collect();
                assert_eq!(read, records, "ring of {len} words from {start}");
            }
        }
    }

    #[test]
    fn full_ring_is_read_to_its_last_record() {
        let words = [record(3, 1), record(5, 2)].concat();
        for start in 0..8 {
            let (data, tail, head) = laid(&words, 8, start);
            let mut scratch = Scratch::new();
            let window = Window::new(&data, tail, head).unwrap();
            assert_eq!(window.records(&mut scratch).flatten().count(), 2);
        }
    }

    #[test]
    fn records_of_a_window_live_together() {
        let (data, tail, head) = laid(&[record(2, 1), record(2, 2), record(2, 3)].concat(), 8, 5);
        let mut scratch = Scratch::new();
        let mut all: Vec<_> =
            Window::new(&data, tail, head).unwrap().records(&mut scratch).flatten().collect();
        all.sort_by_key(|read| core::cmp::Reverse(read.words()[1]));
        assert_eq!(all.iter().map(|read| read.words()[1]).collect::<Vec<_>>(), [3, 2, 1]);
    }

    /// Reads malformed words after a sound record and returns the error.
    fn error_after_a_record(malformed: &[u64]) -> Error {
        let words = [&record(2, 1)[..], malformed].concat();
        let mut scratch = Scratch::new();
        let mut records = Window::from_slices(&words, &[]).records(&mut scratch);
        assert_eq!(records.next().unwrap().unwrap().size(), 16, "preceding records are delivered");
        let error = records.next().unwrap().unwrap_err();
        assert!(records.next().is_none() && records.next().is_none(), "iteration ends");
        assert_eq!(records.position(), 16, "the position stays before the malformed record");
        error
    }

    fn header(size: u16) -> u64 {
        Header { kind: RecordType::LOST, misc: Misc::empty(), size }.to_word()
    }

    #[test]
    fn size_of_zero_ends_the_iteration_with_its_position() {
        assert_eq!(error_after_a_record(&[header(0), 0]), Error::SizeBelowHeader { at: 16, size: 0 });
    }

    #[test]
    fn size_of_four_ends_the_iteration_with_its_position() {
        assert_eq!(error_after_a_record(&[header(4), 0]), Error::SizeBelowHeader { at: 16, size: 4 });
    }

    #[test]
    fn size_of_twelve_ends_the_iteration_with_its_position() {
        assert_eq!(error_after_a_record(&[header(12), 0]), Error::UnalignedSize { at: 16, size: 12 });
    }

    #[test]
    fn truncated_last_record_reports_the_available_bytes() {
        assert_eq!(
            error_after_a_record(&[header(40), 0, 0]),
            Error::SizePastEnd { at: 16, size: 40, available: 24 }
        );
    }

    #[test]
    fn malformed_header_at_the_end_of_the_ring_is_reported() {
        for size in [0, 4, 12, 64] {
            let first = [record(2, 1), vec![header(size)]].concat();
            let mut scratch = Scratch::new();
            let mut records = Window::from_slices(&first, &[7]).records(&mut scratch);
            assert!(records.next().unwrap().is_ok());
            let error = records.next().unwrap().unwrap_err();
            let expected = match size {
                12 => Error::UnalignedSize { at: 16, size },
                64 => Error::SizePastEnd { at: 16, size, available: 16 },
                _ => Error::SizeBelowHeader { at: 16, size },
            };
            assert_eq!((error, records.next()), (expected, None));
        }
    }

    #[test]
    fn malformed_header_after_the_wrap_is_counted_from_the_window() {
        let mut scratch = Scratch::new();
        let first = record(2, 1);
        let mut records = Window::from_slices(&first, &[0]).records(&mut scratch);
        assert!(records.next().unwrap().is_ok());
        assert_eq!(records.next(), Some(Err(Error::SizeBelowHeader { at: 16, size: 0 })));
    }

    #[test]
    fn position_counts_delivered_bytes() {
        let words = [record(2, 1), record(3, 2)].concat();
        let mut scratch = Scratch::new();
        let mut records = Window::from_slices(&words[..4], &words[4..]).records(&mut scratch);
        let mut positions = vec![records.position()];
        while let Some(Ok(_)) = records.next() {
            positions.push(records.position());
        }
        assert_eq!(positions, [0, 16, 40]);
    }

    #[test]
    fn longest_record_wraps() {
        let longest = record(8191, 9);
        let mut scratch = Scratch::new();
        let mut records = Window::from_slices(&longest[..1], &longest[1..]).records(&mut scratch);
        assert_eq!(records.next().unwrap().unwrap().words(), longest);
    }

    #[test]
    fn record_that_wraps_needs_a_scratch_as_long_as_itself() {
        let words = [record(2, 1), record(4, 2), record(1, 3)].concat();
        let (data, tail, head) = laid(&words, 8, 4);
        let window = Window::new(&data, tail, head).unwrap();
        for len in 0..4 {
            let mut scratch = vec![0; len];
            let mut records = window.records(&mut scratch);
            assert_eq!(records.next().unwrap().unwrap().words(), record(2, 1));
            let error = Error::ScratchTooShort { at: 16, size: 32, found: len as u64 * 8 };
            assert_eq!(records.next(), Some(Err(error)));
            assert_eq!((records.next(), records.position()), (None, 16));
        }
        assert_eq!(window.records(&mut [0; 4]).flatten().count(), 3);
    }

    #[test]
    fn window_that_does_not_wrap_needs_no_scratch() {
        let (data, tail, head) = laid(&record(8, 1), 8, 0);
        assert_eq!(Window::new(&data, tail, head).unwrap().records(&mut []).flatten().count(), 1);
    }
}
