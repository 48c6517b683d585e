//! Parts of the attr that are not given up.

use super::*;

#[test]
fn config_words_are_never_given_up() {
    let attr = Attr::hardware(Hardware::CPU_CYCLES).with_config3(1);
    let error = negotiate(&attr, |attr| Kernel::new((6, 1)).open(attr)).unwrap_err();
    assert_eq!(error.attempts, 1);
    assert!(matches!(error.error, Error::AttrSize { kernel: 128, .. }), "{error:?}");
    assert!(error.to_string().contains("lacks config3, which cannot be given up"), "{error}");
}

#[test]
fn data_of_a_signal_is_not_given_up_alone() {
    let flags = AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC;
    let attr = Attr::software(Software::CPU_CLOCK).with_sig_data(7);
    let kernel = Kernel::new((5, 10));
    let unused = negotiate(&attr, |attr| kernel.open(attr)).unwrap();
    assert_eq!((unused.attr.sig_data, unused.concessions.len()), (0, 1), "no signal is sent");
    let error = negotiate(&attr.with_flags(flags), |attr| kernel.open(attr)).unwrap_err();
    assert_eq!(error.missing.len(), 1);
}

#[test]
fn flags_that_the_program_relies_on_are_never_given_up() {
    let relied = AttrFlags::SIGTRAP | AttrFlags::REMOVE_ON_EXEC;
    for flags in [AttrFlags::WRITE_BACKWARD, relied, AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD] {
        let attr = Attr::software(Software::CPU_CLOCK).with_flags(flags);
        let error = negotiate(&attr, |attr| Kernel::new((4, 3)).open(attr)).unwrap_err();
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
    let refuse = |negotiation: Negotiation| negotiation.open(|attr| kernel.open(attr)).unwrap_err().error;
    let all = Negotiation::new(&attr);
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
    let missing = |negotiation: Negotiation| {
        let error = negotiation.open(|attr| kernel.open(attr)).unwrap_err();
        assert_eq!(error.attempts, 1);
        error.missing.iter().map(|field| field.name()).collect::<Vec<_>>()
    };
    let all = Negotiation::new(&attr);
    assert!(all.open(|attr| kernel.open(attr)).is_ok());
    assert_eq!(missing(all.clone().keep_clock()), ["clockid"]);
    assert_eq!(missing(all.keep_sample_type(SampleType::REGS_INTR)), ["sample_regs_intr"]);
}

#[test]
fn skid_of_software_events_is_ignored() {
    let attr =
        Attr::software(Software::CPU_CLOCK).with_precise_ip(Skid::ZERO).with_flags(AttrFlags::BUILD_ID);
    let opened = negotiate(&attr, |attr| Kernel::new((5, 10)).open(attr)).unwrap();
    assert_eq!((opened.attempts, opened.attr.flags.precise_ip()), (2, Skid::ZERO));
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
            AttrField::all().filter(|field| field.is_set(&attr) && !field.is_set(&after)).collect();
        assert_eq!((after.sample_type, cleared.len()), (attr.sample_type - field, 1));
        assert_eq!(cleared[0].name(), parameter);
    }
}
