use core::iter::FusedIterator;

use perf_decode::RawRecord;

use super::BatchRecords;

/// The records of a [`Batch`](super::Batch) with [`peek`](Self::peek), from
/// [`BatchRecords::peekable`].
///
/// A record that was peeked at and not returned is not consumed.
#[derive(Debug)]
pub struct PeekableRecords<'b> {
    records: BatchRecords<'b>,
    peeked: Option<perf_decode::Result<RawRecord<'b>>>,
}

impl<'b> PeekableRecords<'b> {
    pub(super) const fn new(records: BatchRecords<'b>) -> Self {
        Self { records, peeked: None }
    }

    /// Returns the next record without consuming it.
    pub fn peek(&mut self) -> Option<perf_decode::Result<RawRecord<'b>>> {
        if self.peeked.is_none() {
            self.peeked = self.records.next();
        }
        self.peeked
    }

    /// Returns and consumes the next record if `condition` holds for it.
    pub fn next_if(
        &mut self,
        condition: impl FnOnce(perf_decode::Result<RawRecord<'b>>) -> bool,
    ) -> Option<perf_decode::Result<RawRecord<'b>>> {
        let is_next = self.peek().is_some_and(condition);
        self.peeked.take_if(|_| is_next)
    }
}

impl<'b> Iterator for PeekableRecords<'b> {
    type Item = perf_decode::Result<RawRecord<'b>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.peeked.take().or_else(|| self.records.next())
    }
}

impl FusedIterator for PeekableRecords<'_> {}

impl Drop for PeekableRecords<'_> {
    fn drop(&mut self) {
        if let Some(Ok(record)) = self.peeked {
            self.records.hold(record.size() as u64);
        }
    }
}
