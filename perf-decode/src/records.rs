use core::iter::FusedIterator;

use crate::raw::{frame, framing_error};
use crate::{RawRecord, Result, Scratch, Window, word};

/// The records of a [`Window`], oldest first.
///
/// An ordinary iterator: its records borrow the window and may all live together, to be sorted,
/// merged or collected. A record that crosses the end of the ring is put together in the scratch.
///
/// A size that cannot be a record's gives one `Err` that says where, and the iteration ends: what came
/// before was delivered, and nothing behind it can be found.
#[derive(Debug)]
pub struct Records<'a> {
    /// What is read at the moment. Apart from the rest, so that a loop can keep it in registers.
    current: &'a [u64],
    rest: Rest<'a>,
}

/// What comes behind the slice that is read at the moment.
#[derive(Debug, Default)]
struct Rest<'a> {
    /// The second slice, until the first is used up.
    next: &'a [u64],
    scratch: Option<&'a mut Scratch>,
    /// Words of the window, or up to the damaged place once there is one.
    end: usize,
}

impl<'a> Records<'a> {
    #[inline]
    pub(crate) fn new(window: Window<'a>, scratch: &'a mut Scratch) -> Self {
        let (current, next) = window.as_slices();
        let end = current.len() + next.len();
        Self { current, rest: Rest { next, scratch: Some(scratch), end } }
    }

    /// Bytes of the records delivered so far: how far the tail may move.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u64 {
        self.rest.at(self.current) as u64 * 8
    }
}

impl<'a> Rest<'a> {
    /// Words delivered before `current`.
    fn at(&self, current: &[u64]) -> usize {
        self.end - self.next.len() - current.len()
    }

    /// What to read next where no record can be framed in `current`: the second slice, the one record
    /// across the seam, or nothing at the end.
    ///
    /// By value and back, because a reference would force the iterator into memory in every loop.
    #[cold]
    #[inline(never)]
    fn refill(mut self, current: &'a [u64]) -> (Self, Result<&'a [u64]>) {
        if current.is_empty() {
            let next = core::mem::take(&mut self.next);
            return (self, Ok(next));
        }
        let refilled = self.join_across_seam(current).ok_or_else(|| {
            let (at, end) = (self.at(current), self.end);
            self.next = &[];
            self.end = at;
            framing_error(current, at, end - at)
        });
        (self, refilled)
    }

    fn join_across_seam(&mut self, current: &[u64]) -> Option<&'a [u64]> {
        let size = word::header(*current.first()?).size;
        if size % 8 != 0 {
            return None;
        }
        let missing = usize::from(size / 8).checked_sub(current.len())?;
        let (second, rest) = self.next.split_at_checked(missing)?;
        let joined = self.scratch.take()?.join(current, second)?;
        self.next = rest;
        Some(joined)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RawRecord<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((record, rest)) = frame(self.current) {
                self.current = rest;
                return Some(Ok(record));
            }
            let (rest, refilled) = core::mem::take(&mut self.rest).refill(self.current);
            self.rest = rest;
            self.current = refilled.unwrap_or(&[]);
            match refilled {
                Ok([]) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl FusedIterator for Records<'_> {}

#[cfg(test)]
mod tests;
