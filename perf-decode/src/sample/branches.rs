//! Branch stacks of samples.

use perf_abi::BranchSampleType;
use perf_abi::branch::BranchEntry;

use super::walk::BranchLayout;
use crate::entries::Entries;
use crate::layout::SampleLayout;

/// The branch stack of a sample, newest branch first.
#[doc(alias = "perf_branch_stack")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Branches<'a> {
    /// From the number of branches on, perhaps beyond the last word of the stack.
    words: &'a [u64],
    parts: BranchParts,
}

/// The optional words of one branch stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct BranchParts {
    pub(super) hw_index: bool,
    pub(super) counters: bool,
}

impl BranchParts {
    /// Returns the optional words of a stack of `nr` branches.
    ///
    /// Only the hardware index is uncertain without branches, because the kernel omits it without a
    /// branch stack. Only the counters are uncertain with branches, because any event of the group
    /// can request them.
    #[inline(always)]
    pub(super) fn new(layout: &SampleLayout, branches: BranchLayout, nr: u64) -> Self {
        let asked = layout.branch_sample_type();
        let opposite = branches == BranchLayout::Opposite;
        Self {
            hw_index: asked.contains(BranchSampleType::HW_INDEX) && !(opposite && nr == 0),
            counters: asked.contains(BranchSampleType::COUNTERS) != (opposite && nr != 0),
        }
    }

    /// Returns the number of words of an entry and its counters.
    #[inline(always)]
    pub(super) fn words_per_branch(self) -> u64 {
        3 + u64::from(self.counters)
    }
}

impl<'a> Branches<'a> {
    /// Views the validated words from `nr` on.
    #[inline]
    pub(super) fn new(words: &'a [u64], layout: &SampleLayout, branches: BranchLayout) -> Self {
        Self { words, parts: BranchParts::new(layout, branches, words.first().copied().unwrap_or(0)) }
    }

    /// Returns the number of branches.
    #[inline]
    fn nr(&self) -> usize {
        self.words.first().map_or(0, |nr| *nr as usize)
    }

    /// Returns the words after `nr` and the hardware index.
    #[inline]
    fn entry_words(&self) -> &'a [u64] {
        self.words.get(1 + usize::from(self.parts.hw_index)..).unwrap_or(&[])
    }

    /// Returns the number of the newest branch in the hardware's own count, with `HW_INDEX` (since
    /// Linux 5.7).
    ///
    /// It is `u64::MAX` if the kernel does not know it, and `None` also without a branch stack.
    #[doc(alias = "hw_idx")]
    pub fn hw_index(&self) -> Option<u64> {
        if self.parts.hw_index { self.words.get(1).copied() } else { None }
    }

    /// Returns the branches.
    #[inline]
    pub fn entries(&self) -> Entries<'a, BranchEntry, 3> {
        Entries::prefix(self.entry_words(), self.nr())
    }

    /// Returns one word per branch with the group's counts since the previous branch (since Linux
    /// 6.8); empty if no event of the group has `COUNTERS`.
    ///
    /// The PMU's `caps/branch_counter_nr` and `caps/branch_counter_width` are the number of
    /// counters in a word and their width in bits.
    pub fn counters(&self) -> &'a [u64] {
        if !self.parts.counters {
            return &[];
        }
        let start = 3 * self.nr();
        self.entry_words().get(start..start + self.nr()).unwrap_or(&[])
    }
}

impl core::fmt::Debug for Branches<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Branches")
            .field("hw_index", &self.hw_index())
            .field("entries", &self.entries())
            .field("counters", &self.counters())
            .finish()
    }
}
