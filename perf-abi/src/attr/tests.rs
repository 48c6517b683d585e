use super::*;
use crate::{HW_EVENT_MASK, PMU_TYPE_SHIFT};
use zerocopy::IntoBytes;

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
