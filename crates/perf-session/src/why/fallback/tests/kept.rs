//! Parts of the attr that are not given up.

use super::*;
use perf_ring::sys::Error as SysError;

#[test]
fn config_words_are_never_given_up() {
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_config3(1);
    let error = AttrFallback::new(&attr).open(|attr| Kernel::new((6, 1)).open(attr)).unwrap_err();
    assert_eq!(error.attempts, 1);
    assert!(matches!(error.error, Error::Sys(SysError::AttrSize { kernel: 128, .. })), "{error:?}");
    assert!(error.to_string().contains("lacks config3, which cannot be given up"), "{error}");
}

#[test]
fn data_of_a_signal_is_not_given_up_alone() {
    let flags = AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC;
    let attr = Attr::software(Software::CPU_CLOCK).with_sig_data(7);
    let kernel = Kernel::new((5, 10));
    let unused = AttrFallback::new(&attr).open(|attr| kernel.open(attr)).unwrap();
    assert_eq!((unused.attr.sig_data, unused.dropped.len()), (0, 1), "no signal is sent");
    let error = AttrFallback::new(&attr.with_flags(flags)).open(|attr| kernel.open(attr)).unwrap_err();
    assert_eq!(error.missing.len(), 1);
}

#[test]
fn flags_that_the_program_relies_on_are_never_given_up() {
    let relied = AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC;
    for flags in [AttrFlags::WRITE_BACKWARD, relied, AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD] {
        let attr = Attr::software(Software::CPU_CLOCK).with_flags(flags);
        let error = AttrFallback::new(&attr).open(|attr| Kernel::new((4, 3)).open(attr)).unwrap_err();
        assert_eq!((error.error, error.attempts), (system(Errno::EINVAL), 1), "{flags}");
    }
}

#[test]
fn kept_parts_are_not_given_up() {
    let kernel = Kernel::new((5, 10));
    let attr = Attr::hardware(Hardware::CPU_CYCLES)
        .with_flags(AttrFlags::BUILD_ID)
        .with_sample_type(SampleType::CODE_PAGE_SIZE)
        .with_read_format(ReadFormat::LOST)
        .with_branch_sample_type(BranchSampleType::ANY | BranchSampleType::COUNTERS);
    let refuse = |fallback: AttrFallback| fallback.open(|attr| kernel.open(attr)).unwrap_err().error;
    let all = AttrFallback::new(&attr);
    assert!(all.open(|attr| kernel.open(attr)).is_ok());
    let invalid = system(Errno::EINVAL);
    assert_eq!(refuse(all.clone().keep_flags(AttrFlags::BUILD_ID)), invalid);
    assert_eq!(refuse(all.clone().keep_sample_type(SampleType::CODE_PAGE_SIZE)), invalid);
    assert_eq!(refuse(all.clone().keep_read_format(ReadFormat::LOST)), invalid);
    let branches = all.keep_branches(BranchSampleType::COUNTERS).keep_sample_type(SampleType::BRANCH_STACK);
    assert_eq!(refuse(branches), invalid);
}

#[test]
fn kept_parts_after_the_kernels_attr_are_missing() {
    let attr = Attr::software(Software::CPU_CLOCK).with_clock(Clock::MONOTONIC_RAW).with_regs_intr(1);
    let kernel = Kernel::new((3, 4));
    let missing = |fallback: AttrFallback| {
        let error = fallback.open(|attr| kernel.open(attr)).unwrap_err();
        assert_eq!(error.attempts, 1);
        error.missing.iter().map(|field| field.name()).collect::<Vec<_>>()
    };
    let all = AttrFallback::new(&attr);
    assert!(all.open(|attr| kernel.open(attr)).is_ok());
    assert_eq!(missing(all.clone().keep_clock()), ["clockid"]);
    assert_eq!(missing(all.keep_sample_type(SampleType::REGS_INTR)), ["sample_regs_intr"]);
}

#[test]
fn skid_of_software_events_is_ignored() {
    let attr =
        Attr::software(Software::CPU_CLOCK).with_precise_ip(Skid::ZERO).with_flags(AttrFlags::BUILD_ID);
    let opened = AttrFallback::new(&attr).open(|attr| Kernel::new((5, 10)).open(attr)).unwrap();
    assert_eq!((opened.attempts, opened.attr.flags.precise_ip()), (2, Skid::ZERO));
}

#[test]
fn branch_bits_are_given_up_one_by_one() {
    let bits = BranchSampleType::ANY | BranchSampleType::COUNTERS;
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_branch_sample_type(bits);
    let opened = AttrFallback::new(&attr).open(|attr| Kernel::new((6, 1)).open(attr)).unwrap();
    let expected = DroppedFeature::Branch(BranchSampleType::COUNTERS);
    assert_eq!(opened.dropped, [expected]);
    assert_eq!(opened.attr.branch_sample_type, BranchSampleType::ANY);
}

#[test]
fn one_weight_takes_the_place_of_three() {
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_sample_type(SampleType::WEIGHT_STRUCT);
    let opened = AttrFallback::new(&attr).open(|attr| Kernel::new((5, 10)).open(attr)).unwrap();
    assert_eq!(opened.attr.sample_type, SampleType::WEIGHT);
    let texts: Vec<_> = opened.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["sample field WEIGHT_STRUCT given up (since Linux 5.12)", "sample field WEIGHT in its place"]
    );
}

#[test]
fn attempts_are_two_for_each_part_and_three() {
    let attempts = |attr: Attr| AttrFallback::new(&attr).max_attempts();
    let attr = Attr::hardware(Hardware::CPU_CYCLES);
    assert_eq!(attempts(attr), 3, "nothing can be given up");
    assert_eq!(attempts(attr.with_flags(AttrFlags::BUILD_ID)), 5);
    assert_eq!(attempts(attr.with_precise_ip(Skid::REQUESTED_ZERO)), 7, "levels 1 and 0");
    assert_eq!(attempts(attr.with_sample_type(SampleType::READ)), 3);
    assert_eq!(attempts(attr.with_flags(AttrFlags::INHERIT)), 3);
    let inherited = attr.with_flags(AttrFlags::INHERIT).with_sample_type(SampleType::READ);
    assert_eq!(attempts(inherited), 5);
}

#[test]
fn error_of_the_only_attempt_does_not_count_it() {
    let attr = Attr::software(Software::DUMMY);
    let error =
        AttrFallback::new(&attr).open(|_| -> Result<(), _> { Err(system(Errno::EMFILE)) }).unwrap_err();
    assert!(!error.to_string().contains("attempts"), "{error}");
}

#[test]
fn field_and_its_parameter_are_given_up_together() {
    let attr = newest();
    let fields = [
        (SampleType::BRANCH_STACK, "branch_sample_type"),
        (SampleType::REGS_USER, "sample_regs_user"),
        (SampleType::STACK_USER, "sample_stack_user"),
        (SampleType::REGS_INTR, "sample_regs_intr"),
        (SampleType::AUX, "aux_sample_size"),
    ];
    for (field, parameter) in fields {
        let after = Step::Samples(field).apply(attr);
        let cleared: Vec<_> =
            Field::ALL.iter().filter(|field| field.is_set(&attr) && !field.is_set(&after)).collect();
        assert_eq!((after.sample_type, cleared.len()), (attr.sample_type - field, 1));
        assert_eq!(cleared[0].name(), parameter);
    }
}
