use super::*;
use crate::{HW_EVENT_MASK, PMU_TYPE_SHIFT};
use zerocopy::IntoBytes;

mod order;

/// A constant, because every setter is `const`.
const SAMPLED: Attr = Attr::software(Software::CPU_CLOCK)
    .with_frequency(99)
    .with_sample_type(SampleType::IP.union(SampleType::TIME))
    .with_flags(AttrFlags::DISABLED)
    .with_stack_user(StackSize::DEFAULT)
    .with_wakeup_watermark(65536);

#[test]
fn setters_of_unions_set_flag_and_value() {
    assert_eq!(SAMPLED.sample_period, 99);
    assert!(SAMPLED.flags.contains(AttrFlags::FREQ | AttrFlags::WATERMARK));
    let counted = SAMPLED.with_period(1).with_wakeup_events(1);
    assert_eq!(counted.flags, AttrFlags::DISABLED);
    assert_eq!(counted.wakeup, 1);
}

#[test]
fn a_parameter_of_a_sample_field_sets_its_bit() {
    assert_eq!(SAMPLED.sample_type, SampleType::IP | SampleType::TIME | SampleType::STACK_USER);
    assert_eq!(SAMPLED.sample_stack_user, 8192);
}

#[test]
fn a_default_attr_is_zero_except_its_size() {
    let mut expected = [0; 144];
    expected[4..8].copy_from_slice(&144u32.to_ne_bytes());
    assert_eq!(Attr::default().as_bytes(), expected);
}

#[test]
fn a_hybrid_pmu_goes_into_the_upper_half_of_config() {
    let attr = Attr::cache(Cache::LL, CacheOp::READ, CacheResult::MISS).with_hybrid_pmu(9).with_hybrid_pmu(8);
    assert_eq!(attr.config >> PMU_TYPE_SHIFT, 8);
    assert_eq!(attr.config & HW_EVENT_MASK, 0x1_0002);
}

#[test]
fn a_breakpoint_uses_the_config_words() {
    let attr = Attr::breakpoint(BreakpointType::WRITE, 0x1000, BreakpointLen::FOUR);
    assert_eq!((attr.kind, attr.config), (EventType::BREAKPOINT, 0));
    assert_eq!((attr.bp_type, attr.config1, attr.config2), (BreakpointType::WRITE, 0x1000, 4));
}

#[test]
fn a_breakpoint_on_execution_has_the_length_of_a_long() {
    let attr = Attr::breakpoint_execute(0x1001);
    assert_eq!(
        (attr.kind, attr.bp_type, attr.config1),
        (EventType::BREAKPOINT, BreakpointType::EXECUTE, 0x1001)
    );
    assert_eq!(attr.config2, size_of::<core::ffi::c_long>() as u64);
}

#[test]
fn a_parameter_that_selects_nothing_clears_the_bit_of_its_field() {
    let all = SAMPLED.with_regs_user(1).with_regs_intr(2).with_aux_sample_size(64);
    let all = all.with_branch_sample_type(BranchSampleType::ANY);
    let fields = [SampleType::REGS_USER, SampleType::REGS_INTR, SampleType::AUX, SampleType::BRANCH_STACK];
    let fields = fields.iter().fold(SampleType::empty(), |all, field| all | *field);
    assert_eq!(all.sample_type, SAMPLED.sample_type | fields);
    assert_eq!((all.sample_regs_user, all.sample_regs_intr, all.aux_sample_size), (1, 2, 64));
    assert_eq!(all.branch_sample_type, BranchSampleType::ANY);

    let none = all.replace_regs_user(0).replace_regs_intr(0).with_aux_sample_size(0);
    assert_eq!(none.replace_branch_sample_type(BranchSampleType::empty()), SAMPLED);
}

#[test]
fn a_setter_changes_only_its_field() {
    type Setter = fn(Attr) -> Attr;
    let base = Attr::raw(7).with_period(5);
    let set = |change: fn(&mut Attr)| {
        let mut attr = base;
        change(&mut attr);
        attr
    };
    let setters: [(Setter, Attr); 11] = [
        (|attr| attr.with_config1(1), set(|attr| attr.config1 = 1)),
        (|attr| attr.with_config2(2), set(|attr| attr.config2 = 2)),
        (|attr| attr.with_config3(3), set(|attr| attr.config3 = 3)),
        (|attr| attr.with_config4(4), set(|attr| attr.config4 = 4)),
        (|attr| attr.with_max_stack(5), set(|attr| attr.sample_max_stack = 5)),
        (|attr| attr.with_aux_watermark(6), set(|attr| attr.aux_watermark = 6)),
        (|attr| attr.with_aux_action(AuxAction::PAUSE), set(|attr| attr.aux_action = AuxAction::PAUSE)),
        (|attr| attr.with_sig_data(8), set(|attr| attr.sig_data = 8)),
        (|attr| attr.with_size(Attr::SIZE_VER0), set(|attr| attr.size = 64)),
        (|attr| attr.with_read_format(ReadFormat::ID), set(|attr| attr.read_format = ReadFormat::ID)),
        (
            |attr| attr.with_precise_ip(Skid::CONSTANT),
            set(|attr| attr.flags = AttrFlags::empty().with_precise_ip(Skid::CONSTANT)),
        ),
    ];
    for (number, (setter, expected)) in setters.into_iter().enumerate() {
        assert_eq!(setter(base), expected, "setter {number}");
    }
}

#[test]
fn a_clock_sets_its_flag() {
    let attr = SAMPLED.with_clock(Clock::MONOTONIC_RAW);
    assert_eq!(attr.clockid, Clock::MONOTONIC_RAW);
    assert_eq!(attr.flags, SAMPLED.flags | AttrFlags::USE_CLOCKID);
}

#[test]
fn each_kind_of_event_has_its_type_and_selector() {
    let events = [
        Attr::hardware(Hardware::BUS_CYCLES),
        Attr::software(Software::DUMMY),
        Attr::tracepoint(300),
        Attr::cache(Cache::L1I, CacheOp::READ, CacheResult::MISS),
        Attr::raw(0x1234),
    ];
    let selectors = events.map(|attr| (attr.kind.0, attr.config));
    assert_eq!(selectors, [(0, 6), (1, 9), (2, 300), (3, 0x1_0001), (4, 0x1234)]);
}
