//! `EACCES`, `EPERM`, `ENOSYS`.

use super::*;

const PERFMON: u64 = 1 << 38;
const SYS_ADMIN: u64 = 1 << 21;

fn at_level(level: i32) -> Tree {
    let tree = tree();
    tree.file("/proc/sys/kernel/perf_event_paranoid", format!("{level}\n"));
    tree
}

#[test]
fn kernel_side_needs_level_1() {
    let kernel = Attr::software(Software::CPU_CLOCK);
    let explanation = of(&at_level(2), Errno::EACCES, &kernel);
    let words = [
        "at most 1, not 2",
        "CapEff",
        "0x0",
        "exclude the kernel (`:u`",
        "perf_event_paranoid=1",
        "CAP_PERFMON",
    ];
    assert_is(&explanation, Cause::Paranoid, &words);
    assert_eq!(explanation.evidence[0].source, Privileges::PARANOID);
    assert_eq!(explanation.evidence[0].value, "2");
    // At level 1 the kernel side is permitted, so the cause is different.
    assert_eq!(of(&at_level(1), Errno::EACCES, &kernel).cause, Cause::Unknown);
}

#[test]
fn all_tasks_of_a_cpu_need_level_0() {
    let dir = std::io::stdin();
    for target in [Target::cpu(0), Target::cgroup(&dir, 0)] {
        for level in [1, 2] {
            let explanation = at(&at_level(level), Errno::EACCES, &CLOCK, target);
            assert_is(
                &explanation,
                Cause::Paranoid,
                &["tasks of all users", "at most 0", "perf_event_paranoid=0"],
            );
        }
        let explanation = at(&at_level(0), Errno::EACCES, &CLOCK, target);
        assert!(!explanation.is_known(), "{explanation}");
    }
}

#[test]
fn several_needs_are_one_cause_with_the_lowest_level() {
    let kernel = Attr::software(Software::CPU_CLOCK);
    let explanation = at(&at_level(2), Errno::EACCES, &kernel, Target::cpu(0));
    let words =
        ["events in the kernel and the tasks of all users", "perf_event_paranoid=0", "your own tasks"];
    assert_is(&explanation, Cause::Paranoid, &words);
    let explanation = at(&at_level(1), Errno::EACCES, &kernel, Target::cpu(0));
    assert!(!explanation.text.contains("in the kernel"), "permitted at level 1: {explanation}");
}

#[test]
fn fields_and_flags_have_their_needs() {
    let branches = CYCLES.with_branch_sample_type(BranchSampleType::ANY | BranchSampleType::KERNEL);
    let needs = [
        (CLOCK.with_sample_type(SampleType::PHYS_ADDR), "physical addresses"),
        (branches, "branches of the kernel"),
        (CLOCK.with_flags(AttrFlags::TEXT_POKE), "TEXT_POKE"),
        (CLOCK.with_sample_type(SampleType::CALLCHAIN), "callchains of the kernel"),
    ];
    for (attr, word) in needs {
        assert_of(&at_level(2), Errno::EACCES, &attr, Cause::Paranoid, &[word, "at most 1"]);
    }
    let namespaces = CLOCK.with_flags(AttrFlags::NAMESPACES);
    assert_of(&at_level(-1), Errno::EACCES, &namespaces, Cause::Capability, &["NAMESPACES", "CAP_PERFMON"]);
}

#[test]
fn level_3_forbids_all_events() {
    let explanation = of(&at_level(3), Errno::EACCES, &CLOCK);
    assert_is(&explanation, Cause::Paranoid, &["above perf_event_paranoid 2", "perf_event_paranoid=2"]);
}

#[test]
fn thread_of_another_user_is_named_with_its_user() {
    let tree = at_level(-1);
    tree.file("/proc/77/status", "Name:\tx\nUid:\t0\t0\t0\t0\n");
    let explanation = at(&tree, Errno::EACCES, &CLOCK, Target::thread(77));
    assert_is(&explanation, Cause::OtherUser, &["thread 77", "Uid of /proc/77/status: 0", "CAP_PERFMON"]);
}

#[test]
fn task_of_another_user_comes_before_the_level() {
    let tree = at_level(2);
    tree.file("/proc/77/status", "Name:\tx\nUid:\t0\t0\t0\t0\n");
    let kernel = Attr::software(Software::CPU_CLOCK);
    let explanation = at(&tree, Errno::EACCES, &kernel, Target::thread(77));
    let words = ["thread 77 belongs to another user", "also, without CAP_PERFMON", "run as the user", "`:u`"];
    assert_is(&explanation, Cause::OtherUser, &words);
    assert!(!explanation.remedy.contains("sysctl"), "no level permits it: {explanation}");
    // The own task is forbidden by the level alone.
    tree.file("/proc/77/status", "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n");
    let explanation = at(&tree, Errno::EACCES, &kernel, Target::thread(77));
    assert_is(&explanation, Cause::Paranoid, &["events in the kernel"]);
}

