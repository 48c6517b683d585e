//! Offsets of the variable parts of a sample.

use super::BranchLayout;

/// The offsets of one sample's variable parts: four word indices in one word.
///
/// The other parts are found from these in one or two steps of constant time. An index has 13 bits,
/// because a record has at most 8191 words. The highest bit is the branch layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleOffsets(u64);

const OPPOSITE: u64 = 1 << 63;

/// Factors that add a number of words to the offsets from a part to the raw data.
const FROM_READ: u64 = FROM_CALLCHAIN | 1;
const FROM_CALLCHAIN: u64 = FROM_RAW | 1 << 16;
const FROM_RAW: u64 = 1 << 32;

impl SampleOffsets {
    /// The offsets of a sample without variable parts.
    pub(crate) const NONE: Self = Self(0);

    /// Returns the offsets of a sample whose parts are all empty: each is the end of the head,
    /// except for the parts after the user stack, which only some layouts have.
    #[inline(always)]
    pub(super) fn new(head_words: u16, branches: BranchLayout) -> Self {
        let opposite = if branches == BranchLayout::Opposite { OPPOSITE } else { 0 };
        Self((u64::from(head_words) * FROM_READ) | opposite)
    }

    #[inline(always)]
    pub(crate) fn from_header(header: u64) -> Self {
        Self(header)
    }

    /// Adds the words of the counts. A record has at most 8191 words, so no offset carries into the
    /// next.
    #[inline(always)]
    pub(super) fn add_read(&mut self, words: usize) {
        self.0 += words as u64 * FROM_READ;
    }

    #[inline(always)]
    pub(super) fn add_callchain(&mut self, words: usize) {
        self.0 += words as u64 * FROM_CALLCHAIN;
    }

    #[inline(always)]
    pub(super) fn add_raw(&mut self, words: usize) {
        self.0 += words as u64 * FROM_RAW;
    }

    #[inline(always)]
    pub(super) fn set_mem(&mut self, at: usize) {
        self.0 |= (at as u64) << 48;
    }

    /// Returns the word index after the counts, the start of the callchain.
    #[inline(always)]
    pub(crate) fn after_read(self) -> usize {
        usize::from(self.0 as u16)
    }

    /// Returns the word index after the callchain, the start of the raw data.
    #[inline(always)]
    pub(crate) fn after_callchain(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }

    /// Returns the word index after the raw data, the start of the branch stack.
    #[inline(always)]
    pub(crate) fn after_raw(self) -> usize {
        usize::from((self.0 >> 32) as u16)
    }

    /// Returns the word index after the user stack, the start of the run of `MEM`.
    #[inline(always)]
    pub(crate) fn mem(self) -> usize {
        usize::from((self.0 >> 48) as u16 & 0x7fff)
    }

    /// Returns the reading of the branch stack's optional words.
    #[inline(always)]
    pub(crate) fn branches(self) -> BranchLayout {
        if self.0 & OPPOSITE == 0 { BranchLayout::Attr } else { BranchLayout::Opposite }
    }
}
