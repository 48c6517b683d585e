//! The rows of the table whose text is fixed.

use perf_ring::abi::AuxAction;
use perf_ring::{BreakpointLen, BreakpointType, Clock, ReadFormat, Skid, StackSize};

use super::*;

const DYNAMIC: Attr = Attr::new(EventType(30), 0).with_flags(AttrFlags::EXCLUDE_KERNEL);
const BREAKPOINT: Attr = Attr::breakpoint(BreakpointType::WRITE, 64, BreakpointLen::FOUR);

fn flags(flags: AttrFlags) -> Attr {
    CLOCK.with_flags(flags)
}

fn samples(fields: SampleType) -> Attr {
    CLOCK.with_sample_type(fields)
}

fn inherits(fields: SampleType) -> Attr {
    samples(fields).with_flags(AttrFlags::INHERIT)
}

fn clock(clockid: Clock) -> Attr {
    flags(AttrFlags::USE_CLOCKID).with(|attr| attr.clockid = clockid)
}

fn action(aux_action: AuxAction) -> Attr {
    CLOCK.with(|attr| attr.aux_action = aux_action)
}

fn stack(bytes: u32) -> Attr {
    samples(SampleType::STACK_USER).with(|attr| attr.sample_stack_user = bytes)
}

/// Returns the texts of the rules that an attr breaks on a machine whose files are all missing.
fn broken(attr: Attr, target: Target<'_>, in_group: bool) -> Vec<String> {
    let found = check(Tree::new().system(), &attr, target, in_group);
    found.iter().map(|found| found.text.clone()).collect()
}

#[test]
fn each_rule_of_every_kernel_is_found_alone() {
    let mut user_only = CYCLES;
    user_only.branch_sample_type = BranchSampleType::USER;
    let user_only = user_only.with_sample_type(SampleType::BRANCH_STACK);
    let sigtrap = flags(AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC);
    let mut aux = flags(AttrFlags::AUX_OUTPUT);
    aux.aux_sample_size = 8;
    let output = |action| flags(AttrFlags::AUX_OUTPUT).with(|attr| attr.aux_action = action);
    let rules = [
        (CLOCK.with(|attr| attr.reserved_2 = 1), me(), false, "reserved_2"),
        (user_only, me(), false, "BRANCH_STACK without"),
        (samples(SampleType::REGS_USER).with_frequency(1 << 40), me(), false, "REGS_USER without"),
        (samples(SampleType::REGS_INTR), me(), false, "REGS_INTR without"),
        (stack(4), me(), false, "multiple of 8"),
        (stack(65536), me(), false, "65528"),
        (samples(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT), me(), false, "WEIGHT_STRUCT"),
        (flags(AttrFlags::INHERIT_THREAD), me(), false, "needs INHERIT"),
        (flags(AttrFlags::REMOVE_ON_EXEC | AttrFlags::ENABLE_ON_EXEC), me(), false, "ENABLE_ON_EXEC"),
        (flags(AttrFlags::SIGTRAP), me(), false, "SIGTRAP needs REMOVE_ON_EXEC"),
        (CLOCK.with_period(1 << 63), me(), false, "2^63"),
        (inherits(SampleType::READ), me(), false, "needs TID"),
        (BREAKPOINT.with(|attr| attr.bp_type = BreakpointType::EMPTY), me(), false, "bp_type"),
        (clock(Clock(2)), me(), false, "clockid"),
        (action(AuxAction::PAUSE), me(), false, "as group leader"),
        (action(AuxAction::RESUME), me(), false, "as group leader"),
        (flags(AttrFlags::AUX_OUTPUT), me(), false, "as group leader"),
        (CLOCK.with(|attr| attr.aux_sample_size = 8), me(), false, "aux_sample_size needs"),
        (aux, me(), true, "AUX_OUTPUT and aux_sample_size exclude"),
        (output(AuxAction::PAUSE), me(), true, "AUX_OUTPUT excludes"),
        (output(AuxAction::RESUME), me(), true, "AUX_OUTPUT excludes"),
        (sigtrap, Target::cpu(0), false, "SIGTRAP needs a thread"),
        (flags(AttrFlags::PINNED), Target::cpu(0), true, "group leaders only"),
        (flags(AttrFlags::EXCLUSIVE), Target::cpu(0), true, "group leaders only"),
        (action(AuxAction::PAUSE | AuxAction::RESUME), Target::cpu(0), true, "PAUSE and RESUME exclude"),
    ];
    for (attr, target, in_group, word) in rules {
        let found = broken(attr, target, in_group);
        assert!(matches!(&found[..], [text] if text.contains(word)), "{word}: {found:?}");
    }
    let both = broken(samples(SampleType::REGS_USER).with(|attr| attr.reserved_2 = 1), me(), false);
    assert_eq!(both.len(), 2, "{both:?}");
}

