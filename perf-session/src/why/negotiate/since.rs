//! The Linux release of each bit that an attr can do without.

use std::fmt;

use perf_sys::{AttrFlags, BranchSampleType, ReadFormat, SampleType};

/// A release of Linux, major and minor; of the releases 2.6 the last number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Since(pub u8, pub u8);

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(2, last) => write!(f, "Linux 2.6.{last}"),
            Self(major, minor) => write!(f, "Linux {major}.{minor}"),
        }
    }
}

/// Flags that only add records or narrow the scope: without them the event still does its work.
///
/// Not in the list are flags without which the program would do something else: `INHERIT_THREAD`,
/// `REMOVE_ON_EXEC`, `SIGTRAP`, `WRITE_BACKWARD`, `AUX_OUTPUT`, and all those of the first release.
pub(super) const FLAGS: &[(AttrFlags, Since)] = &[
    (AttrFlags::DEFER_OUTPUT, Since(6, 19)),
    (AttrFlags::DEFER_CALLCHAIN, Since(6, 19)),
    (AttrFlags::BUILD_ID, Since(5, 12)),
    (AttrFlags::TEXT_POKE, Since(5, 9)),
    (AttrFlags::CGROUP, Since(5, 7)),
    (AttrFlags::BPF_EVENT, Since(5, 1)),
    (AttrFlags::KSYMBOL, Since(5, 1)),
    (AttrFlags::NAMESPACES, Since(4, 12)),
    (AttrFlags::CONTEXT_SWITCH, Since(4, 3)),
    (AttrFlags::COMM_EXEC, Since(3, 16)),
    (AttrFlags::MMAP2, Since(3, 16)),
    (AttrFlags::EXCLUDE_CALLCHAIN_USER, Since(3, 7)),
    (AttrFlags::EXCLUDE_CALLCHAIN_KERNEL, Since(3, 7)),
    (AttrFlags::EXCLUDE_GUEST, Since(3, 2)),
    (AttrFlags::EXCLUDE_HOST, Since(3, 2)),
    (AttrFlags::SAMPLE_ID_ALL, Since(2, 38)),
    (AttrFlags::MMAP_DATA, Since(2, 36)),
];

/// Flags that a PMU refuses which cannot exclude anything.
pub(super) const EXCLUDES: [AttrFlags; 6] = [
    AttrFlags::EXCLUDE_HOST,
    AttrFlags::EXCLUDE_GUEST,
    AttrFlags::EXCLUDE_IDLE,
    AttrFlags::EXCLUDE_HV,
    AttrFlags::EXCLUDE_USER,
    AttrFlags::EXCLUDE_KERNEL,
];

/// Sample fields after those of the first releases.
pub(super) const SAMPLES: &[(SampleType, Since)] = &[
    (SampleType::WEIGHT_STRUCT, Since(5, 12)),
    (SampleType::CODE_PAGE_SIZE, Since(5, 11)),
    (SampleType::DATA_PAGE_SIZE, Since(5, 11)),
    (SampleType::CGROUP, Since(5, 7)),
    (SampleType::AUX, Since(5, 5)),
    (SampleType::PHYS_ADDR, Since(4, 14)),
    (SampleType::REGS_INTR, Since(3, 19)),
    (SampleType::TRANSACTION, Since(3, 13)),
    (SampleType::IDENTIFIER, Since(3, 12)),
    (SampleType::DATA_SRC, Since(3, 10)),
    (SampleType::WEIGHT, Since(3, 10)),
    (SampleType::STACK_USER, Since(3, 7)),
    (SampleType::REGS_USER, Since(3, 7)),
    (SampleType::BRANCH_STACK, Since(3, 4)),
    (SampleType::RAW, Since(2, 32)),
    (SampleType::STREAM_ID, Since(2, 32)),
];

/// The first release that samples counts of inherited events, after those that refuse them (4.13 to 6.11).
pub(super) const INHERITED_READ: Since = Since(6, 12);

pub(super) const READS: &[(ReadFormat, Since)] = &[(ReadFormat::LOST, Since(6, 0))];

pub(super) const BRANCHES: &[(BranchSampleType, Since)] = &[
    (BranchSampleType::COUNTERS, Since(6, 8)),
    (BranchSampleType::PRIV_SAVE, Since(6, 1)),
    (BranchSampleType::HW_INDEX, Since(5, 7)),
    (BranchSampleType::TYPE_SAVE, Since(4, 14)),
    (BranchSampleType::NO_CYCLES, Since(4, 5)),
    (BranchSampleType::NO_FLAGS, Since(4, 5)),
    (BranchSampleType::CALL, Since(4, 4)),
    (BranchSampleType::IND_JUMP, Since(4, 2)),
    (BranchSampleType::CALL_STACK, Since(4, 1)),
    (BranchSampleType::COND, Since(3, 16)),
    (BranchSampleType::NO_TX, Since(3, 11)),
    (BranchSampleType::IN_TX, Since(3, 11)),
    (BranchSampleType::ABORT_TX, Since(3, 11)),
];

/// `USE_CLOCKID` and `clockid`.
pub(super) const CLOCKID: Since = Since(4, 1);
/// `sample_max_stack`.
pub(super) const MAX_STACK: Since = Since(4, 8);
