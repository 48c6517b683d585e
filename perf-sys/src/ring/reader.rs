use perf_decode::{Error, RawRecord, Records, Window};

use super::BatchRecords;
use crate::error::SkippedBytes;
use crate::map::{Consumer, Position};

/// The records of a ring, read through a batch, through the cursor or by copying.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) consumer: Consumer,
    pub(super) damage: SkippedBytes,
    /// As long as the longest record that wrapped so far.
    scratch: Vec<u64>,
}

impl Reader {
    pub(super) const fn new(consumer: Consumer) -> Self {
        Self { consumer, damage: SkippedBytes { count: 0, bytes: 0, last: None }, scratch: Vec::new() }
    }

    /// Iterates over the unread records.
    #[inline]
    pub(super) fn records(&mut self) -> BatchRecords<'_> {
        let (unread, position) = self.consumer.parts();
        BatchRecords::new(unread.window(), position, &mut self.scratch, &mut self.damage)
    }

    /// Returns the first unread record and consumes it.
    #[inline]
    pub(super) fn next(&mut self) -> Option<perf_decode::Result<RawRecord<'_>>> {
        let (unread, mut position) = self.consumer.parts();
        match RawRecord::split_first(unread.contiguous()) {
            Ok((record, _)) => {
                position.advance(record.size() as u64);
                Some(Ok(record))
            }
            Err(_) => next_wrapped(unread.window(), position, &mut self.scratch, &mut self.damage),
        }
    }

    /// Returns the first unread record.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<perf_decode::Result<RawRecord<'_>>> {
        let (unread, _) = self.consumer.parts();
        match RawRecord::split_first(unread.contiguous()) {
            Ok((record, _)) => Some(Ok(record)),
            Err(_) => join_first(unread.window(), &mut self.scratch).next(),
        }
    }

    /// Returns the unread words from the free-running word index `at`, modulo 2^32, up to the end of the
    /// data area, and the reader's other parts for a record that is not in them.
    #[inline]
    pub(crate) fn words_from(&mut self, at: u32) -> (&[u64], Rest<'_>) {
        let Self { consumer, scratch, .. } = self;
        (consumer.unread_from(at).contiguous(), Rest { consumer, scratch })
    }

    /// Consumes and releases all unread bytes because of `error` at their start.
    #[cold]
    pub(crate) fn skip_damage(&mut self, error: Error) {
        self.damage.add(self.consumer.len(), error);
        self.consumer.consume_all();
        self.consumer.release();
    }

    /// Copies all unread records to `copy` and releases them.
    pub(super) fn copy_into<'c>(&mut self, copy: &'c mut Vec<u64>) -> Window<'c> {
        copy.clear();
        self.consumer.copy(copy);
        self.consumer.consume_all();
        self.consumer.release();
        Window::from_slices(copy, &[])
    }
}

/// The parts of a reader for a record that wraps, or that is out of order.
pub(crate) struct Rest<'r> {
    consumer: &'r Consumer,
    scratch: &'r mut Vec<u64>,
}

impl Rest<'_> {
    /// Returns the record at a free-running word index, modulo 2^32.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_at(&mut self, at: u32) -> perf_decode::Result<RawRecord<'_>> {
        let unread = self.consumer.unread_from(at).window();
        // Nothing to frame is an error like that of a record that is too long.
        let none = || RawRecord::split_first(&[]).map(|(record, _)| record);
        join_first(unread, self.scratch).next().unwrap_or_else(none)
    }
}

/// Returns and consumes the first record of `window` if it is not framed before the end of the data
/// area, because it wraps, is damaged or does not exist.
#[cold]
#[inline(never)]
fn next_wrapped<'c>(
    window: Window<'c>,
    mut position: Position<'c>,
    scratch: &'c mut Vec<u64>,
    damage: &mut SkippedBytes,
) -> Option<perf_decode::Result<RawRecord<'c>>> {
    let found = join_first(window, scratch).next()?;
    match found {
        Ok(record) => position.advance(record.size() as u64),
        Err(error) => damage.add(position.advance_to_end(), error),
    }
    Some(found)
}

/// Iterates over `window` with a scratch that is long enough for its first record.
pub(super) fn join_first<'c>(window: Window<'c>, scratch: &'c mut Vec<u64>) -> Records<'c> {
    if let Err(Error::SizePastEnd { size, .. }) = RawRecord::split_first(window.as_slices().0) {
        let size = usize::from(size);
        if size <= window.len() && size / 8 > scratch.len() {
            scratch.resize(size / 8, 0);
        }
    }
    window.records(scratch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Kernel;

    /// The length of the scratch in words after a record of `size` words was joined from two slices that
    /// hold `available` words after its header.
    fn scratch_after(mut scratch: Vec<u64>, size: usize, available: usize) -> usize {
        let rest = vec![0; available];
        let _record = join_first(Window::from_slices(&[Kernel::header(size)], &rest), &mut scratch).next();
        scratch.len()
    }

    #[test]
    fn scratch_is_as_long_as_the_longest_record_that_wrapped() {
        assert_eq!(scratch_after(vec![], 3, 2), 3);
        assert_eq!(scratch_after(vec![0; 2], 3, 9), 3);
        assert_eq!(scratch_after(vec![0; 5], 3, 2), 5);
    }

    #[test]
    fn scratch_does_not_grow_for_a_record_past_the_end() {
        assert_eq!(scratch_after(vec![], 4, 2), 0);
    }
}
