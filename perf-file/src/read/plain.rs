//! Records of the kernel that need no copy: aligned, in the byte order of this machine, whole in the
//! memory of the source. These are all records of most files.

use perf_decode::RawRecord;

use super::record::Content;
use super::source::words;
use super::{FileOffset, FileRecord, Found, FoundIn, Reader, Source};
use crate::format::record_type;

/// The words of the source whose records need no copy.
///
/// Records are read here without a change of the source, whose bytes are consumed together by
/// [`Reader::release`]. The step to a record is then one load and one addition.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plain {
    /// Words of the records that were read.
    pub(super) read: usize,
    /// Words that can be read; 0 if the last record needed a copy.
    pub(super) end: usize,
}

impl<S: Source> Reader<S> {
    /// Reads the next record if it needs no copy, and returns whether it does. The record starts at
    /// the word that was `plain.read` before.
    #[inline]
    pub(super) fn step_plainly(&mut self) -> bool {
        let Some(words) = self.source.words().get(self.plain.read..self.plain.end) else { return false };
        let Ok((raw, _)) = RawRecord::split_first(words) else { return false };
        let is_of_kernel = raw.kind().0 < record_type::FIRST.0;
        if is_of_kernel {
            self.plain.read += raw.words().len();
        }
        is_of_kernel
    }

    /// Continues without copies after the first record of the source, which needed none.
    pub(super) fn start_plainly(&mut self, size: u16) {
        let left = self.left.map_or(usize::MAX, |left| usize::try_from(left / 8).unwrap_or(usize::MAX));
        self.plain = Plain { read: usize::from(size / 8), end: self.source.words().len().min(left) };
    }

    /// Returns the record that starts at a word of the source.
    #[inline]
    pub(super) fn raw(&self, start: usize) -> Option<RawRecord<'_>> {
        let (raw, _) = RawRecord::split_first(self.source.words().get(start..)?).ok()?;
        Some(raw)
    }

    /// Returns the position of the record that starts at a word of the source.
    #[inline]
    pub(super) fn place(&self, start: usize) -> FileOffset {
        FileOffset::Offset(self.offset + 8 * start as u64)
    }

    /// Returns what [`step_plainly`](Self::step_plainly) read, with its position and properties.
    #[inline]
    pub(super) fn plain_record(&self, start: usize) -> Option<FileRecord<'_>> {
        let content = Content::Kernel(self.raw(start)?);
        Some(FileRecord { place: self.place(start), content, context: &self.context })
    }

    /// Returns what [`step_plainly`](Self::step_plainly) read.
    pub(super) fn found(&self, start: usize) -> Option<Found> {
        let header = self.raw(start)?.header();
        Some(Found { place: self.place(start), header, memory: FoundIn::Plain { start } })
    }

    /// Finds the next record; `None` after an error and at the end.
    pub(super) fn step(&mut self) -> crate::Result<Option<Found>> {
        let start = self.plain.read;
        if self.step_plainly() { Ok(self.found(start)) } else { self.step_slowly() }
    }

    /// Returns the index of the first byte of a record among all bytes of the source, if they stay in
    /// memory. [`raw_at`](Self::raw_at) returns the record.
    #[inline]
    pub(super) fn position(&self, start: usize) -> Option<usize> {
        Some(self.source.whole()?.len() - self.source.filled().len() + 8 * start)
    }

    /// Returns the record whose first byte in the source has an index.
    #[inline]
    pub(super) fn raw_at(&self, position: usize) -> Option<RawRecord<'_>> {
        let (raw, _) = RawRecord::split_first(words(self.source.whole()?.get(position..)?)).ok()?;
        Some(raw)
    }
}
