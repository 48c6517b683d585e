use perf_abi::{ReadFormat, RecordType};

use crate::read_layout::ReadLayout;
use crate::{Error, Result, Scaled};

/// The counts of one event or of its whole group: a `read_format` block.
///
/// read(2) returns it, READ records and the READ field of samples hold it.
///
/// ```
/// use perf_abi::ReadFormat;
/// use perf_decode::{ReadValues, Scaled};
///
/// let format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
/// // value, ns enabled, ns running: multiplexed, the counter ran half of the time.
/// let counts = ReadValues::parse(&[1000, 80, 40], format)?;
/// let count = counts.iter().next().unwrap();
/// assert_eq!(counts.scaled(count.value), Scaled::Estimate(2000));
/// # Ok::<(), perf_decode::Error>(())
/// ```
#[doc(alias = "read_format")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ReadValues<'a> {
    /// The value, or for a group the number of entries; then the times; then the rest.
    words: &'a [u64],
    layout: ReadLayout,
}

/// The count of one event in a `read_format` block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadEntry {
    /// The count, in the event's unit.
    pub value: u64,
    /// Id of the opened event, with [`ReadFormat::ID`].
    pub id: Option<u64>,
    /// Lost samples of the event, with [`ReadFormat::LOST`] (since Linux 6.0).
    pub lost: Option<u64>,
}

impl<'a> ReadValues<'a> {
    /// Parses words that are exactly one block.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] if the format or the group's count needs more words,
    /// [`Error::TrailingBytes`] if it needs fewer, [`Error::UnknownBits`] if the format has bits
    /// newer than this decoder.
    #[inline]
    pub fn parse(words: &'a [u64], format: ReadFormat) -> Result<Self> {
        let layout = ReadLayout::new(format);
        if !layout.unknown().is_empty() {
            return Err(Error::UnknownBits { field: "read_format", bits: layout.unknown().bits() });
        }
        let (block, rest) = Self::split(words, layout)?;
        match rest.len() {
            0 => Ok(block),
            left => Err(Error::TrailingBytes { kind: RecordType::READ, found: left as u64 * 8 }),
        }
    }

    /// Views words that were validated: one block of this layout.
    #[inline(always)]
    pub(crate) fn validated(words: &'a [u64], layout: ReadLayout) -> Self {
        Self { words, layout }
    }

    /// Views the block at the start of words that were validated.
    #[inline(always)]
    pub(crate) fn first_of(words: &'a [u64], layout: ReadLayout) -> Self {
        Self::split(words, layout).map_or(Self { words: &[], layout }, |(block, _)| block)
    }

    /// Returns all words of the block.
    pub(crate) fn block(&self) -> &'a [u64] {
        self.words
    }

    /// Splits one block off the front of `words`.
    #[inline]
    pub(crate) fn split(words: &'a [u64], layout: ReadLayout) -> Result<(Self, &'a [u64])> {
        let needed = layout.words(words.first().copied().unwrap_or(0));
        let parts = usize::try_from(needed)
            .ok()
            .and_then(|needed| words.split_at_checked(needed))
            .map(|(block, rest)| (Self::validated(block, layout), rest));
        parts.ok_or_else(|| Error::truncated(RecordType::READ, "values", needed, words.len() as u64))
    }

    /// Returns the words of a block of this format for `events` events: the size of a buffer for
    /// read(2).
    ///
    /// A block is for one event, whatever `events` is, without [`GROUP`](ReadFormat::GROUP).
    #[must_use]
    pub const fn words(format: ReadFormat, events: u64) -> u64 {
        ReadLayout::new(format).words(events)
    }

    /// Returns the format of the block.
    #[must_use]
    pub const fn format(&self) -> ReadFormat {
        self.layout.format()
    }

    /// Returns the time that the event was enabled, in ns.
    #[inline]
    #[must_use]
    pub fn time_enabled(&self) -> Option<u64> {
        self.layout.time_enabled(self.words)
    }

    /// Returns the time that the event was counting, in ns; less than the time enabled if it was
    /// multiplexed.
    #[inline]
    #[must_use]
    pub fn time_running(&self) -> Option<u64> {
        self.layout.time_running(self.words)
    }

    /// Returns the counts: one, or those of the group with the leader first.
    #[inline]
    #[must_use]
    pub fn iter(&self) -> ReadEntries<'a> {
        // The entries of a group; for one event the whole block.
        let entries = self.words.get(usize::from(self.layout.before)..).unwrap_or(&[]);
        ReadEntries { words: entries, layout: self.layout }
    }

    /// Returns the number of counts: 1, or the size of the group.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Returns whether there are no counts. Only a malformed block has none, because a group has at
    /// least its leader's.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Scales a value of this block by the block's times.
    #[inline]
    #[must_use]
    pub fn scaled(&self, value: u64) -> Scaled {
        match (self.time_enabled(), self.time_running()) {
            (Some(enabled), Some(running)) => Scaled::new(value, enabled, running),
            _ => Scaled::Unscaled(value),
        }
    }
}

impl<'a> IntoIterator for &ReadValues<'a> {
    type Item = ReadEntry;
    type IntoIter = ReadEntries<'a>;

    #[inline]
    fn into_iter(self) -> ReadEntries<'a> {
        self.iter()
    }
}

// Not derived, because core's helper for more than five fields, as `ReadLayout` has, holds an
// assertion: see checks/no-panic.
impl core::fmt::Debug for ReadValues<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ReadValues")
            .field("format", &self.format())
            .field("time_enabled", &self.time_enabled())
            .field("time_running", &self.time_running())
            .field("entries", &self.iter())
            .finish()
    }
}

/// Iterator over the entries of a [`ReadValues`].
#[derive(Clone)]
pub struct ReadEntries<'a> {
    words: &'a [u64],
    layout: ReadLayout,
}

impl Iterator for ReadEntries<'_> {
    type Item = ReadEntry;

    #[inline]
    fn next(&mut self) -> Option<ReadEntry> {
        let (entry, rest) = self.words.split_at_checked(usize::from(self.layout.entry.get()))?;
        self.words = rest;
        Some(ReadEntry { value: *entry.first()?, id: self.layout.id(entry), lost: self.layout.lost(entry) })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let entries = self.words.len() / usize::from(self.layout.entry.get());
        (entries, Some(entries))
    }
}

impl ExactSizeIterator for ReadEntries<'_> {}

impl core::iter::FusedIterator for ReadEntries<'_> {}

impl core::fmt::Debug for ReadEntries<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

#[cfg(test)]
mod tests;
