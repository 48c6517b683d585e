use core::iter::FusedIterator;

use crate::guess::{Guess, read_ahead};
use crate::raw::{frame, framing_error};
use perf_abi::Header;

use crate::{Error, RawRecord, Result, Window};

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
mod tests;
