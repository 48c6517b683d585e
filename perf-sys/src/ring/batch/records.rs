use core::iter::FusedIterator;
use core::mem::take;

use perf_decode::{Error, RawRecord, Records, Window};

use crate::error::SkippedBytes;
use crate::map::Position;
use crate::ring::reader::join_first;

/// The records of a [`Batch`](super::Batch), oldest first.
///
/// The iterator consumes each record that it returns. An adaptor that reads ahead, such as `peekable` or
/// `take_while`, has consumed the record that it holds or rejects: to look at a record without consuming it,
/// use the cursor of the ring ([`Ring::refresh`](crate::Ring::refresh), `peek`, `next`).
#[derive(Debug)]
pub struct BatchRecords<'b> {
    records: Records<'b>,
    rest: Rest<'b>,
}

/// State for a record that wraps and for the end of the iteration. Apart from `records`, so that a
/// loop keeps those in registers.
#[derive(Debug, Default)]
struct Rest<'b> {
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
    pub(in crate::ring) fn new(
        window: Window<'b>,
        position: Position<'b>,
        scratch: &'b mut Vec<u64>,
        damage: &'b mut SkippedBytes,
    ) -> Self {
        let (scratch, position, damage) = (Some(scratch), Some(position), Some(damage));
        let rest = Rest { window, before: 0, scratch, position, damage };
        Self { records: window.records(&mut []), rest }
    }
}

impl<'b> Rest<'b> {
    /// Joins the record that wraps, or skips damage, after an error of the records.
    ///
    /// Takes and returns the state by value, because a reference would force the iterator into memory
    /// in every loop.
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
