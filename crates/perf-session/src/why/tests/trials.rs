//! Diagnoses that open events: here by closures that stand for a kernel.

use super::*;

/// Explains an error of a kernel that opens what `opens` permits.
fn by(
    tree: &Tree,
    errno: Errno,
    attr: &Attr,
    in_group: bool,
    opens: impl Fn(Trial<'_>) -> bool,
) -> Diagnosis {
    let error = failed(errno);
    let open = FailedOpen::new(error, attr, Target::calling_thread());
    let open = if in_group { open.in_group() } else { open };
    open.explain_by_trial(tree.system(), |trial| if opens(trial) { Ok(()) } else { Err(failed(errno)) })
}

#[test]
fn guilty_bit_is_found_by_trying_without_it() {
    let flags = AttrFlags::BUILD_ID | AttrFlags::KSYMBOL | AttrFlags::MMAP2;
    let attr = CLOCK.with_flags(flags).with_sample_type(SampleType::CODE_PAGE_SIZE);
    for guilty in [AttrFlags::BUILD_ID, AttrFlags::KSYMBOL, AttrFlags::MMAP2] {
        let explanation =
            by(&tree(), Errno::EINVAL, &attr, false, |trial| !trial.attr.flags.contains(guilty));
        assert_is(&explanation, Cause::AttrField, &[&format!("does not accept flag {guilty}\n"), "accepted"]);
    }
    let field = |trial: Trial<'_>| trial.attr.sample_type.is_empty();
    let explanation = by(&tree(), Errno::EINVAL, &attr, false, field);
    assert_is(&explanation, Cause::AttrField, &["sample field CODE_PAGE_SIZE"]);
}

#[test]
fn bits_that_are_guilty_together_are_all_named() {
    let two = AttrFlags::BUILD_ID | AttrFlags::KSYMBOL;
    let attr = CLOCK.with_flags(two | AttrFlags::MMAP2);
    let explanation = by(&tree(), Errno::EINVAL, &attr, false, |trial| !trial.attr.flags.intersects(two));
    assert_is(&explanation, Cause::AttrField, &["flag BUILD_ID", "flag KSYMBOL"]);
    assert!(!explanation.text.contains("MMAP2"), "{explanation}");
}

#[test]
fn event_that_never_opens_has_an_unknown_cause() {
    let explanation = by(&tree(), Errno::EINVAL, &CYCLES.with_flags(AttrFlags::BUILD_ID), false, |_| false);
    assert_is(&explanation, Cause::Unknown, &["unknown"]);
}

#[test]
fn event_that_opens_alone_does_not_fit_the_group() {
    let alone = |trial: Trial<'_>| !trial.in_group;
    let words = ["more counters than the PMU has", "without the group: accepted"];
    assert_is(&by(&tree(), Errno::EINVAL, &CYCLES, true, alone), Cause::GroupSize, &words);
    assert_is(&by(&tree(), Errno::EINVAL, &CLOCK, true, alone), Cause::Leader, &["same target"]);
    assert_is(&by(&tree(), Errno::ENODEV, &CLOCK, true, alone), Cause::Leader, &["leader is gone"]);
}

#[test]
fn group_is_a_probable_cause_where_nothing_can_be_tried() {
    let (tree, error) = (tree(), failed(Errno::EINVAL));
    for (attr, cause) in [(CYCLES, Cause::GroupSize), (CLOCK, Cause::Leader)] {
        let open = FailedOpen::new(error, &attr, Target::calling_thread()).in_group();
        assert_is(&open.explain(tree.system()), cause, &["probably", "not tried"]);
    }
}

#[test]
fn security_module_forbids_the_simplest_event_too() {
    let tree = tree();
    status(&tree, u64::MAX, 0);
    tree.file("/proc/thread-self/attr/current", "unconfined\n");
    let words = ["SELinux", "EACCES too", "attr/current: unconfined", "CapEff"];
    assert_is(&by(&tree, Errno::EACCES, &CYCLES, false, |_| false), Cause::SecurityModule, &words);
    let opens = |trial: Trial<'_>| trial.attr.config == Software::DUMMY.0;
    let unknown = by(&tree, Errno::EACCES, &CYCLES.with_period(1), false, |trial| {
        trial.attr.kind == EventType::SOFTWARE && opens(trial)
    });
    assert_is(&unknown, Cause::Unknown, &["CapEff"]);
}

#[test]
fn guilty_bit_of_a_tracepoint_is_found_without_tracefs() {
    let attr = Attr::tracepoint(7).with_flags(AttrFlags::BUILD_ID);
    let explanation = by(&tree(), Errno::EINVAL, &attr, false, |trial| trial.attr.flags.is_empty());
    assert_is(&explanation, Cause::AttrField, &["BUILD_ID"]);
    assert_is(&by(&tree(), Errno::EINVAL, &attr, false, |_| false), Cause::Tracefs, &["not mounted"]);
}

#[test]
fn pmu_that_only_counts_opens_without_a_period() {
    let tree = tree();
    tree.pmu("msr", &[("type", "9\n")]);
    let attr = Attr::new(EventType(9), 0).with_period(1000);
    let explanation = by(&tree, Errno::EINVAL, &attr, false, |trial| trial.attr.sample_period == 0);
    assert_is(&explanation, Cause::PmuFeature, &["PMU msr cannot sample"]);
}

#[test]
fn pmu_without_a_cpumask_that_opens_on_a_cpu_needs_one() {
    let tree = tree();
    tree.pmu("power", &[("type", "9\n")]);
    let attr = Attr::new(EventType(9), 0);
    let explanation = by(&tree, Errno::EINVAL, &attr, false, |trial| trial.target.cpu_id() == Some(0));
    assert_is(&explanation, Cause::PmuNeedsCpu, &["PMU power", "on CPU 0: accepted"]);
}

#[test]
fn filter_fails_the_simplest_event_too() {
    let tree = tree();
    status(&tree, 0, 2);
    let tried = RefCell::new(Vec::new());
    let explanation = by(&tree, Errno::EPERM, &CYCLES, false, |trial| {
        tried.borrow_mut().push(trial.attr.config);
        false
    });
    assert_is(&explanation, Cause::Seccomp, &["forbids perf_event_open", "EPERM too"]);
    assert_eq!(*tried.borrow(), [Software::DUMMY.0]);
    // If the simplest event opens, the filter is not the cause.
    let raw = Attr::tracepoint(1).with_sample_type(SampleType::RAW);
    assert_is(&by(&tree, Errno::EPERM, &raw, false, |_| true), Cause::Paranoid, &["raw tracepoint data"]);
    assert!(!by(&tree, Errno::EPERM, &CYCLES, false, |_| true).is_known());
}

#[test]
fn guilty_part_of_the_pmu_is_found_for_eopnotsupp() {
    let attr = CYCLES.with_period(1).with_branch_sample_type(BranchSampleType::ANY);
    let attr = attr.with_precise_ip(perf_ring::Skid::ZERO);
    let explanation =
        by(&tree(), Errno::EOPNOTSUPP, &attr, false, |trial| trial.attr.flags.precise_ip().level() <= 1);
    assert_is(&explanation, Cause::PmuFeature, &["precise_ip 3"]);
}
