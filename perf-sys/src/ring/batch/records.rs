use core::iter::FusedIterator;
use core::mem::take;

use perf_decode::{Error, RawRecord, Records, Window};

use super::PeekableRecords;
use crate::error::SkippedBytes;
use crate::map::Position;
use crate::ring::reader::join_first;

/// The records of a [`Batch`](super::Batch), oldest first.
///
/// The iterator consumes each record that it returns. [`peekable`](Self::peekable),
/// [`take_while`](Self::take_while) and [`map_while`](Self::map_while) take the place of the
/// methods of [`Iterator`] with these names, and consume only what they return. An adaptor of
/// `Iterator` that reads ahead, such as `records().map(..).peekable()`, loses the record that it
/// holds when it is dropped, so call these methods first in the chain.
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
    /// Size in bytes of the last record if it was peeked at and not consumed.
    held: u64,
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
        let rest = Rest { window, before: 0, held: 0, scratch, position, damage };
        Self { records: window.records(&mut []), rest }
    }

    /// Returns an iterator with `peek` and `next_if`. It consumes a record only when it returns it,
    /// not by `peek`.
    ///
    /// ```no_run
    /// # fn before(batch: &mut perf_sys::Batch<'_>, layout: &perf_decode::SampleLayout, until: u64) {
    /// let mut records = batch.records().peekable();
    /// while let Some(Ok(record)) = records.next_if(|next| {
    ///     next.is_ok_and(|record| record.time(layout).is_some_and(|time| time <= until))
    /// }) {
    ///     println!("{:?}", record.kind());
    /// }
    /// # }
    /// ```
    pub const fn peekable(self) -> PeekableRecords<'b> {
        PeekableRecords::new(self)
    }

    /// Yields the records up to the first for which `condition` is false. That record is not
    /// consumed.
    pub fn take_while(
        self,
        mut condition: impl FnMut(&perf_decode::Result<RawRecord<'b>>) -> bool,
    ) -> impl FusedIterator<Item = perf_decode::Result<RawRecord<'b>>> {
        self.map_while(move |record| condition(&record).then_some(record))
    }

    /// Yields the results of `map` for the records, up to the first `None`. That record is not
    /// consumed.
    pub fn map_while<T>(
        self,
        mut map: impl FnMut(perf_decode::Result<RawRecord<'b>>) -> Option<T>,
    ) -> impl FusedIterator<Item = T> {
        let mut records = Some(self.peekable());
        core::iter::from_fn(move || {
            let found = records.as_mut()?;
            let mapped = found.peek().and_then(&mut map);
            if mapped.is_some() {
                found.next();
            } else {
                records = None;
            }
            mapped
        })
        .fuse()
    }

    /// Excludes the last record from those that are consumed.
    pub(super) const fn hold(&mut self, bytes: u64) {
        self.rest.held = bytes;
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
            position.advance(self.rest.before + self.records.position() - self.rest.held);
        }
    }
}
