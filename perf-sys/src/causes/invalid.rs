//! Causes of `EINVAL`, in the order in which the kernel checks them.
#![allow(clippy::redundant_closure_for_method_calls)] // a method path has too narrow a lifetime

use perf_abi::{
    AttrFlags, AuxAction, BranchSampleType, BreakpointType, Clock, EventType, OpenFlags, ReadFormat,
    SampleType, StackSize,
};

use super::{Opening, Rule, rule};

/// Privilege levels of branches, which select no branches by themselves.
const PRIVILEGES: BranchSampleType =
    BranchSampleType::USER.union(BranchSampleType::KERNEL).union(BranchSampleType::HV);
const CLOCKS_IN_NMI: [Clock; 2] = [Clock::MONOTONIC, Clock::MONOTONIC_RAW];
const OTHER_CLOCKS: [Clock; 3] = [Clock::REALTIME, Clock::BOOTTIME, Clock::TAI];
const EXCLUDES: AttrFlags = AttrFlags::EXCLUDE_USER
    .union(AttrFlags::EXCLUDE_KERNEL)
    .union(AttrFlags::EXCLUDE_HV)
    .union(AttrFlags::EXCLUDE_IDLE)
    .union(AttrFlags::EXCLUDE_HOST)
    .union(AttrFlags::EXCLUDE_GUEST);
const PAUSE_OR_RESUME: AuxAction = AuxAction::PAUSE.union(AuxAction::RESUME);

/// A rule of every kernel and CPU, and the field of the attr that breaks it.
pub(super) struct Broken {
    pub(super) field: &'static str,
    pub(super) rule: Rule,
}

const fn broken(field: &'static str, applies: fn(&Opening<'_>) -> bool, text: &'static str) -> Broken {
    Broken { field, rule: rule(applies, text) }
}

/// Rules that the arguments break on every kernel and CPU.
pub(super) const BROKEN: &[Broken] = &[
    broken("reserved_2", |o| o.attr.reserved_2 != 0, "reserved_2 must be 0"),
    broken(
        "branch_sample_type",
        |o| o.samples(SampleType::BRANCH_STACK) && (o.attr.branch_sample_type - PRIVILEGES).is_empty(),
        "BRANCH_STACK without branches: set a bit of branch_sample_type besides USER, KERNEL and HV",
    ),
    broken(
        "sample_regs_user",
        |o| o.samples(SampleType::REGS_USER) && o.attr.sample_regs_user == 0,
        "REGS_USER without registers: set sample_regs_user",
    ),
    broken(
        "sample_stack_user",
        |o| o.samples(SampleType::STACK_USER) && !is_stack_size(o.attr.sample_stack_user),
        "sample_stack_user must be a multiple of 8 and at most 65528 bytes",
    ),
    broken(
        "sample_regs_intr",
        |o| o.samples(SampleType::REGS_INTR) && o.attr.sample_regs_intr == 0,
        "REGS_INTR without registers: set sample_regs_intr",
    ),
    broken(
        "sample_type",
        |o| o.attr.sample_type.contains(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT),
        "WEIGHT and WEIGHT_STRUCT exclude each other",
    ),
    broken(
        "flags",
        |o| o.has(AttrFlags::INHERIT_THREAD) && !o.has(AttrFlags::INHERIT),
        "INHERIT_THREAD needs INHERIT",
    ),
    broken(
        "flags",
        |o| o.has_all(AttrFlags::REMOVE_ON_EXEC | AttrFlags::ENABLE_ON_EXEC),
        "REMOVE_ON_EXEC and ENABLE_ON_EXEC exclude each other",
    ),
    broken(
        "flags",
        |o| o.has(AttrFlags::SIGTRAP) && !o.has(AttrFlags::REMOVE_ON_EXEC),
        "SIGTRAP needs REMOVE_ON_EXEC",
    ),
    broken(
        "sample_period",
        |o| !o.has(AttrFlags::FREQ) && o.attr.sample_period >> 63 != 0,
        "sample_period must be below 2^63",
    ),
    broken(
        "flags",
        |o| o.has(AttrFlags::SIGTRAP) && !o.target.is_thread(),
        "SIGTRAP needs a thread as target",
    ),
    broken(
        "sample_type",
        |o| o.has(AttrFlags::INHERIT) && o.samples(SampleType::READ) && !o.samples(SampleType::TID),
        "INHERIT with SampleType::READ needs SampleType::TID (and Linux 6.12)",
    ),
    broken(
        "bp_type",
        |o| o.is(EventType::BREAKPOINT) && !is_access(o.attr.bp_type),
        "bp_type must be EXECUTE, or reads and writes",
    ),
    broken(
        "aux_action",
        |o| o.attr.aux_action.contains(PAUSE_OR_RESUME),
        "AuxAction::PAUSE and RESUME exclude each other",
    ),
    broken(
        "clockid",
        |o| {
            o.has(AttrFlags::USE_CLOCKID)
                && !CLOCKS_IN_NMI.iter().chain(&OTHER_CLOCKS).any(|&c| c == o.attr.clockid)
        },
        "clockid must be MONOTONIC, MONOTONIC_RAW, REALTIME, BOOTTIME or TAI",
    ),
    broken(
        "flags",
        |o| o.is_sibling && o.has(AttrFlags::PINNED | AttrFlags::EXCLUSIVE),
        "PINNED and EXCLUSIVE are for group leaders only",
    ),
    broken(
        "flags",
        |o| !o.is_sibling && (o.has(AttrFlags::AUX_OUTPUT) || o.attr.aux_action.intersects(PAUSE_OR_RESUME)),
        "AUX_OUTPUT, AuxAction::PAUSE and RESUME need an AUX event as group leader",
    ),
    broken(
        "aux_sample_size",
        |o| !o.is_sibling && o.attr.aux_sample_size != 0,
        "aux_sample_size needs an AUX event as group leader",
    ),
    broken(
        "aux_sample_size",
        |o| o.has(AttrFlags::AUX_OUTPUT) && o.attr.aux_sample_size != 0,
        "AUX_OUTPUT and aux_sample_size exclude each other",
    ),
];

