//! The table of rules: what the kernel refuses, when a rule applies, and what explains it.

#![allow(clippy::redundant_closure_for_method_calls)] // a method path has too narrow a lifetime

use perf_ring::abi::AuxAction;
use perf_ring::{
    Attr, AttrFlags, BranchSampleType, BreakpointType, Errno, Error, EventType, ReadFormat, SampleType,
    StackSize, Target,
};

use super::case::Case;
use super::{
    Cause, Diagnosis, EXCLUDES, Evidence, Field, argument, attr, limit, missing, permission, pmu, target,
    tracepoint, trials,
};
use crate::system::{FileError, System};

/// The result of a rule: a reason, none, or the error of the file that decides.
pub(super) type Found = Result<Option<Diagnosis>, FileError>;

/// A reason why the kernel refuses an event.
pub(super) struct Rule {
    /// The errnos with which the kernel refuses it.
    errnos: &'static [Errno],
    look: Look,
}

enum Look {
    /// Breaks a rule of every kernel and CPU: the field, when, what, and the remedy.
    Broken(Field, fn(&Case<'_>) -> bool, &'static str, &'static str),
    /// Certain before the call and after it: rules with values, such as the event's type or files.
    Check(fn(&mut Case<'_>) -> Found),
    /// Explains the errno of a call. Such a rule may open other events.
    Explain(fn(&mut Case<'_>) -> Option<Diagnosis>),
    /// A cause that nothing here can show. The possible ones are listed if no other rule explains
    /// the errno.
    Possible(fn(&Case<'_>) -> bool, &'static str),
}

const fn broken(
    field: Field,
    applies: fn(&Case<'_>) -> bool,
    text: &'static str,
    remedy: &'static str,
) -> Rule {
    Rule { errnos: &[Errno::EINVAL], look: Look::Broken(field, applies, text, remedy) }
}

const fn checks(errnos: &'static [Errno], look: fn(&mut Case<'_>) -> Found) -> Rule {
    Rule { errnos, look: Look::Check(look) }
}

const fn explains(errnos: &'static [Errno], look: fn(&mut Case<'_>) -> Option<Diagnosis>) -> Rule {
    Rule { errnos, look: Look::Explain(look) }
}

const fn possible(errnos: &'static [Errno], applies: fn(&Case<'_>) -> bool, text: &'static str) -> Rule {
    Rule { errnos, look: Look::Possible(applies, text) }
}

/// Privilege levels of branches, which do not select branches on their own.
const PRIVILEGES: BranchSampleType =
    BranchSampleType::USER.union(BranchSampleType::KERNEL).union(BranchSampleType::HV);
const PAUSE_OR_RESUME: AuxAction = AuxAction::PAUSE.union(AuxAction::RESUME);

const EINVAL: &[Errno] = &[Errno::EINVAL];
const ENODEV: &[Errno] = &[Errno::ENODEV];
const EOPNOTSUPP: &[Errno] = &[Errno::EOPNOTSUPP];
const EPERM: &[Errno] = &[Errno::EPERM];
const EPERM_OR_ENOSYS: &[Errno] = &[Errno::EPERM, Errno::ENOSYS];

/// The rules in the order in which they are checked: first what is certain without a trial, in the
/// order in which the kernel checks it.
const RULES: &[Rule] = &[
    broken(Field::RESERVED_2, |c| c.attr.reserved_2 != 0, "reserved_2 must be 0", "set it to 0"),
    broken(
        Field::BRANCH_SAMPLE_TYPE,
        |c| c.samples(SampleType::BRANCH_STACK) && (c.attr.branch_sample_type - PRIVILEGES).is_empty(),
        "BRANCH_STACK without branches",
        "set a bit of branch_sample_type besides USER, KERNEL and HV",
    ),
    broken(
        Field::SAMPLE_REGS_USER,
        |c| c.samples(SampleType::REGS_USER) && c.attr.sample_regs_user == 0,
        "REGS_USER without registers",
        "set sample_regs_user",
    ),
    broken(
        Field::SAMPLE_STACK_USER,
        |c| c.samples(SampleType::STACK_USER) && !is_stack_size(c.attr.sample_stack_user),
        "sample_stack_user must be a multiple of 8 and at most 65528 bytes",
        "use a StackSize",
    ),
    broken(
        Field::SAMPLE_REGS_INTR,
        |c| c.samples(SampleType::REGS_INTR) && c.attr.sample_regs_intr == 0,
        "REGS_INTR without registers",
        "set sample_regs_intr",
    ),
    broken(
        Field::SAMPLE_TYPE,
        |c| c.attr.sample_type.contains(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT),
        "WEIGHT and WEIGHT_STRUCT exclude each other",
        "sample one of them",
    ),
    broken(
        Field::FLAGS,
        |c| c.has(AttrFlags::INHERIT_THREAD) && !c.has(AttrFlags::INHERIT),
        "INHERIT_THREAD needs INHERIT",
        "set both, or neither",
    ),
    broken(
        Field::FLAGS,
        |c| c.attr.flags.contains(AttrFlags::REMOVE_ON_EXEC | AttrFlags::ENABLE_ON_EXEC),
        "REMOVE_ON_EXEC and ENABLE_ON_EXEC exclude each other",
        "clear one of them",
    ),
    broken(
        Field::FLAGS,
        |c| c.has(AttrFlags::SIGTRAP) && !c.has(AttrFlags::REMOVE_ON_EXEC),
        "SIGTRAP needs REMOVE_ON_EXEC",
        "set both",
    ),
    broken(
        Field::SAMPLE_PERIOD,
        |c| !c.has(AttrFlags::FREQ) && c.attr.sample_period >> 63 != 0,
        "sample_period must be below 2^63",
        "use a shorter period",
    ),
    broken(
        Field::FLAGS,
        |c| c.has(AttrFlags::SIGTRAP) && !c.target.is_thread(),
        "SIGTRAP needs a thread as target",
        "open the event for a thread",
    ),
    broken(
        Field::SAMPLE_TYPE,
        |c| c.has(AttrFlags::INHERIT) && c.samples(SampleType::READ) && !c.samples(SampleType::TID),
        "INHERIT with the sample field READ needs TID (and Linux 6.12)",
        "sample TID too",
    ),
    broken(
        Field::BP_TYPE,
        |c| c.is(EventType::BREAKPOINT) && !is_access(c.attr.bp_type),
        "bp_type must be EXECUTE, or reads and writes",
        "use a constant of BreakpointType",
    ),
    broken(
        Field::AUX_ACTION,
        |c| c.attr.aux_action.contains(PAUSE_OR_RESUME),
        "the AUX actions PAUSE and RESUME exclude each other",
        "use two events",
    ),
    broken(
        Field::CLOCKID,
        |c| c.has(AttrFlags::USE_CLOCKID) && !attr::CLOCKS.contains(&c.attr.clockid),
        "clockid must be MONOTONIC, MONOTONIC_RAW, REALTIME, BOOTTIME or TAI",
        "use one of these clocks",
    ),
    broken(
        Field::FLAGS,
        |c| c.in_group && c.has(AttrFlags::PINNED | AttrFlags::EXCLUSIVE),
        "PINNED and EXCLUSIVE are for group leaders only",
        "clear them in the other events",
    ),
    broken(
        Field::FLAGS,
        |c| !c.in_group && (c.has(AttrFlags::AUX_OUTPUT) || c.attr.aux_action.intersects(PAUSE_OR_RESUME)),
        "AUX_OUTPUT and the AUX actions PAUSE and RESUME need an AUX event as group leader",
        "open the event in the group of an AUX event",
    ),
    broken(
        Field::AUX_SAMPLE_SIZE,
        |c| !c.in_group && c.attr.aux_sample_size != 0,
        "aux_sample_size needs an AUX event as group leader",
        "open the event in the group of an AUX event",
    ),
    broken(
        Field::AUX_SAMPLE_SIZE,
        |c| c.has(AttrFlags::AUX_OUTPUT) && c.attr.aux_sample_size != 0,
        "AUX_OUTPUT and aux_sample_size exclude each other",
        "clear one of them",
    ),
    Rule {
        errnos: EOPNOTSUPP,
        look: Look::Broken(
            Field::AUX_ACTION,
            |c| c.has(AttrFlags::AUX_OUTPUT) && c.attr.aux_action.intersects(PAUSE_OR_RESUME),
            "AUX_OUTPUT excludes the AUX actions PAUSE and RESUME",
            "use two events",
        ),
    },
    checks(EINVAL, |c| Ok(attr::unknown_bits(c.attr))),
    checks(EINVAL, |c| Ok(attr::hardware_id(c.attr))),
    checks(EINVAL, |c| Ok(attr::cache_event(c.attr))),
    checks(EINVAL, |c| Ok(attr::breakpoint(c.attr))),
    checks(EINVAL, |c| Ok(attr::clock(c.attr))),
    checks(EINVAL, limit::sample_rate),
    checks(&[Errno::EOVERFLOW], limit::max_stack),
    checks(EINVAL, target::no_such_cpu),
    checks(&[Errno::ENODEV, Errno::ESRCH], target::offline),
    checks(EINVAL, pmu::counts_on_cpus),
    checks(ENODEV, pmu::not_on_cpu),
    checks(EOPNOTSUPP, |c| pmu::lacks_feature(c, true)),
    // EACCES, EPERM, ENOSYS
    explains(&[Errno::EACCES], permission::not_permitted),
    explains(&[Errno::ENOSYS], permission::no_perf_events),
    explains(EPERM_OR_ENOSYS, permission::filter),
    explains(EPERM, permission::raw_tracepoint),
    explains(EPERM, tracepoint::forbidden),
    explains(EPERM, permission::kernel_breakpoint),
    explains(EPERM, permission::lockdown),
    explains(&[Errno::ENOSYS], attr::no_dumps),
    explains(EPERM_OR_ENOSYS, permission::possible_filter),
    // EINVAL
    explains(EINVAL, tracepoint::refused),
    explains(EINVAL, trials::group),
    explains(EINVAL, |c| trials::guilty(c, Cause::AttrField)),
    explains(EINVAL, trials::counts_only),
    explains(EINVAL, trials::needs_cpu),
    explains(EINVAL, tracepoint::not_found),
    // The others
    explains(&[Errno::ENOENT], missing::cgroup),
    explains(&[Errno::ENOENT], |c| Some(missing::pmu_or_event(c))),
    explains(ENODEV, trials::leader_is_gone),
    explains(&[Errno::ESRCH], target::no_thread),
    explains(EOPNOTSUPP, |c| trials::guilty(c, Cause::PmuFeature)),
    explains(EOPNOTSUPP, |c| pmu::lacks_feature(c, false).ok()?),
    explains(&[Errno::EMFILE], |c| Some(limit::process_files(c))),
    explains(&[Errno::ENFILE], |c| Some(limit::system_files(c))),
    explains(&[Errno::ENOMEM], |_| Some(limit::memory())),
    explains(&[Errno::ENOSPC], |c| Some(limit::breakpoint_slots(c))),
    explains(&[Errno::E2BIG], |c| Some(limit::too_big(c))),
    explains(&[Errno::EBUSY], |c| Some(pmu::busy(c))),
    explains(&[Errno::EBADF], target::bad_descriptor),
    possible(
        EINVAL,
        |c| c.has(AttrFlags::FREQ) && c.is_sampling(),
        "a frequency above kernel.perf_event_max_sample_rate, which the kernel lowers under load",
    ),
    // The leader's CPU exists, and a sibling must have the same.
    possible(
        EINVAL,
        |c| c.target.cpu_id().is_some() && !c.in_group,
        "no CPU has this number (/sys/devices/system/cpu/possible)",
    ),
    possible(
        EINVAL,
        |c| c.samples(SampleType::REGS_USER | SampleType::REGS_INTR),
        "a register that cannot be sampled on this architecture",
    ),
    possible(
        EINVAL,
        |c| c.has(AttrFlags::USE_CLOCKID) && attr::OTHER_CLOCKS.contains(&c.attr.clockid),
        "a clock for software events only: others take MONOTONIC and MONOTONIC_RAW",
    ),
    possible(
        EINVAL,
        |c| c.is(EventType::BREAKPOINT),
        "a breakpoint address not aligned to its length, or an unsupported length",
    ),
    possible(EINVAL, |c| c.precise() > 0 && !c.is_sampling(), "precise_ip on an event that does not sample"),
    possible(
        EINVAL,
        |c| c.is_of_cpu_pmu(),
        "an event or config bit that this CPU lacks, or a group larger than its counters",
    ),
    possible(
        EINVAL,
        |c| c.is_of_dynamic_pmu() && c.is_of_tasks(),
        "an uncore PMU, which counts on CPUs only",
    ),
    possible(
        EINVAL,
        |c| c.is_of_dynamic_pmu() && EXCLUDES.iter().any(|&flag| c.has(flag)),
        "an exclude flag on a PMU that cannot exclude anything",
    ),
    possible(
        EINVAL,
        |c| c.has(AttrFlags::INHERIT) && c.samples(SampleType::READ),
        "INHERIT with the sample field READ before Linux 6.12",
    ),
    possible(
        EINVAL,
        |c| c.has(AttrFlags::INHERIT) && c.attr.read_format.contains(ReadFormat::GROUP),
        "INHERIT with the read format GROUP before Linux 4.13",
    ),
    possible(
        EINVAL,
        |c| c.samples(SampleType::CGROUP),
        "the sample field CGROUP on a kernel without CONFIG_CGROUP_PERF",
    ),
    possible(
        EOPNOTSUPP,
        |c| c.samples(SampleType::REGS_USER | SampleType::REGS_INTR),
        "this PMU does not sample the extended registers",
    ),
    possible(EOPNOTSUPP, |c| c.is(EventType::BREAKPOINT), "the CPU has no breakpoints of this length"),
    possible(ENODEV, |c| c.in_group, "the PMU or the task of the group leader is gone"),
];

fn is_stack_size(bytes: u32) -> bool {
    bytes % 8 == 0 && bytes <= StackSize::MAX.bytes()
}

fn is_access(kind: BreakpointType) -> bool {
    [BreakpointType::EXECUTE, BreakpointType::READ, BreakpointType::WRITE, BreakpointType::READ_WRITE]
        .contains(&kind)
}

impl Rule {
    fn look(&self, case: &mut Case<'_>) -> Found {
        match self.look {
            Look::Broken(field, applies, text, remedy) => {
                Ok(applies(case).then(|| Diagnosis::new(Cause::Rule, text, remedy).on_attr(field, case.attr)))
            }
            Look::Check(look) => look(case),
            Look::Explain(look) => Ok(look(case)),
            Look::Possible(..) => Ok(None),
        }
    }
}

/// Returns the reasons why `perf_event_open` would refuse this attr and target, without the call,
/// in the order in which the kernel checks them. Empty if no rule is broken.
///
/// The rules come from every kernel, from the event's type, and from the files of `system`: the
/// maximum sample rate and callchain depth, the CPUs, and the PMU's `cpumask`, `cpus` and `caps`. A
/// file that cannot be read is in the list as [`Cause::Unchecked`]. `in_group` is set if the event
/// joins a group.
///
/// The kernel may still refuse an attr that breaks none of them: permissions, the PMU's own rules
/// and the features of older kernels are not checked here. See [`explain`](crate::explain()) and
/// [`AttrFallback`](crate::AttrFallback) for those.
///
/// ```
/// use perf_session::ring::{Attr, SampleType, Software, Target};
/// use perf_session::{System, check};
///
/// let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::REGS_USER);
/// for reason in check(&System::new(), &attr, Target::calling_thread(), false) {
///     println!("{reason:#}"); // REGS_USER without registers; set sample_regs_user
/// }
/// ```
pub fn check(system: &System, attr: &Attr, target: Target<'_>, in_group: bool) -> Vec<Diagnosis> {
    let mut case = Case::new(system, attr, target, in_group);
    let checked = RULES.iter().filter(|rule| matches!(rule.look, Look::Broken(..) | Look::Check(_)));
    let found = checked.map(|rule| (rule.errnos.first().copied(), rule.look(&mut case)));
    found.filter_map(|(errno, found)| certain(found, errno)).collect()
}

/// Returns what a rule found before the call: a diagnosis with the errno, or the file that could
/// not be read.
pub(super) fn certain(found: Found, errno: Option<Errno>) -> Option<Diagnosis> {
    match found {
        Ok(found) => found.map(|found| found.with_errno(errno)),
        Err(error) => {
            let text = "a rule was not checked, because a file of the system cannot be read";
            Some(Diagnosis::new(Cause::Unchecked, text, "see the evidence").with(Evidence::of_error(&error)))
        }
    }
}

/// Explains the errno of `perf_event_open` by the first rule that finds a reason.
pub(super) fn explain(mut case: Case<'_>, error: &Error) -> Diagnosis {
    let mut unread = Vec::new();
    let mut found = None;
    for rule in rules_of(case.errno) {
        match rule.look(&mut case) {
            Ok(diagnosis) => found = diagnosis,
            Err(error) => unread.push(error),
        }
        if found.is_some() {
            break;
        }
    }
    let diagnosis = found.unwrap_or_else(|| unknown(&case, error));
    // These files may hold the real cause, so report them in addition to the causes found after
    // them.
    let diagnosis = unread.iter().fold(diagnosis, |found, error| found.with(Evidence::of_error(error)));
    diagnosis.with_errno(case.errno)
}

fn rules_of(errno: Option<Errno>) -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(move |rule| errno.is_some_and(|errno| rule.errnos.contains(&errno)))
}

/// Returns the diagnosis of an errno that no rule explains: its possible causes.
fn unknown(case: &Case<'_>, error: &Error) -> Diagnosis {
    let possible = rules_of(case.errno).filter_map(|rule| match rule.look {
        Look::Possible(applies, text) => applies(case).then_some(text),
        _ => None,
    });
    let diagnosis = argument::unknown(error, possible);
    match case.errno {
        Some(Errno::EACCES | Errno::EPERM) => permission::with_settings(diagnosis, &case.privileges()),
        _ => diagnosis,
    }
}
