//! The layout of `read_format` blocks.

use core::num::NonZeroU8;

use perf_abi::ReadFormat;

/// Word indices of the fields of a `read_format` block.
///
/// | format | words |
/// |---|---|
/// | one event | value, times, id, lost: one entry, with the times inside |
/// | a group | number of entries, times, then per entry: value, id, lost |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadLayout {
    format: ReadFormat,
    /// From the start of the block.
    time_enabled: u8,
    time_running: u8,
    /// From the start of an entry, which is its value.
    id: u8,
    lost: u8,
    /// Words before the first entry; 0 for the block of one event.
    pub(crate) before: u8,
    /// Words of an entry.
    pub(crate) entry: NonZeroU8,
}

impl ReadLayout {
    /// Returns the layout of blocks of this format. Unknown bits add no words: see
    /// [`ReadLayout::unknown`].
    pub(crate) const fn new(format: ReadFormat) -> Self {
        let enabled = words_of(ReadFormat::TOTAL_TIME_ENABLED, format);
        let running = words_of(ReadFormat::TOTAL_TIME_RUNNING, format);
        let times = enabled + running;
        // The times of one event are inside its entry, between the value and the id.
        let (before, after_value) =
            if format.contains(ReadFormat::GROUP) { (1 + times, 1) } else { (0, 1 + times) };
        let (id, lost) = (words_of(ReadFormat::ID, format), words_of(ReadFormat::LOST, format));
        Self {
            format,
            time_enabled: index(enabled, 1),
            time_running: index(running, 1 + enabled),
            id: index(id, after_value),
            lost: index(lost, after_value + id),
            before: before as u8,
            // The value, and the words after it.
            entry: NonZeroU8::MIN.saturating_add((after_value + id + lost - 1) as u8),
        }
    }

    /// Returns the format that this layout is for.
    pub(crate) const fn format(self) -> ReadFormat {
        self.format
    }

    /// Returns the bits of the format whose words this decoder does not know.
    pub(crate) const fn unknown(self) -> ReadFormat {
        self.format.difference(ReadFormat::KNOWN)
    }

    /// Returns the time enabled of a block.
    #[inline(always)]
    pub(crate) fn time_enabled(self, block: &[u64]) -> Option<u64> {
        word(self.time_enabled, block)
    }

    /// Returns the time running of a block.
    #[inline(always)]
    pub(crate) fn time_running(self, block: &[u64]) -> Option<u64> {
        word(self.time_running, block)
    }

    /// Returns the id in an entry.
    #[inline(always)]
    pub(crate) fn id(self, entry: &[u64]) -> Option<u64> {
        word(self.id, entry)
    }

    /// Returns the lost samples in an entry.
    #[inline(always)]
    pub(crate) fn lost(self, entry: &[u64]) -> Option<u64> {
        word(self.lost, entry)
    }

    /// Returns the number of entries in a block that starts with the word `first`.
    #[inline(always)]
    pub(crate) const fn entries(self, first: u64) -> u64 {
        if self.before == 0 { 1 } else { first }
    }

    /// Returns the number of words of a block that starts with `first`, saturated at `u64::MAX`.
    #[inline(always)]
    pub(crate) const fn words(self, first: u64) -> u64 {
        self.entries(first).saturating_mul(self.entry.get() as u64).saturating_add(self.before as u64)
    }
}

/// The index of a field that the format lacks: word 0, where the value or the number of entries is.
const ABSENT: u8 = 0;

/// Returns 1 if the format has the field, else 0.
const fn words_of(field: ReadFormat, format: ReadFormat) -> usize {
    format.contains(field) as usize
}

const fn index(words: usize, index: usize) -> u8 {
    if words == 0 { ABSENT } else { index as u8 }
}

/// Returns the word at an index. Index 0 means absent, because the first word of block and entry is
/// never optional.
#[inline(always)]
fn word(index: u8, words: &[u64]) -> Option<u64> {
    if index == ABSENT { None } else { words.get(usize::from(index)).copied() }
}
