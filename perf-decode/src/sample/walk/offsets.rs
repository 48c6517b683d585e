use super::BranchLayout;

/// The offsets of one sample's variable parts: four word indices in one word.
///
/// The other parts are found from these in one or two steps of constant time. An index has 13 bits,
/// because a record has at most 8191 words. The highest bit is the branch layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleOffsets(u64);

const OPPOSITE: u64 = 1 << 63;

impl SampleOffsets {
    /// The offsets of a sample without variable parts.
    pub(crate) const NONE: Self = Self(0);

    #[inline(always)]
    pub(super) fn new(branches: BranchLayout) -> Self {
        Self(if branches == BranchLayout::Opposite { OPPOSITE } else { 0 })
    }

    #[inline(always)]
    pub(crate) fn from_header(header: u64) -> Self {
        Self(header)
    }

    #[inline(always)]
    pub(super) fn set_after_read(&mut self, at: usize) {
        self.0 |= at as u64;
    }

    #[inline(always)]
    pub(super) fn set_after_callchain(&mut self, at: usize) {
        self.0 |= (at as u64) << 16;
    }

    #[inline(always)]
    pub(super) fn set_after_raw(&mut self, at: usize) {
        self.0 |= (at as u64) << 32;
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
