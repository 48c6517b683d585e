//! Counts in the form of `read_format`.

use perf_abi::{ReadFormat, RecordType};

use crate::error::{Error, Result};
use crate::read_layout::ReadLayout;
use crate::scaled::Scaled;
use crate::word;

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
#[non_exhaustive]
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
    pub const fn format(&self) -> ReadFormat {
        self.layout.format()
    }

    /// Returns the time that the event was enabled, in ns.
    #[inline]
    pub fn time_enabled(&self) -> Option<u64> {
        self.layout.time_enabled(self.words)
    }

    /// Returns the time that the event was counting, in ns; less than the time enabled if it was
    /// multiplexed.
    #[inline]
    pub fn time_running(&self) -> Option<u64> {
        self.layout.time_running(self.words)
    }

    /// Returns the counts: one, or the counts of the group with the leader first.
    #[inline]
    pub fn iter(&self) -> ReadEntries<'a> {
        // The entries of a group; for one event the whole block.
        let entries = self.words.get(usize::from(self.layout.before)..).unwrap_or_else(word::none);
        ReadEntries { words: entries, layout: self.layout }
    }

    /// Returns the number of counts: 1, or the size of the group.
    #[inline]
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Returns true if the block has no counts. Only a malformed block is empty, because a group
    /// has at least its leader.
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
mod tests {
    use super::*;

    /// The five bits that are known.
    const ALL: ReadFormat = ReadFormat::from_bits_retain(0x1f);

    #[test]
    fn times_of_one_event_are_between_value_and_id() {
        let format = ALL.difference(ReadFormat::GROUP);
        let counts = ReadValues::parse(&[7, 100, 50, 21, 3], format).unwrap();
        assert_eq!((counts.time_enabled(), counts.time_running()), (Some(100), Some(50)));
        let mut counts = counts.iter();
        assert_eq!(counts.next(), Some(ReadEntry { value: 7, id: Some(21), lost: Some(3) }));
        assert_eq!(counts.next(), None);
    }

    #[test]
    fn times_of_a_group_precede_all_counts() {
        let words = [2, 100, 50, 7, 21, 0, 8, 22, 1];
        let counts = ReadValues::parse(&words, ALL).unwrap();
        assert_eq!((counts.time_enabled(), counts.time_running()), (Some(100), Some(50)));
        let mut counts = counts.iter();
        assert_eq!(counts.next(), Some(ReadEntry { value: 7, id: Some(21), lost: Some(0) }));
        assert_eq!(counts.next(), Some(ReadEntry { value: 8, id: Some(22), lost: Some(1) }));
        assert_eq!(counts.next(), None);
    }

    #[test]
    fn time_running_alone_is_the_first_time() {
        let counts = ReadValues::parse(&[7, 50], ReadFormat::TOTAL_TIME_RUNNING).unwrap();
        assert_eq!((counts.time_enabled(), counts.time_running()), (None, Some(50)));
        assert_eq!(counts.scaled(7), Scaled::Unscaled(7));
    }

    #[test]
    fn group_count_is_checked_before_it_is_multiplied() {
        let refused = ReadValues::parse(&[u64::MAX, 1], ReadFormat::GROUP);
        assert!(matches!(refused, Err(Error::Truncated { needed: u32::MAX, found: 16, .. })), "{refused:?}");
    }

    #[test]
    fn block_length_follows_from_the_format() {
        for (format, events, words) in [
            (ReadFormat::empty(), 1, 1),
            (ReadFormat::ID | ReadFormat::TOTAL_TIME_RUNNING, 4, 3),
            (ReadFormat::GROUP, 4, 5),
            (ALL, 4, 15),
            (ALL, u64::MAX, u64::MAX),
        ] {
            assert_eq!(ReadValues::words(format, events), words, "{format}");
        }
    }

    #[test]
    fn truncated_block_reports_what_it_needs() {
        let refused = ReadValues::parse(&[1], ReadFormat::ID);
        assert!(matches!(refused, Err(Error::Truncated { needed: 16, found: 8, .. })), "{refused:?}");
    }

    #[test]
    fn words_after_the_block_are_trailing() {
        for (words, format, found) in [
            (&[7, 8][..], ReadFormat::empty(), 8),
            (&[1, 7, 8, 9], ReadFormat::GROUP, 16),
            (&[0, 7], ReadFormat::GROUP, 8),
            (&[7, 1, 2, 3, 4, 5], ALL.difference(ReadFormat::GROUP), 8),
        ] {
            let error = Error::TrailingBytes { kind: RecordType::READ, found };
            assert_eq!(ReadValues::parse(words, format), Err(error), "{format}");
        }
    }

    #[test]
    fn unknown_format_bit_is_refused() {
        let format = ReadFormat::from_bits_retain(1 << 5 | 1);
        let error = Error::UnknownBits { field: "read_format", bits: 1 << 5 };
        for words in [&[7, 8][..], &[7, 8, 9], &[]] {
            assert_eq!(ReadValues::parse(words, format), Err(error), "{words:?}");
        }
    }

    #[test]
    fn length_is_the_number_of_counts() {
        let words = [2, 100, 50, 7, 21, 0, 8, 22, 1];
        let group = ReadValues::parse(&words, ALL).unwrap();
        assert_eq!((group.len(), group.is_empty()), (2, false));
        let mut counts = group.iter();
        for left in [2, 1, 0] {
            assert_eq!((counts.len(), counts.size_hint()), (left, (left, Some(left))));
            counts.next();
        }
        let one = ReadValues::parse(&[7, 100, 50, 21, 3], ALL.difference(ReadFormat::GROUP)).unwrap();
        assert_eq!((one.len(), one.is_empty()), (1, false));
        let none = ReadValues::parse(&[0], ReadFormat::GROUP).unwrap();
        assert_eq!((none.len(), none.is_empty(), none.iter().next()), (0, true, None));
    }

    #[test]
    fn values_are_scaled_by_the_times_of_the_block() {
        let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
        for (running, scaled) in
            [(40, Scaled::Estimate(2000)), (80, Scaled::Exact(1000)), (0, Scaled::NeverRan)]
        {
            let words = [1000, 80, running];
            assert_eq!(ReadValues::parse(&words, times).unwrap().scaled(1000), scaled);
        }
        let enabled = ReadValues::parse(&[1000, 80], ReadFormat::TOTAL_TIME_ENABLED).unwrap();
        assert_eq!(enabled.scaled(1000), Scaled::Unscaled(1000));
        let known = [Scaled::Exact(7), Scaled::Estimate(7), Scaled::Unscaled(7)];
        assert_eq!(known.map(Scaled::value), [Some(7); 3]);
    }

    #[test]
    fn debug_form_shows_the_times_and_the_entries() {
        let format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::ID;
        let shown = std::format!("{:?}", ReadValues::parse(&[7, 100, 21], format).unwrap());
        let expected = std::format!(
            "ReadValues {{ format: {format:?}, time_enabled: Some(100), time_running: None, \
         entries: [ReadEntry {{ value: 7, id: Some(21), lost: None }}] }}"
        );
        assert_eq!(shown, expected);
    }
}
