use std::os::fd::AsFd;

use perf_abi::{
    Attr, AttrFlags, AuxAction, BranchSampleType, BreakpointLen, BreakpointType, Clock, EventType, Hardware,
    OpenFlags, ReadFormat, SampleType, Skid, Software,
};

use super::*;
use crate::Target;

const CLOCK: Attr = Attr::software(Software::CPU_CLOCK).with_flags(AttrFlags::EXCLUDE_KERNEL);
const CYCLES: Attr = Attr::hardware(Hardware::CPU_CYCLES).with_flags(AttrFlags::EXCLUDE_KERNEL);
const TRACEPOINT: Attr = Attr::tracepoint(1).with_flags(AttrFlags::EXCLUDE_KERNEL);
const DYNAMIC: Attr = Attr::new(EventType(30), 0).with_flags(AttrFlags::EXCLUDE_KERNEL);
const BREAKPOINT: Attr =
    Attr::breakpoint(BreakpointType::WRITE, 64, BreakpointLen::FOUR).with_flags(AttrFlags::EXCLUDE_KERNEL);

fn opening<'a>(attr: &'a Attr, target: Target<'a>, is_sibling: bool) -> Opening<'a> {
    Opening { attr, target, is_sibling, flags: OpenFlags::empty() }
}

fn causes(attr: Attr, errno: Errno) -> Vec<&'static str> {
    Causes::new(&opening(&attr, Target::calling_thread(), false), errno).iter().collect()
}

fn flags(flags: AttrFlags) -> Attr {
    CLOCK.with_flags(AttrFlags::EXCLUDE_KERNEL | flags)
}

fn samples(fields: SampleType) -> Attr {
    CLOCK.with_sample_type(fields)
}

fn inherits(fields: SampleType) -> Attr {
    samples(fields).with_flags(AttrFlags::INHERIT)
}

fn clock(clockid: Clock) -> Attr {
    Attr { clockid, ..flags(AttrFlags::USE_CLOCKID) }
}

fn action(aux_action: AuxAction) -> Attr {
    Attr { aux_action, ..CLOCK }
}

fn stack(bytes: u32) -> Attr {
    Attr { sample_stack_user: bytes, ..samples(SampleType::STACK_USER) }
}

#[test]
fn a_broken_rule_is_the_only_cause() {
    let user_only = Attr { branch_sample_type: BranchSampleType::USER, ..samples(SampleType::BRANCH_STACK) };
    let broken = [
        (Attr { reserved_2: 1, ..CLOCK }, "reserved_2"),
        (user_only, "BRANCH_STACK without"),
        (samples(SampleType::REGS_USER).with_frequency(1 << 40), "REGS_USER without"),
        (samples(SampleType::REGS_INTR), "REGS_INTR without"),
        (stack(4), "multiple of 8"),
        (stack(65536), "65528"),
        (samples(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT), "WEIGHT_STRUCT"),
        (flags(AttrFlags::INHERIT_THREAD), "needs INHERIT"),
        (flags(AttrFlags::REMOVE_ON_EXEC | AttrFlags::ENABLE_ON_EXEC), "ENABLE_ON_EXEC"),
        (flags(AttrFlags::SIGTRAP), "SIGTRAP needs REMOVE_ON_EXEC"),
        (CLOCK.with_period(1 << 63), "2^63"),
        (inherits(SampleType::READ), "SampleType::TID"),
        (Attr { bp_type: BreakpointType::EMPTY, ..BREAKPOINT }, "bp_type"),
        (clock(Clock(2)), "clockid"),
        (action(AuxAction::PAUSE), "as group leader"),
        (flags(AttrFlags::AUX_OUTPUT), "as group leader"),
        (Attr { aux_sample_size: 8, ..CLOCK }, "aux_sample_size needs"),
    ];
    for (attr, word) in broken {
        let found = causes(attr, Errno::EINVAL);
        assert!(matches!(found[..], [text] if text.contains(word)), "{word}: {found:?}");
    }
}

#[test]
fn debug_prints_the_list_of_causes() {
    let attr = samples(SampleType::REGS_USER);
    let error = crate::Error::Open {
        errno: Errno::EINVAL,
        causes: Causes::new(&opening(&attr, Target::calling_thread(), false), Errno::EINVAL),
    };
    let crate::Error::Open { causes, .. } = error else { panic!("{error}") };
    let text = format!("{causes:?}");
    assert!(text.starts_with("[\"REGS_USER without registers"), "{text}");
    let unknown = Causes::new(&opening(&CLOCK, Target::calling_thread(), false), Errno::EIO);
    assert_eq!(format!("{unknown:?}"), "[]");
}

