//! The entries of a branch stack.

mod info;
mod kind;

pub use info::BranchInfo;
pub use kind::{BranchNewType, BranchPrivilege, BranchSpeculation, BranchType};

#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct perf_branch_entry`—one entry of a branch stack. Since Linux 3.4.
#[doc(alias = "perf_branch_entry")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BranchEntry {
    /// Address of the branch.
    pub from: u64,
    /// Address of its target.
    pub to: u64,
    /// Its flags and numbers.
    pub info: BranchInfo,
}

layout!(BranchEntry, 24 { from: 0, to: 8, info: 16 });

impl From<[u64; 3]> for BranchEntry {
    /// Returns the entry of these words, in the order of memory.
    #[inline]
    fn from([from, to, info]: [u64; 3]) -> Self {
        Self { from, to, info: BranchInfo::from_bits_retain(info) }
    }
}