/// Rules that the arguments may break, depending on the kernel, its settings, the CPU and the
/// leader.
pub(super) const POSSIBLE: &[Rule] = &[
    rule(
        |o| o.has(AttrFlags::FREQ) && o.is_sampling(),
        "a frequency above kernel.perf_event_max_sample_rate, which the kernel lowers under load",
    ),
    // The leader's CPU exists, and a sibling must have the same.
    rule(
        |o| o.target.has_cpu() && !o.is_sibling,
        "no CPU has this number (/sys/devices/system/cpu/possible)",
    ),
    rule(
        |o| o.samples(SampleType::REGS_USER | SampleType::REGS_INTR),
        "a register that cannot be sampled on this architecture",
    ),
    rule(
        |o| o.is_sibling,
        "a group leader that is a sibling itself, or differs in CPU, task, clock, inherit or hardware PMU",
    ),
    rule(
        |o| o.flags.contains(OpenFlags::FD_OUTPUT),
        "FD_OUTPUT to an event without a ring, or with another CPU, task, clock or direction",
    ),
    rule(
        |o| o.has(AttrFlags::USE_CLOCKID) && OTHER_CLOCKS.contains(&o.attr.clockid),
        "a clock for software events only: others take MONOTONIC and MONOTONIC_RAW",
    ),
    rule(|o| o.is(EventType::TRACEPOINT), "no tracepoint has this id"),
    rule(
        |o| o.is(EventType::BREAKPOINT),
        "a breakpoint address not aligned to its length, or an unsupported length",
    ),
    rule(|o| o.is_precise() && !o.is_sampling(), "precise_ip on an event that does not sample"),
    rule(
        |o| o.is_of_cpu_pmu(),
        "an event or config bit that this CPU lacks, or a group larger than its counters",
    ),
    rule(
        |o| o.is_of_dynamic_pmu() && (o.target.is_thread() || o.target.is_cgroup()),
        "an uncore PMU, which needs Target::cpu",
    ),
    rule(
        |o| o.is_of_dynamic_pmu() && o.has(EXCLUDES),
        "an exclude flag on a PMU that cannot exclude anything",
    ),
    rule(
        |o| o.has(AttrFlags::INHERIT) && o.samples(SampleType::READ),
        "INHERIT with SampleType::READ before Linux 6.12",
    ),
    rule(
        |o| o.has(AttrFlags::INHERIT) && o.attr.read_format.contains(ReadFormat::GROUP),
        "INHERIT with ReadFormat::GROUP before Linux 4.13",
    ),
    rule(|o| o.samples(SampleType::CGROUP), "SampleType::CGROUP on a kernel without CONFIG_CGROUP_PERF"),
];

fn is_stack_size(bytes: u32) -> bool {
    bytes % 8 == 0 && bytes <= StackSize::MAX.bytes()
}

fn is_access(kind: BreakpointType) -> bool {
    [BreakpointType::EXECUTE, BreakpointType::READ, BreakpointType::WRITE, BreakpointType::READ_WRITE]
        .contains(&kind)
}