#[test]
fn two_broken_rules_are_both_named() {
    let both = causes(Attr { reserved_2: 1, ..samples(SampleType::REGS_USER) }, Errno::EINVAL);
    assert_eq!(both.len(), 2, "{both:?}");
    let aux = Attr { aux_sample_size: 8, ..flags(AttrFlags::AUX_OUTPUT) };
    let sibling = Causes::new(&opening(&aux, Target::calling_thread(), true), Errno::EINVAL);
    assert_eq!(sibling.to_string(), "AUX_OUTPUT and aux_sample_size exclude each other");
}

#[test]
fn rules_of_groups_and_targets_are_checked() {
    let sigtrap = flags(AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC);
    let pinned = flags(AttrFlags::PINNED);
    let exclusive = action(AuxAction::PAUSE | AuxAction::RESUME);
    let broken = [
        (opening(&sigtrap, Target::cpu(0), false), "SIGTRAP needs a thread"),
        (opening(&pinned, Target::cpu(0), true), "group leaders only"),
        (opening(&exclusive, Target::cpu(0), true), "PAUSE and RESUME exclude"),
    ];
    for (opening, word) in broken {
        let found = Causes::new(&opening, Errno::EINVAL).to_string();
        assert!(found.contains(word) && !found.contains("; or "), "{word}: {found}");
    }
}

#[test]
fn rules_that_are_met_are_not_causes() {
    let kept = [
        samples(SampleType::REGS_USER).with_regs_user(1),
        stack(0),
        stack(65528),
        inherits(SampleType::READ | SampleType::TID),
        clock(Clock::TAI),
        BREAKPOINT,
        flags(AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC),
        CLOCK.with_period(u64::MAX >> 1),
        CLOCK.with_frequency(1 << 63),
        Attr { branch_sample_type: BranchSampleType::ANY, ..samples(SampleType::BRANCH_STACK) },
    ];
    for attr in kept {
        assert_eq!(Causes::new(&opening(&attr, Target::calling_thread(), false), Errno::EINVAL).broken, 0);
    }
}

#[test]
fn possible_causes_follow_from_the_attr() {
    let frequency = CLOCK.with_frequency(200_000);
    let precise = Attr { flags: CYCLES.flags.with_precise_ip(Skid::ZERO), ..CYCLES };
    let grouped = inherits(SampleType::empty()).with_read_format(ReadFormat::GROUP);
    let expected = [
        (Errno::EINVAL, frequency, "perf_event_max_sample_rate"),
        (Errno::EINVAL, samples(SampleType::REGS_USER).with_regs_user(1), "register"),
        (Errno::EINVAL, clock(Clock::REALTIME), "MONOTONIC_RAW"),
        (Errno::EINVAL, TRACEPOINT, "no tracepoint"),
        (Errno::EINVAL, BREAKPOINT, "not aligned"),
        (Errno::EINVAL, precise, "precise_ip"),
        (Errno::EINVAL, CYCLES, "config bit"),
        (Errno::EINVAL, DYNAMIC, "Target::cpu"),
        (Errno::EINVAL, DYNAMIC, "exclude flag"),
        (Errno::EINVAL, inherits(SampleType::READ | SampleType::TID), "6.12"),
        (Errno::EINVAL, grouped, "4.13"),
        (Errno::EINVAL, samples(SampleType::CGROUP), "CONFIG_CGROUP_PERF"),
        (Errno::EACCES, Attr::software(Software::CPU_CLOCK), "set EXCLUDE_KERNEL"),
        (Errno::EACCES, samples(SampleType::PHYS_ADDR), "physical addresses"),
        (Errno::EACCES, Attr { branch_sample_type: BranchSampleType::HV, ..CLOCK }, "branches"),
        (Errno::EACCES, flags(AttrFlags::NAMESPACES), "NAMESPACES"),
        (Errno::EACCES, flags(AttrFlags::TEXT_POKE), "TEXT_POKE"),
        (Errno::EACCES, samples(SampleType::CALLCHAIN), "EXCLUDE_CALLCHAIN_KERNEL"),
        (Errno::EACCES, DYNAMIC, "uprobe"),
        (Errno::EPERM, TRACEPOINT, "raw tracepoint data"),
        (Errno::EPERM, BREAKPOINT, "kernel address"),
        (Errno::EPERM, samples(SampleType::REGS_INTR), "lockdown"),
        (Errno::ENOENT, CYCLES, "virtual machines"),
        (Errno::ENOENT, CLOCK, "software event"),
        (Errno::ENOENT, TRACEPOINT, "without tracepoints"),
        (Errno::ENOENT, DYNAMIC, "probed file"),
        (Errno::EOPNOTSUPP, samples(SampleType::BRANCH_STACK), "branches"),
        (Errno::EOPNOTSUPP, precise, "lower level"),
        (Errno::EOPNOTSUPP, CYCLES.with_period(1), "only count"),
        (Errno::EOPNOTSUPP, action(AuxAction::START_PAUSED), "pause and resume"),
        (Errno::EOPNOTSUPP, samples(SampleType::REGS_INTR), "extended registers"),
        (Errno::EOPNOTSUPP, BREAKPOINT, "of this length"),
        (Errno::E2BIG, DYNAMIC, "path or symbol"),
        (Errno::ENOSYS, stack(8), "this architecture"),
    ];
    for (errno, attr, word) in expected {
        let with = causes(attr, errno);
        let without = causes(if attr == CLOCK { CYCLES } else { CLOCK }, errno);
        assert!(with.iter().any(|text| text.contains(word)), "{errno:?} {word}: {with:?}");
        let other = |text: &&str| !text.contains(word) || with.last() == Some(text);
        assert!(without.iter().all(other), "{errno:?} {word}: {without:?}");
    }
}

