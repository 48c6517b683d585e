//! Errnos other than permissions.

use super::*;
use perf_ring::sys::Error as SysError;

#[test]
fn removed_cgroup_is_the_cause_for_an_event_that_the_kernel_has() {
    let (tree, dir) = (tree(), std::io::stdin());
    tree.file("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
    let target = Target::cgroup(&dir, 1);
    let explained = at(&tree, Errno::ENOENT, &CLOCK, target);
    assert_is(&explained, Cause::Cgroup, &["the cgroup was removed", "/sys/fs/cgroup (cgroup2)"]);
    // Without a PMU the kernel does not come to the cgroup.
    let explained = at(&tree, Errno::ENOENT, &CYCLES, target);
    assert_is(&explained, Cause::NoHardwarePmu, &[]);
    let unknown = Attr::new(EventType::SOFTWARE, 99);
    let explained = at(&tree, Errno::ENOENT, &unknown, target);
    assert_is(&explained, Cause::NoSuchEvent, &["99"]);
    // The trial knows of every event.
    let error = failed(Errno::ENOENT);
    let mut trials = Vec::new();
    let explained = FailedOpen::new(error, &CYCLES, target).explain_by_trial(tree.system(), |trial| {
        trials.push((trial.target.cpu_id(), trial.target.is_cgroup()));
        Err(failed(Errno::EBUSY))
    });
    assert_is(&explained, Cause::Cgroup, &["on CPU 1 without the cgroup"]);
    assert_eq!(trials, [(Some(1), false)]);
}

#[test]
fn missing_sysfs_is_named_and_not_a_missing_pmu() {
    let tree = Tree::new();
    let explained = of(&tree, Errno::ENOENT, &CYCLES);
    assert_is(&explained, Cause::Unknown, &["sysfs", "is not mounted", "mount -t sysfs sysfs /sys"]);
}

#[test]
fn offline_cpu_and_one_that_does_not_exist_are_distinguished() {
    let tree = tree();
    let open = |errno, cpu| at(&tree, errno, &CLOCK, Target::cpu(cpu));
    assert_is(&open(Errno::ENODEV, 2), Cause::CpuOffline, &["CPU 2 is offline", "0-1,3"]);
    assert_is(&open(Errno::ESRCH, 2), Cause::CpuOffline, &["CPU 2 is offline"]);
    assert_is(&open(Errno::EINVAL, 4), Cause::NoSuchCpu, &["no CPU has the number 4", "possible: 0-3"]);
    assert!(!open(Errno::ENODEV, 3).is_known());
}

#[test]
fn pmu_of_other_cpus_is_named() {
    let tree = tree();
    tree.pmu("cpu_atom", &[("type", "10\n"), ("cpus", "2-3\n")]);
    let attr = Attr::new(EventType(10), 0x3c);
    let explanation = at(&tree, Errno::ENODEV, &attr, Target::cpu(0));
    assert_is(&explanation, Cause::PmuNotOnCpu, &["cpu_atom is not on CPU 0", "CPUs 2-3"]);
}

#[test]
fn exiting_threads_and_unknown_ids_are_distinguished() {
    let tree = tree();
    let open = |tid| at(&tree, Errno::ESRCH, &CLOCK, Target::thread(tid));
    assert_is(&open(77), Cause::NoSuchThread, &["no thread has the id 77", "/proc/77/status: not readable"]);
    tree.file("/proc/78/status", "State:\tZ (zombie)\n");
    assert_is(&open(78), Cause::NoSuchThread, &["thread 78 is exiting", "Z (zombie)"]);
}

#[test]
fn missing_hardware_pmu_and_missing_event_are_distinguished() {
    let tree = tree();
    tree.file("/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
    let words = ["no hardware PMU", "software tracepoint", "a virtual machine", "cpu-clock"];
    assert_of(&tree, Errno::ENOENT, &CYCLES, Cause::NoHardwarePmu, &words);
    tree.pmu("cpu", &[("type", "4\n")]);
    assert_of(&tree, Errno::ENOENT, &CYCLES, Cause::NoSuchEvent, &["PMU cpu does not have this event"]);
    assert_of(
        &tree,
        Errno::ENOENT,
        &Attr::new(EventType(55), 0),
        Cause::NoSuchPmu,
        &["type 55", "cpu software"],
    );
    assert_of(&tree, Errno::ENOENT, &Attr::new(EventType::SOFTWARE, 99), Cause::NoSuchEvent, &["99"]);
    tree.pmu("uprobe", &[("type", "9\n")]);
    assert_of(&tree, Errno::ENOENT, &Attr::new(EventType(9), 0), Cause::Probe, &["absolute path"]);
    tree.pmu("kprobe", &[("type", "8\n")]);
    assert_of(&tree, Errno::ENOENT, &Attr::new(EventType(8), 0), Cause::Probe, &["kallsyms"]);
}

#[test]
fn unreadable_sysfs_is_an_unknown_cause_with_the_file() {
    let tree = tree();
    tree.pmu("cpu", &[("type", "many\n")]);
    assert_of(&tree, Errno::ENOENT, &CYCLES, Cause::Unknown, &["cannot be read", "cpu/type"]);
}

#[test]
fn pmu_for_cpus_is_named() {
    let tree = tree();
    tree.pmu("uncore_imc", &[("type", "13\n"), ("cpumask", "0\n")]);
    let explanation = of(&tree, Errno::EINVAL, &Attr::new(EventType(13), 1));
    assert_is(&explanation, Cause::PmuNeedsCpu, &["uncore_imc", "CPUs 0", "attr.target: a thread"]);
}

#[test]
fn rules_are_causes_with_the_value_of_the_field() {
    let tree = tree();
    let attr = CLOCK.with_sample_type(SampleType::REGS_USER);
    assert_of(&tree, Errno::EINVAL, &attr, Cause::Rule, &["set sample_regs_user", "0x0"]);
    let attr = CLOCK.with_frequency(100_001);
    let words = ["100001 Hz", "at most 100000 Hz", "max_sample_rate"];
    assert_of(&tree, Errno::EINVAL, &attr, Cause::SampleRate, &words);
    let attr = CLOCK.with_flags(AttrFlags::SIGTRAP).with_sig_data(1);
    assert_of(&tree, Errno::EINVAL, &attr, Cause::Rule, &["SIGTRAP needs REMOVE_ON_EXEC"]);
}

#[test]
fn tracepoints_are_looked_up_by_their_id() {
    let tree = tree();
    let attr = Attr::tracepoint(42);
    assert_of(&tree, Errno::EINVAL, &attr, Cause::Tracefs, &["not mounted", "mount -t tracefs"]);
    let events = "/sys/kernel/tracing/events";
    tree.file(format!("{events}/sched/sched_switch/id"), "41\n");
    tree.file(format!("{events}/ftrace/function/id"), "1\n");
    assert_of(&tree, Errno::EINVAL, &attr, Cause::NoSuchTracepoint, &["no tracepoint has the id 42"]);
    assert_of(&tree, Errno::EINVAL, &Attr::tracepoint(1), Cause::FunctionTracepoint, &["ftrace:function"]);
    assert!(!of(&tree, Errno::EINVAL, &Attr::tracepoint(41)).is_known(), "one like the others");
}

#[test]
fn limits_have_their_values() {
    let tree = tree();
    tree.file(
        "/proc/self/limits",
        "Max open files            1024                 4096                 files\n",
    );
    tree.file("/proc/self/fd/0", "");
    tree.file("/proc/sys/fs/file-nr", "97\t0\t100\n");
    let words = ["RLIMIT_NOFILE", "limits: 1024", "/proc/self/fd: 1"];
    assert_of(&tree, Errno::EMFILE, &CLOCK, Cause::ProcessFiles, &words);
    assert_of(&tree, Errno::ENFILE, &CLOCK, Cause::SystemFiles, &["fs.file-max", "97 0 100"]);
    assert_of(&tree, Errno::ENOMEM, &CLOCK, Cause::Memory, &["memory"]);
    let deep = CLOCK.with_max_stack(200);
    assert_of(&tree, Errno::EOVERFLOW, &deep, Cause::MaxStack, &["200", "max_stack: 127"]);
    let breakpoint = Attr::breakpoint_execute(0x1000);
    assert_of(&tree, Errno::ENOSPC, &breakpoint, Cause::BreakpointSlots, &["0x1000", "the task"]);
    assert_of(&tree, Errno::ENOSPC, &CYCLES, Cause::GroupSize, &["3.3"]);
    assert_of(&tree, Errno::E2BIG, &CLOCK, Cause::GroupSize, &["16 KiB"]);
    assert_of(&tree, Errno::E2BIG, &Attr::new(EventType(9), 0), Cause::Probe, &["too long"]);
}

#[test]
fn exclusive_pmu_is_busy() {
    let tree = tree();
    tree.pmu("intel_pt", &[("type", "8\n")]);
    let words = ["PMU intel_pt", "intel_pt/type: 8", "close the other event"];
    assert_of(&tree, Errno::EBUSY, &Attr::new(EventType(8), 0), Cause::Busy, &words);
}

#[test]
fn attr_that_is_too_long_names_the_fields() {
    let error = Error::Sys(SysError::AttrSize { kernel: 128, call: Call::PerfEventOpen });
    let attr = CLOCK.with_config3(1).with_config4(2);
    let explanation = explain(tree().system(), error, &attr, Target::calling_thread());
    assert_is(&explanation, Cause::AttrSize, &["config3, config4", "128 bytes; that of the attr is 144"]);
    let error = Error::Sys(SysError::AttrSize { kernel: 136, call: Call::PerfEventOpen });
    let explanation = explain(tree().system(), error, &CLOCK.with_size(8), Target::calling_thread());
    assert_is(&explanation, Cause::AttrSize, &["no kernel accepts an attr of 8 bytes"]);
}

#[test]
fn directory_that_is_no_cgroup_comes_with_the_mounts() {
    let tree = tree();
    tree.file("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\nproc /proc proc rw 0 0\n");
    let dir = std::io::stdin();
    let explanation = at(&tree, Errno::EBADF, &CLOCK, Target::cgroup(&dir, 0));
    assert_is(&explanation, Cause::Cgroup, &["/sys/fs/cgroup (cgroup2)"]);
    let sibling = failed(Errno::EBADF);
    let sibling = FailedOpen::new(sibling, &CLOCK, Target::calling_thread()).in_group();
    assert_is(&sibling.explain(tree.system()), Cause::Leader, &["leader"]);
}

#[test]
fn features_of_the_pmu_are_causes_of_eopnotsupp() {
    let tree = tree();
    tree.pmu("cpu", &[("type", "4\n"), ("caps/max_precise", "1\n")]);
    let branches = CYCLES.with_branch_sample_type(BranchSampleType::ANY);
    assert_of(&tree, Errno::EOPNOTSUPP, &branches, Cause::PmuFeature, &["PMU cpu does not record branches"]);
    let precise = CYCLES.with_period(1).with_precise_ip(perf_ring::Skid::REQUESTED_ZERO);
    let words = ["precise_ip 2", "at most 1", "max_precise of the PMU: 1"];
    assert_of(&tree, Errno::EOPNOTSUPP, &precise, Cause::PmuFeature, &words);
    assert_of(&tree, Errno::EOPNOTSUPP, &CYCLES.with_period(1), Cause::PmuFeature, &["cannot sample"]);
    let output = CYCLES.with_flags(AttrFlags::AUX_OUTPUT);
    assert_of(&tree, Errno::EOPNOTSUPP, &output, Cause::PmuFeature, &["AUX_OUTPUT"]);
    assert!(!of(&tree, Errno::EOPNOTSUPP, &CYCLES).is_known());
}

#[test]
fn errors_of_no_system_call_are_explained_by_their_text() {
    let errors = [
        (Error::Sys(SysError::ThreadId { found: 0 }), Cause::Argument),
        (Error::Sys(SysError::Target { pid: -1, cpu: -1 }), Cause::Argument),
        (Error::Sys(SysError::PageCount { found: 3 }), Cause::Argument),
        (Error::Sys(SysError::RingInUse), Cause::State),
        (Error::Sys(SysError::Forked), Cause::State),
        (Error::PinnedFailed, Cause::State),
    ];
    for (error, cause) in errors {
        let explanation = explain(tree().system(), error, &CLOCK, Target::calling_thread());
        assert_is(&explanation, cause, &[&error.to_string()]);
    }
    let other = Error::Sys(SysError::System { call: Call::EpollCtl, errno: Errno::ENOSPC });
    let explanation = explain(tree().system(), other, &CLOCK, Target::calling_thread());
    assert_is(&explanation, Cause::Unknown, &["epoll_ctl", "max_user_watches"]);
}

#[test]
fn every_errno_has_three_lines_on_an_empty_machine() {
    let tree = Tree::new();
    let attrs = [
        CLOCK,
        CYCLES,
        Attr::tracepoint(1),
        Attr::breakpoint_execute(0),
        Attr::new(EventType(77), 0),
        CLOCK.with_regs_intr(1),
        CYCLES.with(|attr| {
            attr.flags = AttrFlags::all();
            attr.sample_type = SampleType::all();
        }),
    ];
    for number in 1..140 {
        for attr in attrs {
            for target in [Target::calling_thread(), Target::thread(7), Target::cpu(0)] {
                let error = failed(Errno::from_raw_os_error(number));
                let text = explain(tree.system(), error, &attr, target).to_string();
                assert_eq!(text.lines().count(), 3, "{text}");
                assert!(text.lines().all(|line| line.split_whitespace().count() > 1), "{text}");
            }
        }
    }
}
