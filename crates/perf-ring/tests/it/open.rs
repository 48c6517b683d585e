//! Opening of events: targets, flags, and the errors.

use std::fs::File;

use crate::prelude::*;
use rustix::io::{FdFlags, fcntl_getfd};

fn dummy() -> Attr {
    Attr::software(Software::DUMMY).with_flags(AttrFlags::EXCLUDE_KERNEL)
}

fn closes_on_exec(event: &Event) -> bool {
    fcntl_getfd(descriptor(event)).unwrap().contains(FdFlags::CLOEXEC)
}

#[test]
fn descriptors_are_closed_on_exec_by_default() {
    let Some(event) = own(&dummy()) else { return };
    assert!(closes_on_exec(&event));
    let kept = OpenOptions::new().keep_on_exec().open(&dummy(), Target::calling_thread()).unwrap();
    assert!(!closes_on_exec(&kept));
}

#[test]
fn every_kind_of_target_opens() {
    let here = Target::thread(tid());
    let me = i32::try_from(tid()).unwrap();
    let of_c =
        [(0, -1), (0, 0), (me, -1), (me, 0), (-1, 0)].map(|(pid, cpu)| Target::from_raw(pid, cpu).unwrap());
    let named = [here, here.on_cpu(0), Target::calling_thread().on_cpu(0), Target::cpu(0)];
    let _opened: Option<Vec<_>> =
        of_c.into_iter().chain(named).map(|target| open_or_skip(&dummy(), target)).collect();
}

#[test]
fn target_of_a_cgroup_is_its_directory() {
    let Some(place) = cgroup2() else { return eprintln!("skipped: no cgroup2 is mounted") };
    let dir = File::open(place).unwrap();
    open_or_skip(&dummy(), Target::cgroup(&dir, 0));
}

#[test]
fn descriptor_of_another_directory_is_not_a_cgroup() {
    let dir = File::open("/").unwrap();
    let error = Event::open(&dummy(), Target::cgroup(&dir, 0)).unwrap_err();
    assert_eq!(error.call(), Some(Call::PerfEventOpen));
    assert!(matches!(error.errno(), Some(Errno::EBADF | Errno::EACCES | Errno::EPERM)), "{error}");
}

#[test]
fn error_names_a_cpu_that_does_not_exist() {
    let me = Target::calling_thread();
    for (target, cpu) in
        [(Target::cpu(77_777), 77_777), (me.on_cpu(77_777), 77_777), (me.on_cpu(u32::MAX), u32::MAX)]
    {
        let error = Error::from(Event::open(&dummy(), target).unwrap_err());
        if error.errno() != Some(Errno::EINVAL) {
            return eprintln!("skipped: {error}");
        }
        assert_eq!((error, error.call()), (sys::Error::NoSuchCpu { cpu }.into(), Some(Call::PerfEventOpen)));
        let text = error.to_string();
        assert!(text.starts_with(&format!("perf_event_open on CPU {cpu}: Invalid argument")), "{text}");
        assert!(text.ends_with(error.hint().unwrap()) && text.contains("no CPU has this number"), "{text}");
    }
    // Another cause on a CPU that exists.
    let contradiction = dummy().with_sample_type(SampleType::REGS_USER);
    let Err(error) = Event::open(&contradiction, me.on_cpu(0)) else { panic!("registers without a mask") };
    assert!(!error.to_string().contains("CPU 0"), "{error}");
}

