//! No setter drops what an earlier one asked for, in any order.

use super::*;

/// A setter, and whether the attr still has what the setter asked for.
type Request = (&'static str, fn(Attr) -> Attr, fn(&Attr) -> bool);

/// Each bit set twice, so that the second call could drop what the first one set, and the setters that
/// own bits of a set.
const REQUESTS: [Request; 23] = [
    (
        "sample_type 1",
        |attr| attr.with_sample_type(SampleType::IP | SampleType::TID),
        |attr| attr.sample_type.contains(SampleType::IP | SampleType::TID),
    ),
    (
        "sample_type 2",
        |attr| attr.with_sample_type(SampleType::PERIOD),
        |attr| attr.sample_type.contains(SampleType::PERIOD),
    ),
    (
        "read_format 1",
        |attr| attr.with_read_format(ReadFormat::ID),
        |attr| attr.read_format.contains(ReadFormat::ID),
    ),
    (
        "read_format 2",
        |attr| attr.with_read_format(ReadFormat::LOST),
        |attr| attr.read_format.contains(ReadFormat::LOST),
    ),
    ("flags 1", |attr| attr.with_flags(AttrFlags::DISABLED), |attr| attr.flags.contains(AttrFlags::DISABLED)),
    ("flags 2", |attr| attr.with_flags(AttrFlags::INHERIT), |attr| attr.flags.contains(AttrFlags::INHERIT)),
    (
        "branches 1",
        |attr| attr.with_branch_sample_type(BranchSampleType::ANY),
        |attr| has_branches(attr, BranchSampleType::ANY),
    ),
    (
        "branches 2",
        |attr| attr.with_branch_sample_type(BranchSampleType::USER),
        |attr| has_branches(attr, BranchSampleType::USER),
    ),
    ("regs_user 1", |attr| attr.with_regs_user(0b01), |attr| has_regs_user(attr, 0b01)),
    ("regs_user 2", |attr| attr.with_regs_user(0b10), |attr| has_regs_user(attr, 0b10)),
    ("regs_intr 1", |attr| attr.with_regs_intr(0b01), |attr| has_regs_intr(attr, 0b01)),
    ("regs_intr 2", |attr| attr.with_regs_intr(0b10), |attr| has_regs_intr(attr, 0b10)),
    (
        "stack_user",
        |attr| attr.with_stack_user(StackSize::DEFAULT),
        |attr| attr.sample_type.contains(SampleType::STACK_USER) && attr.sample_stack_user == 8192,
    ),
    (
        "aux_sample_size",
        |attr| attr.with_aux_sample_size(64),
        |attr| attr.sample_type.contains(SampleType::AUX) && attr.aux_sample_size == 64,
    ),
    (
        "aux_action 1",
        |attr| attr.with_aux_action(AuxAction::START_PAUSED),
        |attr| attr.aux_action.contains(AuxAction::START_PAUSED),
    ),
    (
        "aux_action 2",
        |attr| attr.with_aux_action(AuxAction::RESUME),
        |attr| attr.aux_action.contains(AuxAction::RESUME),
    ),
    (
        "fields with parameters",
        |attr| attr.with_sample_type(PARAMETERIZED),
        |attr| attr.sample_type.contains(PARAMETERIZED),
    ),
    ("no user registers", |attr| attr.with_regs_user(0), |_| true),
    ("no interrupt registers", |attr| attr.with_regs_intr(0), |_| true),
    ("no branches", |attr| attr.with_branch_sample_type(BranchSampleType::empty()), |_| true),
    (
        "frequency",
        |attr| attr.with_frequency(99),
        |attr| attr.flags.contains(AttrFlags::FREQ) && attr.sample_period == 99,
    ),
    ("precise_ip", |attr| attr.with_precise_ip(Skid::ZERO), |attr| attr.flags.precise_ip() == Skid::ZERO),
    (
        "wakeup_watermark",
        |attr| attr.with_wakeup_watermark(4096),
        |attr| attr.flags.contains(AttrFlags::WATERMARK) && attr.wakeup == 4096,
    ),
];

const PARAMETERIZED: SampleType = SampleType::REGS_USER
    .union(SampleType::REGS_INTR)
    .union(SampleType::BRANCH_STACK)
    .union(SampleType::STACK_USER);

fn has_branches(attr: &Attr, bits: BranchSampleType) -> bool {
    attr.branch_sample_type.contains(bits) && attr.sample_type.contains(SampleType::BRANCH_STACK)
}

fn has_regs_user(attr: &Attr, mask: u64) -> bool {
    attr.sample_regs_user & mask == mask && attr.sample_type.contains(SampleType::REGS_USER)
}

fn has_regs_intr(attr: &Attr, mask: u64) -> bool {
    attr.sample_regs_intr & mask == mask && attr.sample_type.contains(SampleType::REGS_INTR)
}

#[test]
fn no_setter_undoes_an_earlier_one() {
    for (first_name, first, has_first) in REQUESTS {
        for (second_name, second, has_second) in REQUESTS {
            let attr = second(first(Attr::default()));
            assert!(has_first(&attr), "{second_name} dropped {first_name}: {attr:?}");
            assert!(has_second(&attr), "{first_name} before {second_name}: {attr:?}");
        }
    }
}

/// Any order is reached by exchanges of two neighbors, so it is enough that each pair commutes; the
/// longer orders are samples of that.
#[test]
fn the_order_of_setters_does_not_matter() {
    let all = REQUESTS.iter().fold(Attr::default(), |attr, (_, set, _)| set(attr));
    for base in [Attr::default(), all] {
        for (first_name, first, _) in REQUESTS {
            for (second_name, second, _) in REQUESTS {
                let (one, other) = (second(first(base)), first(second(base)));
                assert_eq!(one, other, "{first_name} and {second_name}");
            }
        }
    }
    for start in 0..REQUESTS.len() {
        let orders = [1, 3, 7, 22].map(|step| (0..23).map(move |index| (start + index * step) % 23));
        for order in orders {
            let attr = order.fold(Attr::default(), |attr, index| (REQUESTS[index].1)(attr));
            assert_eq!(attr, all, "from {start}");
        }
    }
}
