//! Branch records: what to record, and how one branch is written.

mod info;
mod kind;

pub use info::BranchInfo;
pub use kind::{BranchNewType, BranchPrivilege, BranchSpeculation, BranchType};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

bit_set! {
    /// `enum perf_branch_sample_type`—which branches to record, and what about them.
    ///
    /// At least one bit besides the privilege bits `USER`, `KERNEL` and `HV` is needed. Without a privilege
    /// bit the kernel takes them from the attr's exclude flags.
    #[doc(alias = "perf_branch_sample_type")]
    pub struct BranchSampleType(u64) {
        /// Branches that end in user space. Since Linux 3.4.
        "PERF_SAMPLE_BRANCH_USER" USER = 1 << 0;
        /// Branches that end in the kernel. Since Linux 3.4.
        "PERF_SAMPLE_BRANCH_KERNEL" KERNEL = 1 << 1;
        /// Branches that end in the hypervisor. Since Linux 3.4.
        "PERF_SAMPLE_BRANCH_HV" HV = 1 << 2;
        /// Any branch. Since Linux 3.4.
        "PERF_SAMPLE_BRANCH_ANY" ANY = 1 << 3;
        /// Any call, also of the kernel. Since Linux 3.4.
        "PERF_SAMPLE_BRANCH_ANY_CALL" ANY_CALL = 1 << 4;
        /// Any return. Since Linux 3.4.
        "PERF_SAMPLE_BRANCH_ANY_RETURN" ANY_RETURN = 1 << 5;
        /// Indirect calls. Since Linux 3.4.
        "PERF_SAMPLE_BRANCH_IND_CALL" IND_CALL = 1 << 6;
        /// Aborts of transactions. Since Linux 3.11.
        "PERF_SAMPLE_BRANCH_ABORT_TX" ABORT_TX = 1 << 7;
        /// Inside transactions. Since Linux 3.11.
        "PERF_SAMPLE_BRANCH_IN_TX" IN_TX = 1 << 8;
        /// Outside transactions. Since Linux 3.11.
        "PERF_SAMPLE_BRANCH_NO_TX" NO_TX = 1 << 9;
        /// Conditional branches. Since Linux 3.16.
        "PERF_SAMPLE_BRANCH_COND" COND = 1 << 10;
        /// Calls not yet returned from: a call stack kept by hardware. Since Linux 4.1.
        "PERF_SAMPLE_BRANCH_CALL_STACK" CALL_STACK = 1 << 11;
        /// Indirect jumps. Since Linux 4.2.
        "PERF_SAMPLE_BRANCH_IND_JUMP" IND_JUMP = 1 << 12;
        /// Direct calls. Since Linux 4.4.
        "PERF_SAMPLE_BRANCH_CALL" CALL = 1 << 13;
        /// Leaves the flags of each branch out. Since Linux 4.5.
        "PERF_SAMPLE_BRANCH_NO_FLAGS" NO_FLAGS = 1 << 14;
        /// Leaves the cycles of each branch out. Since Linux 4.5.
        "PERF_SAMPLE_BRANCH_NO_CYCLES" NO_CYCLES = 1 << 15;
        /// Records the kind of each branch. Since Linux 4.14.
        "PERF_SAMPLE_BRANCH_TYPE_SAVE" TYPE_SAVE = 1 << 16;
        /// Records the hardware's own index of the newest branch. Since Linux 5.7.
        "PERF_SAMPLE_BRANCH_HW_INDEX" HW_INDEX = 1 << 17;
        /// Records the privilege level of each branch. Since Linux 6.1.
        "PERF_SAMPLE_BRANCH_PRIV_SAVE" PRIV_SAVE = 1 << 18;
        /// Records occurrences of the group's events between branches. Since Linux 6.8.
        "PERF_SAMPLE_BRANCH_COUNTERS" COUNTERS = 1 << 19;
    }
}

/// `struct perf_branch_entry`—one branch. Since Linux 3.4.
#[doc(alias = "perf_branch_entry")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct BranchEntry {
    /// Address of the branch.
    pub from: u64,
    /// Address it went to.
    pub to: u64,
    /// What is known about it.
    pub info: BranchInfo,
}

layout!(BranchEntry, 24 { from: 0, to: 8, info: 16 });