#[test]
fn error_names_a_cgroup_that_was_removed() {
    let Some(place) = cgroup2() else { return eprintln!("skipped: no cgroup2 is mounted") };
    let path = std::path::Path::new(&place).join(format!("pk_removed_{}", std::process::id()));
    if let Err(error) = std::fs::create_dir(&path) {
        return eprintln!("skipped: {}: {error}", path.display());
    }
    let dir = File::open(&path).unwrap();
    let target = Target::cgroup(&dir, 0);
    let there = open_or_skip(&dummy(), target).map(drop);
    let no_pmu = Event::open(&Attr::new(EventType(0x7fff_fff0), 0), target).unwrap_err();
    std::fs::remove_dir(&path).unwrap();
    let Some(()) = there else { return };
    assert_eq!(
        Error::from(no_pmu).hint(),
        Some("no PMU offers the event, such as hardware events in most virtual machines")
    );
    let error = Error::from(Event::open(&dummy(), target).unwrap_err());
    assert_eq!(
        (error, error.call(), error.errno()),
        (sys::Error::NoSuchCgroup.into(), Some(Call::PerfEventOpen), Some(Errno::ENOENT))
    );
    let text = error.to_string();
    assert!(text.contains("the cgroup was removed") && !text.contains("PMU"), "{text}");
    assert!(text.ends_with(error.hint().unwrap()), "{text}");
}

#[test]
fn error_of_an_offline_cpu_names_the_cause() {
    let offline = std::fs::read_to_string("/sys/devices/system/cpu/offline").unwrap_or_default();
    let Ok(cpu) = offline.trim().split([',', '-']).next().unwrap_or("").parse() else {
        return eprintln!("skipped: no CPU is offline");
    };
    if open_or_skip(&dummy(), Target::cpu(0)).is_none() {
        return;
    }
    let error = Event::open(&dummy(), Target::cpu(cpu)).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::ENODEV));
    assert!(error.to_string().contains("offline"), "{error}");
}

#[test]
fn unsupported_precision_is_refused() {
    let precise = Attr::hardware(Hardware::CPU_CYCLES)
        .with_period(1_000_000)
        .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    if own(&precise).is_none() {
        return;
    }
    match Event::open(&precise.with_precise_ip(Skid::ZERO), Target::calling_thread()) {
        Ok(_) => eprintln!("skipped: this PMU has the highest precision"),
        Err(error) => {
            assert!(matches!(error.errno(), Some(Errno::EOPNOTSUPP | Errno::ENOENT)), "{error}");
        }
    }
}

#[test]
fn error_of_an_invalid_attr_size_has_the_kernels_size() {
    let mut attr = dummy();
    attr.size = 1;
    match Event::open(&attr, Target::calling_thread()) {
        Err(sys::Error::AttrSize { kernel, .. }) => assert!(kernel >= 64, "{kernel}"),
        other => eprintln!("skipped: another check failed first: {other:?}"),
    }
}

#[test]
fn error_of_an_unknown_field_has_the_kernels_size() {
    let mut attr = dummy();
    attr.config4 = 1;
    match Event::open(&attr, Target::calling_thread()) {
        Err(error @ sys::Error::AttrSize { kernel, .. }) => {
            assert!((64..144).contains(&kernel), "{kernel}");
            assert_eq!(error.errno(), Some(Errno::E2BIG));
        }
        other => eprintln!("skipped: this kernel has the field: {other:?}"),
    }
}

#[test]
fn an_invalid_argument_is_einval_with_its_usual_cause() {
    let stack = |bytes| {
        let attr = dummy().with_sample_type(SampleType::STACK_USER);
        attr.with(|attr| attr.sample_stack_user = bytes)
    };
    let clock = Attr::software(Software::CPU_CLOCK);
    let me = Target::calling_thread();
    let invalid = [
        (dummy(), me.on_cpu(1 << 20)),
        (dummy(), me.on_cpu(u32::MAX)),
        (dummy().with_sample_type(SampleType::REGS_USER), me),
        (stack(4), me),
        (stack(65536), me),
        (clock.with_frequency(1 << 40), me),
    ];
    for (attr, target) in invalid {
        let error = Error::from(Event::open(&attr, target).unwrap_err());
        if matches!(error.errno(), Some(Errno::EACCES | Errno::EPERM | Errno::ENOSYS)) {
            return eprintln!("skipped: {error}");
        }
        assert_eq!(error.errno(), Some(Errno::EINVAL), "{error}");
        assert!(error.to_string().ends_with(error.hint().unwrap()), "{error}");
    }
}