#[test]
fn causes_with_two_conditions_need_both() {
    let precise = Attr { flags: CYCLES.flags.with_precise_ip(Skid::ZERO), ..CYCLES };
    let absent = [
        (Errno::EINVAL, CLOCK.with_period(1), "perf_event_max_sample_rate"),
        (Errno::EINVAL, CLOCK.with_frequency(0), "perf_event_max_sample_rate"),
        (Errno::EINVAL, precise.with_period(1), "precise_ip"),
        (Errno::EINVAL, CYCLES, "precise_ip"),
        (Errno::EINVAL, inherits(SampleType::TID), "6.12"),
        (Errno::EINVAL, samples(SampleType::READ), "6.12"),
        (Errno::EINVAL, inherits(SampleType::TID), "4.13"),
        (Errno::EINVAL, CLOCK.with_read_format(ReadFormat::GROUP), "4.13"),
        (Errno::EINVAL, BREAKPOINT, "exclude flag"),
        (Errno::EACCES, BREAKPOINT, "uprobe"),
        (Errno::EOPNOTSUPP, action(AuxAction::PAUSE), "AUX_OUTPUT excludes"),
        (Errno::EOPNOTSUPP, flags(AttrFlags::AUX_OUTPUT), "AUX_OUTPUT excludes"),
    ];
    for (errno, attr, word) in absent {
        let found = causes(attr, errno);
        assert!(!found.iter().any(|text| text.contains(word)), "{errno:?} {word}: {found:?}");
    }
}

#[test]
fn each_of_several_fields_is_a_cause() {
    for action in [AuxAction::PAUSE, AuxAction::RESUME] {
        let found = causes(Attr { aux_action: action, ..flags(AttrFlags::AUX_OUTPUT) }, Errno::EOPNOTSUPP);
        assert!(found.contains(&"AUX_OUTPUT excludes AuxAction::PAUSE and RESUME"), "{found:?}");
    }
    for field in [SampleType::REGS_USER, SampleType::REGS_INTR, SampleType::STACK_USER] {
        let found = causes(samples(field), Errno::ENOSYS);
        assert!(found.iter().any(|text| text.contains("this architecture")), "{field:?}: {found:?}");
    }
}

#[test]
fn possible_causes_follow_from_target_and_group() {
    let dir = std::io::stdin();
    let cgroup = Target::cgroup(dir.as_fd(), 0);
    let expected = [
        (Errno::EINVAL, Target::cpu(4096), false, "no CPU has this number"),
        (Errno::EINVAL, Target::cpu(0), true, "a sibling itself"),
        (Errno::ENOENT, cgroup, false, "the cgroup was removed"),
        (Errno::EINVAL, Target::calling_thread(), true, "a sibling itself"),
        (Errno::EACCES, cgroup, false, "all tasks"),
        (Errno::EACCES, Target::thread(1), false, "another user's task"),
        (Errno::ENODEV, Target::cpu(1), false, "offline"),
        (Errno::ENODEV, Target::calling_thread(), true, "group leader is gone"),
        (Errno::EBADF, cgroup, false, "directory of a cgroup"),
        (Errno::EBADF, Target::calling_thread(), true, "group leader's descriptor"),
    ];
    for (errno, target, is_sibling, word) in expected {
        let with = Causes::new(&opening(&CLOCK, target, is_sibling), errno).to_string();
        let without = Causes::new(&opening(&CLOCK, Target::calling_thread(), false), errno).to_string();
        assert!(with.contains(word) && !without.contains(word), "{word}: {with} / {without}");
    }
}

#[test]
fn every_table_fits_into_its_mask() {
    assert!(invalid::BROKEN.len() <= 32);
    assert!(POSSIBLE.iter().all(|(_, rules)| rules.len() <= 32));
}
