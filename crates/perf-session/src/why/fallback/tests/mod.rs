//! Fallbacks on simulated kernels.

use perf_ring::sys::Error as SysError;
use perf_ring::{
    Attr, AttrFlags, BranchSampleType, Call, Clock, Errno, Error, Hardware, ReadFormat, SampleType, Skid,
    Software, StackSize,
};

use super::*;

mod kept;
mod kernel;
mod random;

use kernel::{Kernel, SIZES};

/// Flags that request something new of each release, and are given up where the release is older.
fn newest_flags() -> AttrFlags {
    AttrFlags::MMAP
        | AttrFlags::COMM
        | AttrFlags::INHERIT
        | AttrFlags::MMAP_DATA
        | AttrFlags::SAMPLE_ID_ALL
        | AttrFlags::EXCLUDE_GUEST
        | AttrFlags::EXCLUDE_CALLCHAIN_USER
        | AttrFlags::MMAP2
        | AttrFlags::COMM_EXEC
        | AttrFlags::CONTEXT_SWITCH
        | AttrFlags::NAMESPACES
        | AttrFlags::KSYMBOL
        | AttrFlags::BPF_EVENT
        | AttrFlags::CGROUP
        | AttrFlags::TEXT_POKE
        | AttrFlags::BUILD_ID
        | AttrFlags::DEFER_CALLCHAIN
        | AttrFlags::DEFER_OUTPUT
}

/// An attr that uses something of each release up to 6.19.
fn newest() -> Attr {
    Attr::hardware(Hardware::CPU_CYCLES)
        .with_period(1000)
        .with_sample_type(SampleType::KNOWN - SampleType::READ - SampleType::WEIGHT)
        .with_read_format(ReadFormat::KNOWN)
        .with_regs_user(1)
        .with_regs_intr(1)
        .with_stack_user(StackSize::MAX)
        .with_branch_sample_type(BranchSampleType::KNOWN)
        .with_aux_sample_size(4096)
        .with_flags(newest_flags())
        .with_clock(Clock::MONOTONIC_RAW)
        .with_max_stack(64)
        .with_aux_watermark(4096)
        .with_sig_data(1)
}

fn system(errno: Errno) -> Error {
    Error::Sys(SysError::System { call: Call::PerfEventOpen, errno })
}

#[test]
fn every_published_size_opens_with_all_that_its_release_knows() {
    for (release, size) in SIZES {
        let kernel = Kernel::new(release);
        let asked = newest();
        let fallback = AttrFallback::new(&asked);
        let opened = fallback.open(|attr| kernel.open(attr)).unwrap();
        let granted = opened.attr;
        // Since 5.13 the kernel's attr has all fields of ours.
        assert_eq!(granted.size, if size < 128 { size } else { Attr::SIZE }, "{release:?}");
        assert_eq!(granted.flags.bits(), asked.flags.bits() & kernel.flags(), "{release:?}");
        // Before 5.12 the weight is one number.
        let weight = SampleType::WEIGHT.bits() & kernel.samples();
        let samples = asked.sample_type.bits() & kernel.samples();
        let samples = if release < (5, 12) { samples | weight } else { samples };
        assert_eq!(granted.sample_type.bits(), samples, "{release:?}");
        assert_eq!(granted.read_format.bits(), asked.read_format.bits() & kernel.reads(), "{release:?}");
        let branches = asked.branch_sample_type.bits() & kernel.branches();
        assert_eq!(granted.branch_sample_type.bits(), branches, "{release:?}");
        let has_clock = release >= (4, 1);
        assert_eq!(granted.clockid == Clock::MONOTONIC_RAW, has_clock, "{release:?}");
        assert_eq!(granted.sample_max_stack, if release >= (4, 8) { 64 } else { 0 }, "{release:?}");
        assert_eq!(granted.aux_sample_size, if release >= (5, 5) { 4096 } else { 0 }, "{release:?}");
        assert_eq!((granted.kind, granted.config, granted.sample_period), (asked.kind, asked.config, 1000));
        assert_eq!(opened.dropped.is_empty(), release == (6, 19), "{release:?}");
        assert!(opened.attempts <= fallback.max_attempts(), "{release:?}: {}", opened.attempts);
    }
}

#[test]
fn attr_of_the_oldest_kernel_opens_everywhere_at_once() {
    let attr = Attr::software(Software::CPU_CLOCK)
        .with_period(1)
        .with_sample_type(SampleType::IP | SampleType::TIME)
        .with_flags(AttrFlags::DISABLED | AttrFlags::INHERIT);
    for (release, _) in SIZES {
        let kernel = Kernel::new(release);
        let opened = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap();
        assert_eq!((opened.attempts, opened.attr), (1, attr), "{release:?}");
        assert!(opened.dropped.is_empty());
    }
}

