//! Possible causes of the errnos other than `EINVAL`.
#![allow(clippy::redundant_closure_for_method_calls)] // a method path has too narrow a lifetime

use perf_abi::{AttrFlags, AuxAction, BranchSampleType, EventType, SampleType, Software};

use super::{Opening, Rule, rule};

const KERNEL_BRANCHES: BranchSampleType = BranchSampleType::KERNEL.union(BranchSampleType::HV);

pub(super) const EACCES: &[Rule] = &[
    rule(
        |o| !o.has(AttrFlags::EXCLUDE_KERNEL),
        "the kernel side needs CAP_PERFMON or perf_event_paranoid of at most 1: set EXCLUDE_KERNEL",
    ),
    rule(
        |o| !o.target.is_thread(),
        "all tasks of a CPU or cgroup need CAP_PERFMON or perf_event_paranoid of at most 0",
    ),
    rule(|o| o.target.is_other_thread(), "another user's task needs CAP_PERFMON or CAP_SYS_PTRACE"),
    rule(
        |o| o.attr.branch_sample_type.intersects(KERNEL_BRANCHES),
        "branches of the kernel need CAP_PERFMON or perf_event_paranoid of at most 1",
    ),
    rule(
        |o| o.samples(SampleType::PHYS_ADDR),
        "physical addresses need CAP_PERFMON or perf_event_paranoid of at most 1",
    ),
    rule(|o| o.has(AttrFlags::NAMESPACES), "NAMESPACES needs CAP_PERFMON"),
    rule(|o| o.has(AttrFlags::TEXT_POKE), "TEXT_POKE needs CAP_PERFMON on recent kernels"),
    rule(
        |o| o.samples(SampleType::CALLCHAIN) && !o.has(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL),
        "kernel callchains need CAP_PERFMON on recent kernels: set EXCLUDE_CALLCHAIN_KERNEL",
    ),
    rule(|o| o.is_of_dynamic_pmu(), "a kprobe needs CAP_PERFMON, a uprobe CAP_SYS_ADMIN"),
];

pub(super) const EPERM: &[Rule] = &[
    rule(
        |o| o.is(EventType::TRACEPOINT),
        "raw tracepoint data and function events need CAP_PERFMON or perf_event_paranoid of -1",
    ),
    rule(|o| o.is(EventType::BREAKPOINT), "a breakpoint on a kernel address needs CAP_SYS_ADMIN"),
    rule(|o| o.samples(SampleType::REGS_INTR), "REGS_INTR under kernel lockdown"),
];

pub(super) const ENOENT: &[Rule] = &[
    rule(
        |o| o.is_of_cpu_pmu(),
        "no hardware PMU here, as in most virtual machines, or the PMU lacks the event",
    ),
    rule(|o| o.target.is_cgroup(), "the cgroup was removed, or its hierarchy has no perf_event controller"),
    rule(
        |o| o.is(EventType::SOFTWARE) && !(o.target.is_cgroup() && is_known_software(o)),
        "no software event of this kernel has this number",
    ),
    rule(|o| o.is(EventType::TRACEPOINT), "a kernel without tracepoints"),
    rule(
        |o| o.is_of_dynamic_pmu(),
        "no PMU has this type (/sys/bus/event_source/devices/*/type), or the probed file does not exist",
    ),
];

pub(super) const EOPNOTSUPP: &[Rule] = &[
    rule(|o| o.samples(SampleType::BRANCH_STACK), "this PMU does not record branches"),
    rule(
        |o| o.is_precise(),
        "this PMU does not sample as precisely as precise_ip requests: use a lower level",
    ),
    rule(|o| o.is_sampling(), "this PMU cannot sample, only count"),
    rule(
        |o| o.has(AttrFlags::AUX_OUTPUT) || !o.attr.aux_action.is_empty(),
        "this PMU, or that of the leader, lacks AUX_OUTPUT, or pause and resume",
    ),
    rule(
        |o| {
            o.has(AttrFlags::AUX_OUTPUT) && o.attr.aux_action.intersects(AuxAction::PAUSE | AuxAction::RESUME)
        },
        "AUX_OUTPUT excludes AuxAction::PAUSE and RESUME",
    ),
    rule(
        |o| o.samples(SampleType::REGS_USER | SampleType::REGS_INTR),
        "this PMU does not sample the extended registers",
    ),
    rule(|o| o.is(EventType::BREAKPOINT), "the CPU has no breakpoints of this length"),
];

pub(super) const ENODEV: &[Rule] = &[
    rule(|o| o.target.has_cpu(), "the CPU is offline, or this PMU is not on it"),
    rule(|o| o.is_sibling, "the PMU or the task of the group leader is gone"),
];

pub(super) const EBADF: &[Rule] = &[
    rule(|o| o.is_sibling, "the group leader's descriptor is not of perf_event_open"),
    rule(|o| o.target.is_cgroup(), "the cgroup's descriptor is not the directory of a cgroup"),
];

pub(super) const E2BIG: &[Rule] =
    &[rule(|o| o.is_of_dynamic_pmu(), "the path or symbol of a probe is too long")];

pub(super) const ENOSYS: &[Rule] = &[rule(
    |o| o.samples(SampleType::REGS_USER | SampleType::REGS_INTR | SampleType::STACK_USER),
    "this architecture has no register or stack dumps",
)];

/// Returns `true` for the software events of every kernel since 3.12.
fn is_known_software(opening: &Opening<'_>) -> bool {
    opening.attr.config <= Software::DUMMY.0
}