#[test]
fn capability_excludes_the_level_as_cause() {
    let tree = at_level(2);
    status(&tree, PERFMON, 0);
    let explanation = of(&tree, Errno::EACCES, &Attr::software(Software::CPU_CLOCK));
    assert_is(&explanation, Cause::Unknown, &["unknown"]);
}

#[test]
fn capabilities_of_a_user_namespace_do_not_count() {
    let tree = at_level(2);
    status(&tree, u64::MAX, 0);
    tree.file("/proc/self/uid_map", "0 1000 1\n");
    let explanation = of(&tree, Errno::EACCES, &Attr::software(Software::CPU_CLOCK));
    assert_is(&explanation, Cause::Paranoid, &["user namespace, whose capabilities do not count"]);
}

#[test]
fn probes_need_their_capability_at_every_level() {
    let tree = at_level(-1);
    tree.pmu("kprobe", &[("type", "8\n")]);
    tree.pmu("uprobe", &[("type", "9\n")]);
    assert_of(
        &tree,
        Errno::EACCES,
        &Attr::new(EventType(8), 0),
        Cause::Capability,
        &["kprobe", "CAP_PERFMON"],
    );
    let uprobe = Attr::new(EventType(9), 0);
    assert_of(&tree, Errno::EACCES, &uprobe, Cause::Capability, &["uprobe", "CAP_SYS_ADMIN"]);
    status(&tree, PERFMON, 0);
    assert_of(&tree, Errno::EACCES, &uprobe, Cause::Capability, &["run with CAP_SYS_ADMIN"]);
    status(&tree, PERFMON | SYS_ADMIN, 0);
    assert!(!of(&tree, Errno::EACCES, &uprobe).is_known());
}

#[test]
fn raw_tracepoint_data_needs_level_minus_1() {
    let attr = Attr::tracepoint(1).with_sample_type(SampleType::RAW).with_flags(AttrFlags::EXCLUDE_KERNEL);
    for level in [0, 1, 2] {
        let explanation = of(&at_level(level), Errno::EPERM, &attr);
        assert_is(
            &explanation,
            Cause::Paranoid,
            &["raw tracepoint data", "sample without raw data", "paranoid=-1"],
        );
    }
    assert!(!of(&at_level(-1), Errno::EPERM, &attr).is_known());
}

#[test]
fn kernel_breakpoint_needs_a_capability() {
    let attr = Attr::breakpoint_execute(0xffff_ffff_8100_0000);
    let explanation = of(&tree(), Errno::EPERM, &attr);
    assert_is(&explanation, Cause::Capability, &["CAP_SYS_ADMIN", "0xffffffff81000000"]);
}

#[test]
fn filter_is_possible_where_nothing_can_be_tried() {
    let tree = tree();
    status(&tree, PERFMON, 2);
    for errno in [Errno::EPERM, Errno::ENOSYS] {
        let explanation = of(&tree, errno, &CLOCK);
        assert_is(&explanation, Cause::Seccomp, &["probably", "2, a filter", "seccomp=unconfined"]);
    }
    status(&tree, PERFMON, 0);
    assert!(!of(&tree, Errno::EPERM, &CLOCK).is_known(), "no filter");
}

#[test]
fn kernel_without_perf_and_filter_are_distinguished() {
    let tree = tree();
    status(&tree, 0, 2);
    std::fs::remove_file(tree.system().path(Privileges::PARANOID)).unwrap();
    assert_of(&tree, Errno::ENOSYS, &CLOCK, Cause::NoPerf, &["CONFIG_PERF_EVENTS", "not readable"]);
}

#[test]
fn architecture_without_dumps_is_a_cause_of_enosys() {
    let attr = CLOCK.with_regs_user(1);
    assert_of(&tree(), Errno::ENOSYS, &attr, Cause::NotImplemented, &["REGS_USER"]);
    assert!(!of(&tree(), Errno::ENOSYS, &CLOCK).is_known());
}

#[test]
fn lockdown_is_read_from_its_file() {
    let attr = CLOCK.with_regs_intr(1);
    let tree = tree();
    assert_of(&tree, Errno::EPERM, &attr, Cause::Lockdown, &["probably", "lockdown: not readable"]);
    tree.file("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
    assert_of(&tree, Errno::EPERM, &attr, Cause::Lockdown, &["lockdown: confidentiality"]);
    tree.file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    assert!(!of(&tree, Errno::EPERM, &attr).is_known(), "integrity permits it");
}

#[test]
fn tracepoints_with_special_rules_are_named() {
    let tree = at_level(2);
    status(&tree, PERFMON, 0);
    let events = "/sys/kernel/tracing/events";
    tree.file(format!("{events}/ftrace/function/id"), "1\n");
    tree.file(format!("{events}/irq_vectors/irq_work_exit/id"), "70\n");
    assert_of(&tree, Errno::EPERM, &Attr::tracepoint(1), Cause::FunctionTracepoint, &["lockdown"]);
    let sampled = Attr::tracepoint(70).with_period(1);
    assert_of(&tree, Errno::EPERM, &sampled, Cause::Rule, &["irq_work_exit, 70"]);
    assert!(!of(&tree, Errno::EPERM, &Attr::tracepoint(70)).is_known());
}
