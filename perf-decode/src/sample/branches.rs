use perf_abi::branch::BranchEntry;
use zerocopy::FromBytes;

use crate::order::BranchParts;
use crate::word;

/// The branch stack of a sample, newest branch first.
#[doc(alias = "perf_branch_stack")]
#[derive(Clone, Copy, Debug)]
pub struct Branches<'a> {
    hw_index: Option<u64>,
    entries: &'a [BranchEntry],
    counters: &'a [u64],
}

impl<'a> Branches<'a> {
    #[inline]
    pub(super) fn new(words: &'a [u64], parts: BranchParts) -> Option<Self> {
        let (&nr, rest) = words.split_first()?;
        let nr = nr as usize;
        let (hw_index, rest) = rest.split_at_checked(usize::from(parts.hw_index))?;
        let (entries, rest) = <[BranchEntry]>::ref_from_prefix_with_elems(word::bytes(rest), nr).ok()?;
        let counters = if parts.counters { word::words_from_bytes(rest).ok()?.get(..nr)? } else { &[] };
        Some(Self { hw_index: hw_index.first().copied(), entries, counters })
    }

    /// Number of the newest branch in the hardware's own count, with `HW_INDEX` (since Linux 5.7).
    ///
    /// `u64::MAX` if the kernel does not know it; `None` also where there was no branch stack to read.
    #[doc(alias = "hw_idx")]
    #[must_use]
    pub fn hw_index(&self) -> Option<u64> {
        self.hw_index
    }

    /// The branches.
    #[inline]
    #[must_use]
    pub fn entries(&self) -> &'a [BranchEntry] {
        self.entries
    }

    /// One word per branch of what the group's events counted since the branch before (since Linux
    /// 6.8); empty if no event of the group has `COUNTERS`. How a word is divided is in the PMU's
    /// `caps/branch_counter_nr` and `caps/branch_counter_width`.
    #[must_use]
    pub fn counters(&self) -> &'a [u64] {
        self.counters
    }
}
