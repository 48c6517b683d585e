//! Every constant of the crate by its name in C.

use crate::{bpf::*, branch::*, mem::*, regs::*, *};
use std::{collections::BTreeMap, vec, vec::Vec};

/// Name in C and value.
pub(super) type Constant = (&'static str, i128);

/// The constants of each type; a type that is missing here leaves its `C_NAMES` unused, so rustc
/// warns.
#[rustfmt::skip]
const TYPES: &[&[Constant]] = &[
    EventType::C_NAMES, Hardware::C_NAMES, Software::C_NAMES, Cache::C_NAMES, CacheOp::C_NAMES,
    CacheResult::C_NAMES, BreakpointType::C_NAMES, BreakpointLen::C_NAMES, Clock::C_NAMES,
    SampleType::C_NAMES, ReadFormat::C_NAMES, BranchSampleType::C_NAMES, OpenFlags::C_NAMES,
    IocFlags::C_NAMES, RecordType::C_NAMES, CpuMode::C_NAMES, Misc::C_NAMES, AuxFlags::C_NAMES,
    KsymbolType::C_NAMES, KsymbolFlags::C_NAMES, BpfEventType::C_NAMES, NamespaceIndex::C_NAMES,
    SigtrapFlags::C_NAMES, CallchainContext::C_NAMES, Transaction::C_NAMES,
    BranchType::C_NAMES, BranchNewType::C_NAMES, BranchSpeculation::C_NAMES, BranchPrivilege::C_NAMES,
    MemOp::C_NAMES, MemLevel::C_NAMES, MemSnoop::C_NAMES, MemSnoopExt::C_NAMES, MemLock::C_NAMES,
    MemTlb::C_NAMES, MemBlocked::C_NAMES, MemLevelNumber::C_NAMES, MemHops::C_NAMES, MemRegion::C_NAMES,
    RegsAbi::C_NAMES, Architecture::C_NAMES, X86Reg::C_NAMES, Arm64Reg::C_NAMES, RiscvReg::C_NAMES,
    BpfCmd::C_NAMES, BpfMapType::C_NAMES, BpfProgType::C_NAMES, BpfAttachType::C_NAMES, BpfLinkType::C_NAMES,
    BpfTaskFdType::C_NAMES, BpfPerfLinkKind::C_NAMES, BpfHelper::C_NAMES, BpfElemFlags::C_NAMES,
    BpfMapFlags::C_NAMES,
];

/// Returns every constant; one-bit fields of structs are not constants in C, see `bit_fields`.
pub(super) fn constants() -> BTreeMap<&'static str, i128> {
    TYPES.iter().copied().flatten().copied().chain(single()).collect()
}

/// Returns the constants whose names in C start with one of the prefixes.
pub(super) fn with_prefix(prefixes: &[&str]) -> Vec<Constant> {
    let matches = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    constants().into_iter().filter(|(name, _)| matches(name)).collect()
}

/// The constants that belong to no list of a type.
fn single() -> Vec<Constant> {
    vec![
        ("PERF_PMU_TYPE_SHIFT", PMU_TYPE_SHIFT.into()),
        ("PERF_HW_EVENT_MASK", HW_EVENT_MASK.into()),
        ("PERF_CONTEXT_MAX", CallchainContext::MAX.0.into()),
        ("PERF_MAX_STACK_DEPTH", MAX_STACK_DEPTH.into()),
        ("PERF_MAX_CONTEXTS_PER_STACK", MAX_CONTEXTS_PER_STACK.into()),
        ("PERF_RECORD_MISC_CPUMODE_MASK", Misc::CPU_MODE_MASK.into()),
        ("PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK", AuxFlags::PMU_FORMAT_MASK.into()),
        ("PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT", i128::from(AuxFlags::CORESIGHT_FRAMED) << 8),
        ("PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW", i128::from(AuxFlags::CORESIGHT_RAW) << 8),
        ("PERF_TXN_ABORT_MASK", Transaction::ABORT_MASK.into()),
        ("PERF_ATTR_SIZE_VER0", Attr::SIZE_VER0.into()),
        ("PERF_ATTR_SIZE_VER1", Attr::SIZE_VER1.into()),
        ("PERF_ATTR_SIZE_VER2", Attr::SIZE_VER2.into()),
        ("PERF_ATTR_SIZE_VER3", Attr::SIZE_VER3.into()),
        ("PERF_ATTR_SIZE_VER4", Attr::SIZE_VER4.into()),
        ("PERF_ATTR_SIZE_VER5", Attr::SIZE_VER5.into()),
        ("PERF_ATTR_SIZE_VER6", Attr::SIZE_VER6.into()),
        ("PERF_ATTR_SIZE_VER7", Attr::SIZE_VER7.into()),
        ("PERF_ATTR_SIZE_VER8", Attr::SIZE_VER8.into()),
        ("PERF_ATTR_SIZE_VER9", Attr::SIZE_VER9.into()),
        ("PERF_MEM_REMOTE_REMOTE", DataSource(1 << 37).is_remote().into()),
        ("BPF_F_CURRENT_CPU", BPF_F_CURRENT_CPU.into()),
        ("BPF_TAG_SIZE", BPF_TAG_SIZE as i128),
        ("TRAP_PERF", TRAP_PERF.into()),
    ]
}

/// `uapi` compares the names that start with `PERF_` and `BPF_`, the other prefixes are lists of
/// their tests.
#[test]
fn every_constant_belongs_to_a_header_that_is_compared() {
    let compared = [&["PERF_", "BPF_"], super::older::PREFIXES, super::libc_values::PREFIXES];
    let sum: usize = compared.iter().map(|prefixes| with_prefix(prefixes).len()).sum();
    // The prefix of registers is in two lists.
    assert_eq!(sum - with_prefix(&["PERF_REG_"]).len(), constants().len());
}
