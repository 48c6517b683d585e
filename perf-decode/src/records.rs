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
    current: &'a [u64],
    /// The second slice, until the first is used up.
    next: &'a [u64],
    scratch: Option<&'a mut Scratch>,
    /// Words of the whole window.
    total: usize,
    /// Words from the damaged place to the end, once there is one.
    damaged: usize,
}

impl<'a> Records<'a> {
    #[inline]
    pub(crate) fn new(window: Window<'a>, scratch: &'a mut Scratch) -> Self {
        let (current, next) = window.as_slices();
        Self { current, next, scratch: Some(scratch), total: current.len() + next.len(), damaged: 0 }
    }

    /// Bytes of the records delivered so far: how far the tail may move.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u64 {
        (self.total - self.left()) as u64 * 8
    }

    /// Words not yet delivered.
    fn left(&self) -> usize {
        self.current.len() + self.next.len() + self.damaged
    }

    /// The end of a slice, the record across the seam, or damage.
    #[cold]
    #[inline(never)]
    fn next_slow(&mut self) -> Option<Result<RawRecord<'a>>> {
        if self.current.is_empty() {
            self.current = core::mem::take(&mut self.next);
            if self.current.is_empty() {
                return None;
            }
            if let Some((record, rest)) = frame(self.current) {
                self.current = rest;
                return Some(Ok(record));
            }
        }
        Some(self.next_across_seam().ok_or_else(|| {
            let error = framing_error(self.current, self.total - self.left(), self.left());
            self.damaged = self.left();
            (self.current, self.next) = (&[], &[]);
            error
        }))
    }

    fn next_across_seam(&mut self) -> Option<RawRecord<'a>> {
        let size = word::header(*self.current.first()?).size;
        if size % 8 != 0 {
            return None;
        }
        let (second, rest) =
            self.next.split_at_checked(usize::from(size / 8).checked_sub(self.current.len())?)?;
        let joined = self.scratch.take()?.join(self.current, second)?;
        let (record, _) = frame(joined)?;
        (self.current, self.next) = (rest, &[]);
        Some(record)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<RawRecord<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match frame(self.current) {
            Some((record, rest)) => {
                self.current = rest;
                Some(Ok(record))
            }
            None => self.next_slow(),
        }
    }
}

impl FusedIterator for Records<'_> {}

#[cfg(test)]
mod tests;
