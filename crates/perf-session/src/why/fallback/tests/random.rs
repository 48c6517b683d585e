//! Random attrs on random releases.

use proptest::prelude::*;

use super::*;

/// Flags without a rule about other fields.
fn flags() -> impl Strategy<Value = AttrFlags> {
    any::<u64>().prop_map(|bits| AttrFlags::from_bits_retain(bits) & newest_flags())
}

fn attr() -> impl Strategy<Value = Attr> {
    let samples = any::<u64>().prop_map(SampleType::from_bits_retain);
    let reads = any::<u64>().prop_map(ReadFormat::from_bits_retain);
    (flags(), samples, reads, any::<[bool; 4]>()).prop_map(
        |(flags, samples, reads, [clock, regs, stack, depth])| {
            let parameters = SampleType::REGS_USER
                | SampleType::REGS_INTR
                | SampleType::STACK_USER
                | SampleType::BRANCH_STACK
                | SampleType::AUX
                | SampleType::WEIGHT
                | SampleType::WEIGHT_STRUCT
                | SampleType::READ;
            let attr = Attr::hardware(Hardware::CPU_CYCLES)
                .with_flags(flags)
                .with_sample_type((samples & SampleType::KNOWN) - parameters)
                .with_read_format(reads & ReadFormat::KNOWN);
            let attr = if clock { attr.with_clock(Clock::MONOTONIC) } else { attr };
            let attr = if regs { attr.with_regs_user(3).with_regs_intr(1) } else { attr };
            let attr = if stack { attr.with_stack_user(StackSize::MAX) } else { attr };
            if depth { attr.with_max_stack(10) } else { attr }
        },
    )
}

fn release() -> impl Strategy<Value = (u8, u8)> {
    prop_oneof![(Just(2_u8), 31..40_u8), (Just(3_u8), 0..20_u8), (4..7_u8, 0..20_u8)]
}

proptest! {
    #[test]
    fn what_is_granted_is_what_both_know(asked in attr(), release in release()) {
        let kernel = Kernel::new(release);
        let fallback = AttrFallback::new(&asked);
        let opened = fallback.open(|attr| kernel.open(attr)).unwrap();
        let granted = opened.attr;
        prop_assert_eq!(granted.flags.bits(), asked.flags.bits() & kernel.flags());
        prop_assert_eq!(granted.sample_type.bits(), asked.sample_type.bits() & kernel.samples());
        prop_assert_eq!(granted.read_format.bits(), asked.read_format.bits() & kernel.reads());
        prop_assert_eq!(opened.dropped.is_empty(), granted.with(|attr| attr.size = asked.size) == asked);
        prop_assert!(opened.attempts <= fallback.max_attempts());
        // The same attr again is accepted at once, so nothing else was missing.
        prop_assert_eq!(AttrFallback::new(&granted).open(|attr| kernel.open(attr)).unwrap().attempts, 1);
    }
}
