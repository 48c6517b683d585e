//! Rules that are checked before the open.

use perf_ring::abi::AuxAction;
use perf_ring::{BreakpointLen, BreakpointType, Clock, Skid, StackSize};

use super::*;

const CLOCK: Attr = Attr::software(Software::CPU_CLOCK);
const CYCLES: Attr = Attr::hardware(Hardware::CPU_CYCLES);

/// A hybrid machine with an uncore PMU and CPUs 0 to 3 and 8. CPU 3 is offline.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.file("/proc/sys/kernel/perf_event_max_sample_rate", "25000\n");
    tree.file("/proc/sys/kernel/perf_event_max_stack", "127\n");
    tree.file("/sys/devices/system/cpu/possible", "0-3,8\n");
    tree.file("/sys/devices/system/cpu/online", "0-2,8\n");
    tree.pmu("cpu_core", &[("type", "4\n"), ("cpus", "0-1\n"), ("caps/max_precise", "2\n")]);
    tree.pmu("cpu_atom", &[("type", "10\n"), ("cpus", "2-3\n"), ("caps/max_precise", "0\n")]);
    tree.pmu("uncore_imc", &[("type", "13\n"), ("cpumask", "0,8\n")]);
    tree
}

fn texts(attr: &Attr, target: Target<'_>) -> Vec<String> {
    check(tree().system(), attr, target, false).iter().map(Diagnosis::line).collect()
}

/// Asserts that the attr breaks one rule, by this field and errno, and returns the text.
#[track_caller]
fn breaks(attr: &Attr, target: Target<'_>, field: Field, errno: Errno) -> String {
    let checked = check(tree().system(), attr, target, false);
    let found: Vec<_> = checked.iter().map(|found| (found.field, found.errno)).collect();
    assert_eq!(found, [(Some(field), Some(errno))], "{checked:?}");
    checked[0].to_string()
}

#[test]
fn accepted_attrs_break_no_rule() {
    let precise = CYCLES.with_period(1000).with_precise_ip(Skid::REQUESTED_ZERO);
    let attrs = [
        CLOCK.with_frequency(25_000),
        CLOCK.with_sample_type(SampleType::CALLCHAIN).with_max_stack(127),
        CLOCK.with_clock(Clock::REALTIME),
        CLOCK.with_stack_user(StackSize::MAX),
        precise,
        CYCLES.with_clock(Clock::MONOTONIC_RAW),
        Attr::new(EventType(10), 0x3c),
        Attr::new(EventType::HARDWARE, 9),
        Attr::breakpoint(BreakpointType::WRITE, 0x1000, BreakpointLen(4)),
        Attr::breakpoint_execute(0x1001),
        Attr::tracepoint(1),
        Attr::new(EventType(99), 1),
    ];
    for attr in attrs {
        assert_eq!(texts(&attr, me()), [""; 0], "{attr:?}");
        assert_eq!(texts(&attr, Target::cpu(2)), [""; 0], "{attr:?}");
    }
    assert_eq!(texts(&Attr::new(EventType(13), 1), Target::cpu(0)), [""; 0]);
    assert!(check(tree().system(), &CLOCK, me(), false).is_empty());
}

#[test]
fn rules_of_every_kernel_come_with_field_and_value() {
    let attr = CLOCK.with_sample_type(SampleType::REGS_USER);
    let text = breaks(&attr, me(), Field::SAMPLE_REGS_USER, Errno::EINVAL);
    let expected = "cause     REGS_USER without registers\nevidence  attr.sample_regs_user: 0x0\n\
                    remedy    set sample_regs_user";
    assert_eq!(text, expected);
    let attr = CLOCK.with_flags(AttrFlags::SIGTRAP);
    let text = breaks(&attr, me(), Field::FLAGS, Errno::EINVAL);
    assert!(text.contains("SIGTRAP needs REMOVE_ON_EXEC") && text.contains("attr.flags: SIGTRAP"), "{text}");
    let checked = check(tree().system(), &CLOCK.with_flags(AttrFlags::PINNED), me(), true);
    assert_eq!(checked[0].field, Some(Field::FLAGS));
}

#[test]
fn every_field_of_a_rule_has_a_value() {
    let mut broken = CLOCK;
    broken.reserved_2 = 1;
    broken.bp_type = BreakpointType(7);
    broken.kind = EventType::BREAKPOINT;
    broken.sample_period = 1 << 63;
    broken.sample_stack_user = 7;
    broken.sample_regs_intr = 0;
    broken.aux_sample_size = 1;
    broken.aux_action = AuxAction::PAUSE | AuxAction::RESUME;
    broken.sample_type = SampleType::KNOWN;
    let broken = broken
        .with_clock(Clock(2))
        .with_flags(AttrFlags::SIGTRAP | AttrFlags::AUX_OUTPUT | AttrFlags::INHERIT_THREAD);
    let checked = check(tree().system(), &broken, Target::cpu(0), false);
    assert!(checked.len() > 10, "{checked:?}");
    for found in &checked {
        assert!(found.evidence.iter().all(|evidence| !evidence.value.is_empty()), "{found}");
        assert!(!found.text.is_empty() && !found.remedy.is_empty(), "{found}");
    }
}

#[test]
fn frequency_above_the_maximum_names_both() {
    let text = breaks(&CLOCK.with_frequency(25_001), me(), Field::SAMPLE_FREQ, Errno::EINVAL);
    assert!(text.contains("25001 Hz") && text.contains("at most 25000 Hz"), "{text}");
    assert!(texts(&CLOCK.with_period(25_001), me()).is_empty(), "a period");
}

