//! The streams: pairs in a slice, records split off a slice, and records of a window.

use std::iter::Cloned;
use std::slice::Iter;

use perf_decode::{RawRecord, Records, SampleLayout, Window};

/// Words of the workload's record, and the index of its time.
pub(crate) const RECORD: (usize, usize) = (6, 3);

/// A stream that can be merged by hand, too.
pub(crate) trait Stream: Clone {
    type Payload: Payload;
    type Merged: Iterator<Item = (u64, Self::Payload)>;

    /// The stream as `Merge` and the heap read it.
    fn merged(&self) -> Self::Merged;

    /// The time of the next item, without any check that a merge does not need.
    fn time(&self) -> Option<u64>;

    /// The next item, whose time is known.
    fn pop(&mut self) -> Option<Self::Payload>;
}

/// A part of an item that the checksum depends on.
pub(crate) trait Payload: Copy {
    fn word(self) -> u64;
}

impl Payload for u64 {
    #[inline]
    fn word(self) -> u64 {
        self
    }
}

impl Payload for RawRecord<'_> {
    #[inline]
    fn word(self) -> u64 {
        self.words()[1]
    }
}

/// Pairs in a slice.
#[derive(Clone)]
pub(crate) struct Pairs<'a>(pub(crate) &'a [(u64, u64)]);

impl<'a> Stream for Pairs<'a> {
    type Payload = u64;
    type Merged = Cloned<Iter<'a, (u64, u64)>>;

    fn merged(&self) -> Self::Merged {
        self.0.iter().cloned()
    }

    #[inline]
    fn time(&self) -> Option<u64> {
        Some(self.0.first()?.0)
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        let ((_, payload), rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*payload)
    }
}

/// Records that are split off a slice.
#[derive(Clone)]
pub(crate) struct Split<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) layout: &'a SampleLayout,
}

impl<'a> Iterator for Split<'a> {
    type Item = (u64, RawRecord<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let record = self.pop()?;
        Some((record.time(self.layout)?, record))
    }
}

impl<'a> Stream for Split<'a> {
    type Payload = RawRecord<'a>;
    type Merged = Self;

    fn merged(&self) -> Self {
        self.clone()
    }

    #[inline]
    fn time(&self) -> Option<u64> {
        self.words.get(RECORD.1).copied()
    }

    #[inline]
    fn pop(&mut self) -> Option<RawRecord<'a>> {
        let (record, rest) = RawRecord::split_first(self.words).ok()?;
        self.words = rest;
        Some(record)
    }
}

/// The records of a window.
#[derive(Clone)]
pub(crate) struct Ring<'a>(pub(crate) Split<'a>);

impl<'a> Stream for Ring<'a> {
    type Payload = RawRecord<'a>;
    type Merged = Timed<'a>;

    fn merged(&self) -> Timed<'a> {
        Timed { records: Window::from_slices(self.0.words, &[]).records(&mut []), layout: self.0.layout }
    }

    #[inline]
    fn time(&self) -> Option<u64> {
        self.0.time()
    }

    #[inline]
    fn pop(&mut self) -> Option<RawRecord<'a>> {
        self.0.pop()
    }
}

/// Records with their times.
pub(crate) struct Timed<'a> {
    records: Records<'a>,
    layout: &'a SampleLayout,
}

impl<'a> Iterator for Timed<'a> {
    type Item = (u64, RawRecord<'a>);

    // As the documentation of `Merge` says.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let record = self.records.next()?.ok()?;
        Some((record.time(self.layout)?, record))
    }
}