#[test]
fn rules_that_are_met_are_not_found() {
    let kept = [
        samples(SampleType::REGS_USER).with_regs_user(1),
        samples(SampleType::REGS_INTR).with_regs_intr(1),
        stack(0),
        stack(65528),
        samples(SampleType::WEIGHT),
        inherits(SampleType::READ | SampleType::TID),
        samples(SampleType::READ),
        clock(Clock::TAI),
        CLOCK.with(|attr| attr.clockid = Clock(2)),
        BREAKPOINT,
        action(AuxAction::START_PAUSED),
        CLOCK.with(|attr| attr.bp_type = BreakpointType::EMPTY),
        flags(AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC),
        flags(AttrFlags::PINNED | AttrFlags::EXCLUSIVE),
        flags(AttrFlags::ENABLE_ON_EXEC),
        flags(AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD),
        CLOCK.with_period(u64::MAX >> 1),
        CLOCK.with_frequency(1 << 63),
        CYCLES.with_branch_sample_type(BranchSampleType::ANY),
        CLOCK.with_stack_user(StackSize::MAX),
    ];
    for attr in kept {
        assert_eq!(broken(attr, me(), false), [""; 0], "{attr:?}");
    }
}

/// Returns the text of an errno that nothing else explains.
fn unknown(errno: Errno, attr: Attr, target: Target<'_>, in_group: bool) -> String {
    let (tree, error) = (Tree::new(), failed(errno));
    let open = FailedOpen::new(error, &attr, target);
    let open = if in_group { open.in_group() } else { open };
    let found = open.explain_by_trial(tree.system(), |_| Err(failed(errno)));
    if found.is_known() { String::new() } else { found.text.clone() }
}

#[test]
fn possible_causes_follow_from_attr_target_and_group() {
    let precise = CYCLES.with_precise_ip(Skid::ZERO);
    let grouped = inherits(SampleType::empty()).with_read_format(ReadFormat::GROUP);
    let expected = [
        (Errno::EINVAL, CLOCK.with_frequency(200_000), "perf_event_max_sample_rate, which"),
        (Errno::EINVAL, samples(SampleType::REGS_USER).with_regs_user(1), "a register"),
        (Errno::EINVAL, clock(Clock::REALTIME), "software events only"),
        (Errno::EINVAL, BREAKPOINT, "not aligned"),
        (Errno::EINVAL, precise, "precise_ip on an event that does not sample"),
        (Errno::EINVAL, CYCLES, "config bit"),
        (Errno::EINVAL, DYNAMIC, "an uncore PMU"),
        (Errno::EINVAL, DYNAMIC, "an exclude flag"),
        (Errno::EINVAL, inherits(SampleType::READ | SampleType::TID), "before Linux 6.12"),
        (Errno::EINVAL, grouped, "before Linux 4.13"),
        (Errno::EINVAL, samples(SampleType::CGROUP), "CONFIG_CGROUP_PERF"),
        (Errno::EOPNOTSUPP, CLOCK.with_regs_intr(1), "extended registers"),
        (Errno::EOPNOTSUPP, BREAKPOINT, "of this length"),
    ];
    for (errno, attr, word) in expected {
        let found = unknown(errno, attr, me(), false);
        assert!(found.contains(word), "{errno:?} {word}: {found}");
        let other = unknown(errno, Attr::tracepoint(1), me(), false);
        assert!(!other.contains(word), "{errno:?} {word}: {other}");
    }
    let text = unknown(Errno::EINVAL, CLOCK, Target::cpu(0), false);
    assert!(
        text.starts_with("unknown: perf_event_open: Invalid argument (os error 22): no CPU has"),
        "{text}"
    );
    assert!(text.contains("possible); or fields that contradict"), "the usual cause is the last: {text}");
    assert!(!unknown(Errno::EINVAL, CLOCK, Target::cpu(0), true).contains("no CPU has"));
    assert!(!unknown(Errno::EINVAL, DYNAMIC, Target::cpu(0), false).contains("an uncore PMU"));
    let leader = "leader is gone";
    assert!(unknown(Errno::ENODEV, CLOCK, me(), true).contains(leader));
    assert!(!unknown(Errno::ENODEV, CLOCK, me(), false).contains(leader));
    let dir = std::io::stdin();
    assert!(unknown(Errno::EINVAL, DYNAMIC, Target::cgroup(&dir, 0), false).contains("an uncore PMU"));
}

