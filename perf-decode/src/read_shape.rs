use core::num::NonZeroU8;

use perf_abi::ReadFormat;

use crate::slot::Slot;

/// Where the fields of a block of counts lie: all that its format says about it.
///
/// | format | words |
/// |---|---|
/// | one event | value, times, id, lost: one entry, with the times inside |
/// | a group | number of entries, times, then per entry: value, id, lost |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadShape {
    format: ReadFormat,
    /// From the block's start.
    pub(crate) time_enabled: Slot,
    pub(crate) time_running: Slot,
    /// From an entry's start, where its value is.
    pub(crate) id: Slot,
    pub(crate) lost: Slot,
    /// Words before the first entry; 0 if the block is of one event.
    pub(crate) before: u8,
    /// Words of an entry.
    pub(crate) entry: NonZeroU8,
}

impl ReadShape {
    /// The shape of blocks of this format. Bits of it that are not known add no words.
    pub(crate) const fn new(format: ReadFormat) -> Self {
        let enabled = words_of(ReadFormat::TOTAL_TIME_ENABLED, format);
        let running = words_of(ReadFormat::TOTAL_TIME_RUNNING, format);
        let times = enabled + running;
        // Where the times are, the first of the words that follow a value in its entry comes behind them.
        let (before, behind_value) =
            if format.contains(ReadFormat::GROUP) { (1 + times, 1) } else { (0, 1 + times) };
        let (id, lost) = (words_of(ReadFormat::ID, format), words_of(ReadFormat::LOST, format));
        Self {
            format,
            time_enabled: slot(enabled, 1),
            time_running: slot(running, 1 + enabled),
            id: slot(id, behind_value),
            lost: slot(lost, behind_value + id),
            before: before as u8,
            // The value itself, and what follows it.
            entry: NonZeroU8::MIN.saturating_add((behind_value + id + lost - 1) as u8),
        }
    }

    /// The format that this is the shape of.
    pub(crate) const fn format(self) -> ReadFormat {
        self.format
    }

    /// Entries of a block that starts with `first`.
    #[inline(always)]
    pub(crate) const fn entries(self, first: u64) -> u64 {
        if self.before == 0 { 1 } else { first }
    }

    /// Words of a whole block that starts with `first`, at most `u64::MAX`: no block has so many.
    #[inline(always)]
    pub(crate) const fn words(self, first: u64) -> u64 {
        self.entries(first).saturating_mul(self.entry.get() as u64).saturating_add(self.before as u64)
    }
}

/// 1 if the format has the field, else 0.
const fn words_of(field: ReadFormat, format: ReadFormat) -> usize {
    format.contains(field) as usize
}

const fn slot(words: usize, index: usize) -> Slot {
    if words == 0 { Slot::ABSENT } else { Slot::at(index) }
}
