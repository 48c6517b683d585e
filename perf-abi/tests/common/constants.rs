//! Every constant of the crate by its C name.

use std::collections::BTreeMap;

macro_rules! table {
    ($($Type:ident)*) => {
        [$(perf_abi::$Type::C_NAMES.iter().map(|&(name, value)| (name, u64::from(value))).collect::<Vec<_>>()),*]
    };
}

/// All constants that have a value of their own; the one-bit fields of structs are no constants in C.
pub(crate) fn constants() -> BTreeMap<&'static str, u64> {
    let plain = vec![
        ("PERF_PMU_TYPE_SHIFT", perf_abi::PMU_TYPE_SHIFT.into()),
        ("PERF_HW_EVENT_MASK", perf_abi::HW_EVENT_MASK),
        ("PERF_CONTEXT_MAX", perf_abi::MAX_CONTEXT),
        ("PERF_MAX_STACK_DEPTH", perf_abi::MAX_STACK_DEPTH.into()),
        ("PERF_MAX_CONTEXTS_PER_STACK", perf_abi::MAX_CONTEXTS_PER_STACK.into()),
        ("PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK", perf_abi::AuxFlags::PMU_FORMAT_MASK),
        ("PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT", u64::from(perf_abi::AuxFlags::CORESIGHT_FRAMED) << 8),
        ("PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW", u64::from(perf_abi::AuxFlags::CORESIGHT_RAW) << 8),
        ("PERF_TXN_ABORT_MASK", perf_abi::Transaction::ABORT_MASK),
        ("PERF_ATTR_SIZE_VER0", perf_abi::Attr::SIZE_VER0.into()),
        ("PERF_ATTR_SIZE_VER1", perf_abi::Attr::SIZE_VER1.into()),
        ("PERF_ATTR_SIZE_VER2", perf_abi::Attr::SIZE_VER2.into()),
        ("PERF_ATTR_SIZE_VER3", perf_abi::Attr::SIZE_VER3.into()),
        ("PERF_ATTR_SIZE_VER4", perf_abi::Attr::SIZE_VER4.into()),
        ("PERF_ATTR_SIZE_VER5", perf_abi::Attr::SIZE_VER5.into()),
        ("PERF_ATTR_SIZE_VER6", perf_abi::Attr::SIZE_VER6.into()),
        ("PERF_ATTR_SIZE_VER7", perf_abi::Attr::SIZE_VER7.into()),
        ("PERF_ATTR_SIZE_VER8", perf_abi::Attr::SIZE_VER8.into()),
        ("PERF_MEM_REMOTE_REMOTE", perf_abi::DataSource(1 << 37).is_remote().into()),
        ("BPF_F_CURRENT_CPU", perf_abi::BPF_F_CURRENT_CPU),
    ];
    let sets = table!(
        RecordType CpuMode Misc EventType Hardware Software Cache CacheOp CacheResult BreakpointType BreakpointLen
        SampleType ReadFormat BranchSampleType BranchType BranchNewType BranchSpeculation BranchPrivilege
        CallchainContext RegsAbi AuxFlags KsymbolType KsymbolFlags BpfEventType OpenFlags IocFlags Transaction
        MemOp MemLevel MemSnoop MemSnoopExt MemLock MemTlb MemBlocked MemLevelNumber MemHops MemRegion
        X86Reg Arm64Reg RiscvReg
        BpfCmd BpfMapType BpfProgType BpfAttachType BpfLinkType BpfTaskFdType BpfPerfLinkKind BpfHelper
        BpfElemFlags BpfMapFlags
    );
    sets.into_iter().flatten().chain(plain).collect()
}
