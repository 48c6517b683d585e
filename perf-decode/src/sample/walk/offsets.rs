use super::BranchLayout;

/// Where the variable parts of one sample start: four word indices in one word.
///
/// The parts that are not stored are one or two steps of fixed work after one that is. An index has
/// 13 bits, because a record has at most 8191 words; the highest bit is the branch layout.
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

    /// Returns where the counts end and the callchain starts.
    #[inline(always)]
    pub(crate) fn after_read(self) -> usize {
        usize::from(self.0 as u16)
    }

    /// Returns where the callchain ends and the raw data starts.
    #[inline(always)]
    pub(crate) fn after_callchain(self) -> usize {
        usize::from((self.0 >> 16) as u16)
    }

    /// Returns where the raw data ends and the branch stack starts.
    #[inline(always)]
    pub(crate) fn after_raw(self) -> usize {
        usize::from((self.0 >> 32) as u16)
    }

    /// Returns where the user stack ends and the run of `MEM` starts.
    #[inline(always)]
    pub(crate) fn mem(self) -> usize {
        usize::from((self.0 >> 48) as u16 & 0x7fff)
    }

    /// Returns how the optional words of the branch stack were taken.
    #[inline(always)]
    pub(crate) fn branches(self) -> BranchLayout {
        if self.0 & OPPOSITE == 0 { BranchLayout::Attr } else { BranchLayout::Opposite }
    }
}