#[test]
fn callchain_above_the_maximum_names_both() {
    let attr = CLOCK.with_max_stack(128);
    assert!(texts(&attr, me()).is_empty(), "checked with CALLCHAIN only");
    let text = breaks(
        &attr.with_sample_type(SampleType::CALLCHAIN),
        me(),
        Field::SAMPLE_MAX_STACK,
        Errno::EOVERFLOW,
    );
    assert!(text.contains("128") && text.contains("max_stack: 127"), "{text}");
}

#[test]
fn cpus_that_do_not_exist_or_are_offline_differ() {
    let text = breaks(&CLOCK, Target::cpu(4), Field::CPU, Errno::EINVAL);
    assert!(text.contains("0-3,8"), "{text}");
    breaks(&CLOCK, me().on_cpu(9), Field::CPU, Errno::EINVAL);
    let text = breaks(&CLOCK, Target::cpu(3), Field::CPU, Errno::ENODEV);
    assert!(text.contains("0-2,8"), "{text}");
    assert!(texts(&CLOCK, me().on_cpu(3)).is_empty(), "a thread's event on an offline CPU opens");
}

#[test]
fn uncore_pmu_needs_a_cpu() {
    let attr = Attr::new(EventType(13), 1);
    let text = breaks(&attr, me(), Field::TARGET, Errno::EINVAL);
    assert!(text.contains("uncore_imc") && text.contains("CPUs 0,8"), "{text}");
}

#[test]
fn core_pmu_of_a_hybrid_machine_is_on_its_cpus() {
    let attr = Attr::new(EventType(10), 0x3c);
    let text = breaks(&attr, Target::cpu(1), Field::CPU, Errno::ENODEV);
    assert!(text.contains("cpu_atom is not on CPU 1"), "{text}");
}

#[test]
fn precise_ip_above_the_pmus_is_refused() {
    let attr = CYCLES.with_period(1000).with_precise_ip(Skid::ZERO);
    let text = breaks(&attr, me(), Field::FLAGS, Errno::EOPNOTSUPP);
    assert!(text.contains("cpu_core") && text.contains("at most 2"), "{text}");
    let atom = attr.with_hybrid_pmu(10).with_precise_ip(Skid::CONSTANT);
    assert!(breaks(&atom, me(), Field::FLAGS, Errno::EOPNOTSUPP).contains("cpu_atom"));
    assert!(texts(&CLOCK.with_period(1).with_precise_ip(Skid::ZERO), me()).is_empty(), "ignored");
}

#[test]
fn rules_of_the_type_are_checked() {
    let branches = CLOCK.with_branch_sample_type(BranchSampleType::ANY);
    breaks(&branches, me(), Field::SAMPLE_TYPE, Errno::EOPNOTSUPP);
    breaks(&Attr::new(EventType::HARDWARE, 10), me(), Field::CONFIG, Errno::EINVAL);
    assert!(texts(&CYCLES.with_hybrid_pmu(10), me()).is_empty(), "the upper half is the PMU");
    for config in [7, 3 << 8, 2 << 16, 1 << 24] {
        breaks(&Attr::new(EventType::HW_CACHE, config), me(), Field::CONFIG, Errno::EINVAL);
    }
    assert!(texts(&Attr::new(EventType::HW_CACHE, 6 | 2 << 8 | 1 << 16), me()).is_empty());
    breaks(&CYCLES.with_clock(Clock::TAI), me(), Field::CLOCKID, Errno::EINVAL);
    let unknown = CLOCK.with_flags(AttrFlags::all() - AttrFlags::KNOWN);
    breaks(&unknown, me(), Field::FLAGS, Errno::EINVAL);
}

#[test]
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn breakpoints_of_x86_are_aligned_powers_of_two() {
    let watch = |kind, addr, len| Attr::breakpoint(kind, addr, BreakpointLen(len));
    breaks(&watch(BreakpointType::WRITE, 0x1000, 3), me(), Field::BP_LEN, Errno::EINVAL);
    breaks(&watch(BreakpointType::WRITE, 0x1000, 0), me(), Field::BP_LEN, Errno::EINVAL);
    breaks(&watch(BreakpointType::EXECUTE, 0x1000, 1), me(), Field::BP_LEN, Errno::EINVAL);
    breaks(&watch(BreakpointType::WRITE, 0x1002, 4), me(), Field::BP_ADDR, Errno::EINVAL);
    breaks(&watch(BreakpointType::READ, 0x1000, 4), me(), Field::BP_TYPE, Errno::EINVAL);
}

#[test]
fn files_that_cannot_be_read_are_listed_as_unchecked() {
    let tree = tree();
    tree.file("/proc/sys/kernel/perf_event_max_sample_rate", "many\n");
    tree.file("/sys/devices/system/cpu/possible", b"\xff\xff");
    tree.pmu("cpu_atom", &[("type", "\n")]);
    let mut attr = CLOCK.with_frequency(1);
    attr.kind = EventType(10);
    let checked = check(tree.system(), &attr, Target::cpu(0), false);
    assert!(
        checked.iter().all(|found| (found.cause, found.errno) == (Cause::Unchecked, None)),
        "{checked:?}"
    );
    let paths: Vec<_> = checked.iter().map(|found| &found.evidence[0].source).collect();
    for name in ["max_sample_rate", "possible", "cpu_atom/type"] {
        assert!(paths.iter().any(|path| path.ends_with(name)), "{name}: {paths:?}");
    }
}

#[test]
fn rules_of_missing_files_do_not_apply() {
    let tree = Tree::new();
    let attr = CLOCK.with_frequency(1 << 40).with_sample_type(SampleType::CALLCHAIN).with_max_stack(9999);
    let checked = check(tree.system(), &attr, Target::cpu(7), false);
    assert!(checked.is_empty(), "{checked:?}");
}
