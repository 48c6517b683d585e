//! Diagnoses of events that this kernel refuses.

use std::fs::File;
use std::process::Command;

use crate::support::explain::{OWN, assert_explains, assert_refused, may_open, refused};
use perf_session::ring::sys::Error as SysError;
use perf_session::ring::{
    Attr, AttrFlags, Call, Errno, Error, Event, EventType, Hardware, OpenOptions, Ring, SampleType, Target,
};
use perf_session::{AttrFallback, Cause, FailedOpen, Pmu, System, check, explain_map, trial_of};

fn me() -> Target<'static> {
    Target::calling_thread()
}

/// Returns a PMU of this machine.
fn pmu(name: &str) -> Option<Pmu> {
    let pmu = Pmu::named(&System::new(), name);
    if let Err(error) = &pmu {
        eprintln!("skipped: {error}");
    }
    pmu.ok()
}

#[test]
fn what_every_kernel_refuses_is_named_with_its_values() {
    if !may_open() {
        return;
    }
    let of = |kind, config| Attr::new(kind, config).with_flags(OWN.flags);
    let words = ["no CPU has the number 100000", "/sys/devices/system/cpu/possible"];
    assert_refused(&OWN, Target::cpu(100_000), Errno::EINVAL, Cause::NoSuchCpu, &words);
    let words = ["no PMU has the type 100000", "/sys/bus/event_source/devices", "software"];
    assert_refused(&of(EventType(100_000), 0), me(), Errno::ENOENT, Cause::NoSuchPmu, &words);
    let attr = of(EventType::SOFTWARE, 1 << 20);
    assert_refused(&attr, me(), Errno::ENOENT, Cause::NoSuchEvent, &["no software event 1048576"]);
    let words = ["1099511627776 Hz", "/proc/sys/kernel/perf_event_max_sample_rate"];
    assert_refused(&OWN.with_frequency(1 << 40), me(), Errno::EINVAL, Cause::SampleRate, &words);
    let attr = OWN.with_period(1).with_sample_type(SampleType::CALLCHAIN).with_max_stack(u16::MAX);
    let words = ["sample_max_stack of 65535", "/proc/sys/kernel/perf_event_max_stack"];
    assert_refused(&attr, me(), Errno::EOVERFLOW, Cause::MaxStack, &words);
    let attr = OWN.with_sample_type(SampleType::REGS_USER);
    assert_refused(&attr, me(), Errno::EINVAL, Cause::Rule, &["set sample_regs_user"]);
    let attr = OWN.with_flags(AttrFlags::SIGTRAP).with_sig_data(1);
    assert_refused(&attr, me(), Errno::EINVAL, Cause::Rule, &["REMOVE_ON_EXEC"]);
    let dir = File::open("/proc").unwrap();
    let target = Target::cgroup(&dir, 0);
    assert_refused(&OWN, target, Errno::EBADF, Cause::Cgroup, &["cgroup"]);
}

#[test]
fn thread_that_has_exited_is_named() {
    if !may_open() {
        return;
    }
    let mut child = Command::new("true").spawn().unwrap();
    let target = Target::thread(child.id());
    child.wait().unwrap();
    // Another process may have the id by now.
    if let Some((error, explanation)) = refused(&OWN, target) {
        assert_eq!(error.errno(), Some(Errno::ESRCH), "{error}");
        assert_explains(&explanation, Cause::NoSuchThread, &[&child.id().to_string()]);
    }
}

#[test]
fn machine_without_a_pmu_and_missing_event_are_distinguished() {
    if !may_open() {
        return;
    }
    let attr = Attr::hardware(Hardware::CPU_CYCLES);
    let Some((error, explanation)) = refused(&attr, me()) else {
        return eprintln!("skipped: this machine has cycles");
    };
    if error.errno() == Some(Errno::ENOENT) {
        let has_pmu = !Pmu::core(&System::new()).unwrap().is_empty();
        let cause = if has_pmu { Cause::NoSuchEvent } else { Cause::NoHardwarePmu };
        assert_explains(&explanation, cause, &[]);
    }
}

#[test]
fn flag_that_this_kernel_lacks_is_found_and_given_up() {
    if !may_open() {
        return;
    }
    let attr = OWN.with_flags(AttrFlags::COMM | AttrFlags::DEFER_OUTPUT);
    let Some((error, explanation)) = refused(&attr, me()) else {
        return eprintln!("skipped: this kernel has DEFER_OUTPUT");
    };
    assert_eq!(error.errno(), Some(Errno::EINVAL), "{error}");
    let words = ["does not accept flag DEFER_OUTPUT", "the same event without it: accepted"];
    assert_explains(&explanation, Cause::AttrField, &words);
    let opened = AttrFallback::new(&attr).open(|attr| Event::open(attr, me())).unwrap();
    assert_eq!(opened.dropped[0].to_string(), "flag DEFER_OUTPUT given up (since Linux 6.19)");
    assert!(opened.value.attr().flags.contains(AttrFlags::COMM), "the rest is kept");
}