#[test]
fn dropped_name_the_part_and_its_release() {
    let attr = Attr::software(Software::DUMMY)
        .with_flags(AttrFlags::COMM | AttrFlags::BUILD_ID | AttrFlags::CGROUP)
        .with_read_format(ReadFormat::LOST);
    let kernel = Kernel::new((5, 10));
    let opened = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap();
    let texts: Vec<_> = opened.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["flag BUILD_ID given up (since Linux 5.12)", "read format LOST given up (since Linux 6.0)"]
    );
    assert_eq!(opened.attr.flags, AttrFlags::COMM | AttrFlags::CGROUP, "5.10 has it");
    let old = AttrFallback::new(&attr.with_flags(AttrFlags::MMAP_DATA))
        .open(|attr| Kernel::new((2, 31)).open(attr));
    let texts: Vec<_> = old.unwrap().dropped.iter().map(ToString::to_string).collect();
    assert!(texts.contains(&"flag MMAP_DATA given up (since Linux 2.6.36)".to_owned()), "{texts:?}");
}

#[test]
fn bits_newer_than_this_crate_are_given_up_first() {
    let unknown = AttrFlags::all() - AttrFlags::KNOWN;
    let fields = SampleType::from_bits_retain(1 << 30);
    let attr = Attr::software(Software::DUMMY)
        .with_flags(unknown | AttrFlags::DEFER_OUTPUT)
        .with_sample_type(fields | SampleType::TID);
    let kernel = Kernel::new((6, 19));
    let opened = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap();
    let expected = [DroppedFeature::Flag(unknown), DroppedFeature::SampleField(fields)];
    assert_eq!(opened.dropped, expected);
    assert_eq!(opened.attr.flags, AttrFlags::DEFER_OUTPUT);
}

#[test]
fn permission_is_no_reason_to_give_up_anything() {
    for errno in [Errno::EACCES, Errno::EPERM, Errno::EMFILE, Errno::ENOENT, Errno::ENOSYS, Errno::ESRCH] {
        let mut calls = 0;
        let error = AttrFallback::new(&newest()).open(|_| -> Result<(), _> {
            calls += 1;
            Err(system(errno))
        });
        let error = error.unwrap_err();
        assert_eq!((error.error, error.attempts, calls), (system(errno), 1, 1));
        assert_eq!(*error.attr, newest());
    }
}

#[test]
fn permission_that_an_older_kernel_checks_later_ends_the_search() {
    let kernel = Kernel { is_privileged: false, ..Kernel::new((5, 10)) };
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_flags(AttrFlags::BUILD_ID | AttrFlags::CGROUP);
    let error = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap_err();
    assert_eq!(error.error, system(Errno::EACCES));
    assert_eq!(error.attempts, 2, "BUILD_ID was given up, nothing else");
}

#[test]
fn exclude_flags_are_not_given_up_for_a_permission() {
    let kernel = Kernel { is_privileged: false, can_exclude: false, ..Kernel::new((6, 19)) };
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_flags(AttrFlags::EXCLUDE_KERNEL);
    let error = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap_err();
    assert_eq!(error.error, system(Errno::EINVAL), "of the whole attr");
}

#[test]
fn pmu_that_cannot_exclude_counts_everything_and_keeps_the_rest() {
    let kernel = Kernel { can_exclude: false, ..Kernel::new((6, 19)) };
    let flags = AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_GUEST | AttrFlags::BUILD_ID;
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_flags(flags);
    let opened = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap();
    assert_eq!(opened.attr.flags, AttrFlags::BUILD_ID);
    let kept = AttrFallback::new(&attr).keep_flags(AttrFlags::EXCLUDE_KERNEL).open(|attr| kernel.open(attr));
    assert_eq!(kept.unwrap_err().error, system(Errno::EINVAL));
}

#[test]
fn skid_grows_level_by_level() {
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_period(1).with_precise_ip(Skid::ZERO);
    for max_precise in 0..3 {
        let kernel = Kernel { max_precise, ..Kernel::new((6, 19)) };
        let opened = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap();
        assert_eq!(opened.attr.flags.precise_ip().level(), max_precise);
        let granted = Skid::from_level(max_precise).unwrap();
        assert_eq!(opened.dropped, [DroppedFeature::PreciseIp { asked: Skid::ZERO, granted }]);
        let text = opened.dropped[0].to_string();
        assert_eq!(text, format!("precise_ip 3 replaced by {max_precise}"));
        let kept = AttrFallback::new(&attr).keep_precise_ip().open(|attr| kernel.open(attr));
        assert_eq!(kept.unwrap_err().error, system(Errno::EOPNOTSUPP));
    }
}