#[test]
fn causes_with_two_conditions_need_both() {
    let precise = CYCLES.with_precise_ip(Skid::ZERO);
    let absent = [
        (CLOCK.with_period(1), "perf_event_max_sample_rate, which"),
        (CLOCK.with_frequency(0), "perf_event_max_sample_rate, which"),
        (precise.with_period(1), "precise_ip on"),
        (CYCLES, "precise_ip on"),
        (inherits(SampleType::TID), "6.12"),
        (samples(SampleType::READ), "6.12"),
        (inherits(SampleType::TID), "4.13"),
        (CLOCK.with_read_format(ReadFormat::GROUP), "4.13"),
        (BREAKPOINT, "an exclude flag"),
        (DYNAMIC.with(|attr| attr.flags = AttrFlags::empty()), "an exclude flag"),
        (CLOCK.with(|attr| attr.clockid = Clock::TAI), "software events only"),
    ];
    for (attr, word) in absent {
        let found = unknown(Errno::EINVAL, attr, me(), false);
        assert!(!found.contains(word), "{word}: {found}");
    }
}

#[test]
fn diagnosis_has_the_errno_and_the_files_that_were_not_read() {
    let (tree, error) = (Tree::new(), failed(Errno::EINVAL));
    tree.file("/sys/devices/system/cpu/possible", b"\xff\xff");
    let found = FailedOpen::new(error, &CLOCK, Target::cpu(0)).explain(tree.system());
    assert_eq!((found.errno, found.cause), (Some(Errno::EINVAL), Cause::Unknown));
    assert!(found.evidence[0].source.ends_with("cpu/possible"), "{found}");
}

#[test]
fn reasons_that_a_trial_excludes_are_not_given() {
    let (tree, dir) = (tree(), std::io::stdin());
    // The group is not the reason for an event that fails without it too.
    assert!(unknown(Errno::EINVAL, CLOCK, me(), true).starts_with("unknown"));
    let error = failed(Errno::EBADF);
    let member = FailedOpen::new(error, &CLOCK, Target::cgroup(&dir, 0)).in_group();
    let found = member.explain_by_trial(tree.system(), |_| Err(failed(Errno::EBADF)));
    assert_is(&found, Cause::Cgroup, &["not the directory of a cgroup"]);
}

#[test]
fn files_of_a_pmu_decide_as_far_as_they_are_there() {
    let tree = tree();
    tree.pmu("cpu", &[("type", "4\n")]);
    tree.pmu("uncore_imc", &[("type", "13\n"), ("cpumask", "0\n")]);
    let precise = CYCLES.with_period(1).with_precise_ip(Skid::ZERO);
    assert_eq!(check(tree.system(), &precise, me(), false), [], "without caps/max_precise");
    // The kernel moves an uncore event to a CPU of the mask, unless it says otherwise.
    let uncore = Attr::new(EventType(13), 1);
    assert_eq!(check(tree.system(), &uncore, Target::cpu(1), false), []);
    let found = explain(tree.system(), failed(Errno::ENODEV), &uncore, Target::cpu(1));
    assert_is(&found, Cause::PmuNotOnCpu, &["uncore_imc is not on CPU 1", "CPUs 0"]);
    assert_eq!(found.errno, Some(Errno::ENODEV));
}
