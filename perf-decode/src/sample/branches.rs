use perf_abi::BranchSampleType;
use perf_abi::branch::BranchEntry;
use zerocopy::FromBytes;

use super::walk::BranchLayout;
use crate::{SampleLayout, word};

/// The branch stack of a sample, newest branch first.
#[doc(alias = "perf_branch_stack")]
#[derive(Clone, Copy, Debug)]
pub struct Branches<'a> {
    hw_index: Option<u64>,
    entries: &'a [BranchEntry],
    counters: &'a [u64],
}

/// The optional words of one branch stack.
#[derive(Clone, Copy)]
pub(super) struct BranchParts {
    pub(super) hw_index: bool,
    pub(super) counters: bool,
}

impl BranchParts {
    /// Returns the optional words of a stack of `nr` branches.
    ///
    /// Only the hardware index is uncertain without branches, because the kernel leaves it out if
    /// there was no branch stack. Only the counters are uncertain with branches, because any event
    /// of the group can have asked for them.
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
    /// Views the words from `nr` on.
    #[inline]
    pub(super) fn new(words: &'a [u64], layout: &SampleLayout, branches: BranchLayout) -> Option<Self> {
        let (&nr, rest) = words.split_first()?;
        let parts = BranchParts::new(layout, branches, nr);
        let nr = nr as usize;
        let (hw_index, rest) = rest.split_at_checked(usize::from(parts.hw_index))?;
        let (entries, rest) = <[BranchEntry]>::ref_from_prefix_with_elems(word::bytes(rest), nr).ok()?;
        let counters = if parts.counters { word::words_from_bytes(rest).ok()?.get(..nr)? } else { &[] };
        Some(Self { hw_index: hw_index.first().copied(), entries, counters })
    }

    /// Returns the number of the newest branch in the hardware's own count, with `HW_INDEX` (since
    /// Linux 5.7).
    ///
    /// It is `u64::MAX` if the kernel does not know it, and `None` also if there was no branch
    /// stack.
    #[doc(alias = "hw_idx")]
    #[must_use]
    pub fn hw_index(&self) -> Option<u64> {
        self.hw_index
    }

    /// Returns the branches.
    #[inline]
    #[must_use]
    pub fn entries(&self) -> &'a [BranchEntry] {
        self.entries
    }

    /// Returns one word per branch with the group's counts since the previous branch (since Linux
    /// 6.8); empty if no event of the group has `COUNTERS`.
    ///
    /// The PMU's `caps/branch_counter_nr` and `caps/branch_counter_width` are the number of
    /// counters in a word and their width in bits.
    #[must_use]
    pub fn counters(&self) -> &'a [u64] {
        self.counters
    }
}
