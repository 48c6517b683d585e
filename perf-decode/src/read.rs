use perf_abi::{ReadFormat, RecordType};

use crate::read_layout::ReadLayout;
use crate::{Error, Result};

/// The counts of one event or of its whole group: a `read_format` block.
///
/// It is what read(2) returns, what a READ record has, and the READ field of a sample.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadValues<'a> {
    /// The value, or for a group the number of entries; then the times; then the rest.
    words: &'a [u64],
    /// The entries of a group; for one event the whole block.
    entries: &'a [u64],
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

/// A count with its multiplexing correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaled {
    /// The event ran the whole time that it was enabled: the value is exact.
    Exact(u64),
    /// The event was multiplexed: the value times time enabled over time running, saturated.
    Estimate(u64),
    /// The event never ran: the count is unknown, which is not the same as zero.
    NeverRan,
    /// The format lacks one of the two times: the value as it is.
    Unscaled(u64),
}

impl<'a> ReadValues<'a> {
    /// Parses words that are exactly one block.
    ///
    /// # Errors
    ///
    /// [`Error::Truncated`] if the format or the group's count needs more words,
    /// [`Error::TrailingBytes`] if it needs fewer, [`Error::UnknownBits`] if the format has bits newer
    /// than this decoder.
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
    pub(crate) fn validated(words: &'a [u64], layout: ReadLayout) -> Option<Self> {
        Some(Self { words, entries: words.get(usize::from(layout.before)..)?, layout })
    }

    /// Views the block at the start of words that were validated.
    #[inline(always)]
    pub(crate) fn first_of(words: &'a [u64], layout: ReadLayout) -> Self {
        Self::split(words, layout).map_or(Self { words: &[], entries: &[], layout }, |(block, _)| block)
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
            .and_then(|(block, rest)| Some((Self::validated(block, layout)?, rest)));
        parts.ok_or_else(|| Error::truncated(RecordType::READ, "values", needed, words.len() as u64))
    }

    /// Returns the words of a block of this format for `events` events: the size of a buffer for
    /// read(2).
    ///
    /// Without [`GROUP`](ReadFormat::GROUP) a block is for one event, whatever the number.
    #[must_use]
    pub const fn words(format: ReadFormat, events: u64) -> u64 {
        ReadLayout::new(format).words(events)
    }

    /// Returns the format of the block.
    #[must_use]
    pub const fn format(&self) -> ReadFormat {
        self.layout.format()
    }

    /// Returns how long the event was enabled, in ns.
    #[inline]
    #[must_use]
    pub fn time_enabled(&self) -> Option<u64> {
        self.layout.time_enabled.of(self.words)
    }

    /// Returns how long the event ran on the PMU, in ns; less than enabled if it was multiplexed.
    #[inline]
    #[must_use]
    pub fn time_running(&self) -> Option<u64> {
        self.layout.time_running.of(self.words)
    }

    /// Returns the counts: one, or those of the group with the leader first.
    #[inline]
    #[must_use]
    pub fn iter(&self) -> ReadEntries<'a> {
        ReadEntries { words: self.entries, layout: self.layout }
    }

    /// Returns the number of counts: 1, or the size of the group.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Returns whether there are no counts. A group has its leader's at least, so only a malformed
    /// block has none.
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

/// Iterator over the entries of a [`ReadValues`].
#[derive(Clone, Debug)]
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
        let ReadLayout { id, lost, .. } = self.layout;
        Some(ReadEntry { value: *entry.first()?, id: id.of(entry), lost: lost.of(entry) })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let entries = self.words.len() / usize::from(self.layout.entry.get());
        (entries, Some(entries))
    }
}

impl ExactSizeIterator for ReadEntries<'_> {}

impl core::iter::FusedIterator for ReadEntries<'_> {}

impl Scaled {
    /// Scales `value` by time enabled over time running, in the same unit.
    #[must_use]
    pub fn new(value: u64, enabled: u64, running: u64) -> Self {
        if running == 0 {
            Self::NeverRan
        } else if running >= enabled {
            Self::Exact(value)
        } else {
            let estimate = u128::from(value) * u128::from(enabled) / u128::from(running);
            Self::Estimate(u64::try_from(estimate).unwrap_or(u64::MAX))
        }
    }

    /// Returns the number; `None` if the event never ran.
    #[must_use]
    pub const fn value(self) -> Option<u64> {
        match self {
            Self::Exact(value) | Self::Estimate(value) | Self::Unscaled(value) => Some(value),
            Self::NeverRan => None,
        }
    }
}

#[cfg(test)]
mod tests;