#[test]
fn field_after_the_kernels_attr_is_named() {
    if !may_open() {
        return;
    }
    match refused(&OWN.with_config4(1), me()) {
        Some((error @ Error::Sys(SysError::AttrSize { .. }), explanation)) => {
            assert_eq!(error.errno(), Some(Errno::E2BIG));
            assert_explains(&explanation, Cause::AttrSize, &["config4", "bytes; that of the attr is 144"]);
        }
        other => eprintln!("skipped: this kernel has config4: {other:?}"),
    }
}

#[test]
fn pmu_that_only_counts_is_named() {
    let Some(msr) = pmu("msr").filter(|_| may_open()) else { return };
    let attr = Attr::new(msr.kind(), 0);
    if Event::open(&attr, me()).is_err() {
        return eprintln!("skipped: msr without tsc");
    }
    let words = ["PMU msr cannot sample"];
    assert_refused(&attr.with_period(1000), me(), Errno::EINVAL, Cause::PmuFeature, &words);
    // The same PMU cannot exclude anything.
    let attr = attr.with_flags(AttrFlags::EXCLUDE_KERNEL);
    assert_refused(&attr, me(), Errno::EINVAL, Cause::AttrField, &["flag EXCLUDE_KERNEL"]);
}

#[test]
fn clock_that_only_software_events_have_is_named() {
    if !may_open() {
        return;
    }
    let attr = Attr::breakpoint_execute(0x1000).with_clock(perf_session::ring::Clock::TAI);
    match refused(&attr.with_flags(AttrFlags::EXCLUDE_KERNEL), me()) {
        Some((error, explanation)) if error.errno() == Some(Errno::EINVAL) => {
            assert_explains(&explanation, Cause::Rule, &["MONOTONIC", "attr.clockid: TAI"]);
        }
        other => eprintln!("skipped: {other:?}"),
    }
}

#[test]
fn sibling_of_another_cpu_is_named() {
    if !may_open() {
        return;
    }
    let leader = Event::open(&OWN, me()).unwrap();
    let error = OpenOptions::new().leader(&leader).open(&OWN, me().on_cpu(0)).unwrap_err();
    let failed = FailedOpen::new(error, &OWN, me().on_cpu(0)).in_group();
    let explanation = failed.explain_by_trial(&System::new(), trial_of(Some(&leader)));
    assert_explains(&explanation, Cause::Leader, &["same target", "without the group: accepted"]);
}

#[test]
fn probe_of_a_missing_file_is_named() {
    let Some(uprobe) = pmu("uprobe").filter(|_| may_open()) else { return };
    let attr = Attr::new(uprobe.kind(), 0).with_config1(c"/nonexistent".as_ptr() as u64);
    let Some((error, explanation)) = refused(&attr, me()) else { panic!("there is no such file") };
    match error.errno() {
        Some(Errno::ENOENT) => assert_explains(&explanation, Cause::Probe, &["the file of the uprobe"]),
        _ => assert_explains(&explanation, Cause::Capability, &["CAP_SYS_ADMIN"]),
    }
}

#[test]
fn inherited_event_without_a_cpu_has_no_ring() {
    if !may_open() {
        return;
    }
    let event = Event::open(&OWN.with_flags(AttrFlags::INHERIT), me()).unwrap();
    let failed = Ring::map(event, 1).unwrap_err();
    let explanation = explain_map(&System::new(), &failed, 1);
    assert_explains(&explanation, Cause::AttrField, &["INHERIT", "on each CPU"]);
    let failed = Ring::map(failed.value, 3).unwrap_err();
    assert_eq!(failed.error.call(), None::<Call>);
    assert_explains(&explain_map(&System::new(), &failed, 3), Cause::Argument, &["power of two"]);
}

#[test]
fn what_the_check_refuses_the_kernel_refuses_too() {
    if !may_open() {
        return;
    }
    let attrs = [
        OWN.with_frequency(1 << 40),
        OWN.with_sample_type(SampleType::REGS_INTR),
        OWN.with_sample_type(SampleType::CALLCHAIN).with_max_stack(u16::MAX),
        OWN.with_flags(AttrFlags::all() - AttrFlags::KNOWN),
        OWN.with_period(1 << 63),
        OWN.with_flags(AttrFlags::INHERIT_THREAD),
        OWN.with_branch_sample_type(perf_session::ring::BranchSampleType::ANY),
        OWN,
        OWN.with_frequency(1),
        OWN.with_sample_type(SampleType::IP | SampleType::TID),
    ];
    for attr in attrs {
        let checked = check(&System::new(), &attr, me(), false);
        let error = Event::open(&attr, me()).err();
        let errno = error.as_ref().and_then(SysError::errno);
        let found = checked.first().map(|reason| reason.errno.unwrap());
        assert_eq!(found, errno, "{checked:?} {error:?}");
    }
}