#[test]
fn clock_becomes_one_of_every_pmu_or_that_of_perf() {
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_clock(Clock::REALTIME);
    let opened = AttrFallback::new(&attr).open(|attr| Kernel::new((6, 19)).open(attr)).unwrap();
    assert_eq!(opened.attr.clockid, Clock::MONOTONIC);
    assert_eq!(opened.dropped[0].to_string(), "clock REALTIME replaced by MONOTONIC");
    let old = AttrFallback::new(&attr).open(|attr| Kernel::new((4, 0)).open(attr)).unwrap();
    assert!(!old.attr.flags.contains(AttrFlags::USE_CLOCKID));
    assert_eq!(old.dropped[0].to_string(), "clock REALTIME replaced by that of perf");
    let kept = AttrFallback::new(&attr).keep_clock().open(|attr| Kernel::new((6, 19)).open(attr));
    assert_eq!(kept.unwrap_err().error, system(Errno::EINVAL));
}

#[test]
fn clock_and_skid_of_a_new_kernel_are_kept_where_an_older_part_is_guilty() {
    let attr = Attr::hardware(Hardware::CPU_CYCLES)
        .with_clock(Clock::MONOTONIC_RAW)
        .with_precise_ip(Skid::REQUESTED_ZERO)
        .with_branch_sample_type(BranchSampleType::ANY)
        .with_flags(AttrFlags::BUILD_ID);
    let kernel = Kernel { has_branches: false, ..Kernel::new((6, 19)) };
    let opened = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap();
    let expected = DroppedFeature::SampleField(SampleType::BRANCH_STACK);
    assert_eq!(opened.dropped, [expected]);
}

#[test]
fn inherited_read_is_given_up_before_6_12() {
    let attr = Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::READ | SampleType::TID)
        .with_flags(AttrFlags::INHERIT);
    let opened = AttrFallback::new(&attr).open(|attr| Kernel::new((6, 1)).open(attr)).unwrap();
    assert_eq!(opened.attr.sample_type, SampleType::TID);
    let new = AttrFallback::new(&attr).open(|attr| Kernel::new((6, 12)).open(attr)).unwrap();
    assert!(new.dropped.is_empty());
}

#[test]
fn all_or_nothing_is_one_attempt() {
    let fallback = AttrFallback::new(&newest()).all_or_nothing();
    assert_eq!(fallback.max_attempts(), 1);
    let error = fallback.open(|attr| Kernel::new((4, 3)).open(attr)).unwrap_err();
    assert_eq!(error.attempts, 1);
    let opened = fallback.open(|attr| Kernel::new((6, 19)).open(attr)).unwrap();
    assert!(opened.dropped.is_empty());
}

/// An open event; dropping it closes it.
struct Counted<'a>(&'a std::cell::Cell<i32>);
impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

#[test]
fn at_most_one_event_is_open_at_a_time() {
    let open = std::cell::Cell::new(0);
    let kernel = Kernel::new((4, 3));
    let opened = AttrFallback::new(&newest()).open(|attr| {
        assert_eq!(open.get(), 0);
        kernel.open(attr)?;
        open.set(1);
        Ok::<_, Error>(Counted(&open))
    });
    assert_eq!(open.get(), 1, "{:?}", opened.as_ref().map(|opened| opened.attempts));
    drop(opened);
    assert_eq!(open.get(), 0);
}

#[test]
fn size_that_no_kernel_has_ends_the_search() {
    for kernel in [0, 8, 63, 144, 4096] {
        let mut calls = 0;
        let error = AttrFallback::new(&newest()).open(|_| -> Result<(), _> {
            calls += 1;
            Err(Error::Sys(SysError::AttrSize { kernel, call: Call::PerfEventOpen }))
        });
        assert_eq!((error.unwrap_err().attempts, calls), (1, 1), "{kernel}");
    }
}

#[test]
fn kernel_that_refuses_everything_is_asked_a_bounded_number_of_times() {
    let fallback = AttrFallback::new(&newest().with_flags(AttrFlags::EXCLUDE_KERNEL));
    let error = fallback.open(|_| -> Result<(), _> { Err(system(Errno::EINVAL)) }).unwrap_err();
    assert!(error.attempts > 30 && error.attempts <= fallback.max_attempts(), "{}", error.attempts);
    assert_eq!(error.error, system(Errno::EINVAL));
    assert!(error.to_string().ends_with("attempts)"), "{error}");
}
