//! Rules of SAMPLE.

use super::*;
use crate::testing::builder::{ReadValue, ReadValues};

#[test]
fn fields_have_the_order_of_the_kernel() {
    // The fields up to Linux 6.19. Newer ones are tested against the other decoder.
    let fields = SampleType::from_bits_retain(0x1ff_ffff).difference(SampleType::WEIGHT);
    let attr = attr(fields).with_regs_user(0b101).with_regs_intr(2);
    let sample = SampleBuilder::new(&attr)
        .identifier(1)
        .ip(2)
        .tid(3, 4)
        .time(5)
        .addr(6)
        .id(7)
        .stream_id(8)
        .cpu(9)
        .period(10)
        .read(ReadValues {
            values: vec![ReadValue { value: 11, ..Default::default() }],
            ..Default::default()
        })
        .callchain(&[12])
        .raw(b"13")
        .branches(&[[14, 15, 16]], None, &[])
        .regs_user(2, &[17, 18])
        .stack_user(&[19; 8], 8)
        .weight(20)
        .data_src(21)
        .transaction(22)
        .regs_intr(1, &[23])
        .phys_addr(24)
        .cgroup(25)
        .data_page_size(26)
        .code_page_size(27)
        .aux(&[28]);
    let tree = decode(&sample.finish(), &attr).unwrap();
    let names: Vec<_> = tree.fields.iter().map(|(name, _)| *name).collect();
    let order = "identifier ip pid tid time addr id stream_id cpu period read callchain raw branches user_abi \
        user_regs stack_size stack_dyn_size stack weight data_src transaction intr_abi intr_regs phys_addr cgroup \
        data_page_size code_page_size aux";
    assert_eq!(names, order.split_whitespace().collect::<Vec<_>>());
    let numbers: Vec<_> = tree.fields.iter().filter_map(|(_, value)| value.as_u64()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2, 8, 8, 20, 21, 22, 1, 24, 25, 26, 27]);
    assert_eq!(tree.field("raw"), Some(&Value::from(&b"13\0\0"[..])));
    assert_eq!(tree.field("user_regs").unwrap().get("2"), Some(&Value::U64(18)));
    assert_eq!(tree.field("intr_regs").unwrap().get("1"), Some(&Value::U64(23)));
    assert_eq!(tree.field("stack"), Some(&Value::Bytes(vec![19; 8])));
    assert_eq!(tree.field("aux"), Some(&Value::Bytes(vec![28, 0, 0, 0, 0, 0, 0, 0])));
}

#[test]
fn every_read_format_ends_before_the_next_field() {
    let values = vec![ReadValue { value: 1, id: 2, lost: 3 }, ReadValue { value: 4, id: 5, lost: 6 }];
    let values = ReadValues { time_enabled: 7, time_running: 8, values };
    for bits in 0..32 {
        let attr = attr(SampleType::READ | SampleType::DATA_SRC)
            .with_read_format(ReadFormat::from_bits_retain(bits));
        let tree =
            decode(&SampleBuilder::new(&attr).read(values.clone()).data_src(9).finish(), &attr).unwrap();
        assert_eq!(tree.field("data_src"), Some(&Value::U64(9)));
        let read = tree.field("read").unwrap();
        let group = read.get("values").and_then(Value::as_list);
        assert_eq!(group.is_some(), bits & 8 != 0);
        let last = group.map_or(read, |entries| &entries[1]);
        let shift = if group.is_some() { 3 } else { 0 };
        assert_eq!(last.get("value"), Some(&Value::U64(1 + shift)));
        assert_eq!(last.get("id"), (bits & 4 != 0).then_some(&Value::U64(2 + shift)));
        assert_eq!(last.get("lost"), (bits & 16 != 0).then_some(&Value::U64(3 + shift)));
        assert_eq!(read.get("time_enabled"), (bits & 1 != 0).then_some(&Value::U64(7)));
        assert_eq!(read.get("time_running"), (bits & 2 != 0).then_some(&Value::U64(8)));
    }
}

#[test]
fn unknown_sample_type_bits_are_refused_in_samples_and_trailers() {
    let first_unknown = u64::BITS - SampleType::KNOWN.bits().leading_zeros();
    let attr = attr(SampleType::from_bits_retain(1 << first_unknown | 2));
    let lost = start(RecordType::LOST_SAMPLES).words(&[0, 0]).finish();
    assert_eq!(refused(&start(RecordType::SAMPLE).words(&[0, 0]).finish(), &attr), "sample_type");
    assert!(decode(&lost, &attr).is_ok());
    assert_eq!(refused(&lost, &attr.with_flags(AttrFlags::SAMPLE_ID_ALL)), "sample_type");
}

#[test]
fn unknown_bits_of_counts_and_branches_are_refused_where_these_are() {
    let counts = attr(SampleType::READ).with_read_format(ReadFormat::from_bits_retain(1 << 5));
    assert_eq!(refused(&start(RecordType::SAMPLE).words(&[0, 0]).finish(), &counts), "read_format");
    assert_eq!(refused(&start(RecordType::READ).words(&[0, 0]).finish(), &counts), "read_format");
    assert!(decode(&start(RecordType::LOST_SAMPLES).u64(0).finish(), &counts).is_ok());
    let unknown = BranchSampleType::from_bits_retain(1 << 50);
    let branches = attr(SampleType::BRANCH_STACK).with_branch_sample_type(unknown);
    assert_eq!(refused(&start(RecordType::SAMPLE).u64(0).finish(), &branches), "branch_sample_type");
    let no_branches = branches.replace_sample_type(SampleType::IP);
    assert!(decode(&start(RecordType::SAMPLE).u64(0).finish(), &no_branches).is_ok());
}

#[test]
fn bytes_after_the_last_field_are_trailing() {
    let attr = attr(SampleType::IP);
    let decoded = |words: &[u64]| decode(&start(RecordType::SAMPLE).words(words).finish(), &attr);
    assert_eq!(decoded(&[1]).unwrap().trailing, 0);
    let longer = decoded(&[1, 2, 3]).unwrap();
    assert_eq!((longer.fields, longer.trailing), (vec![("ip", Value::U64(1))], 16));
    assert_eq!(decoded(&[]).unwrap_err().field, "ip");
}

#[test]
fn counts_beyond_the_sample_are_refused() {
    let group = attr(SampleType::READ).with_read_format(ReadFormat::GROUP);
    for nr in [2, 1 << 61, u64::MAX / 24 + 1, u64::MAX] {
        let record = start(RecordType::SAMPLE).words(&[nr, 0]).finish();
        assert_eq!(refused(&record, &attr(SampleType::CALLCHAIN)), "callchain");
        assert_eq!(refused(&record, &attr(SampleType::BRANCH_STACK)), "branches");
        assert_eq!(refused(&record, &group), "read");
        let aligned = start(RecordType::SAMPLE).words(&[nr & !7 | 16, 0]).finish();
        assert_eq!(refused(&aligned, &attr(SampleType::AUX)), "aux");
        assert_eq!(refused(&aligned, &attr(SampleType::STACK_USER)), "stack");
    }
    let record = start(RecordType::SAMPLE).u32s(&[u32::MAX - 3, 0]).finish();
    assert_eq!(refused(&record, &attr(SampleType::RAW)), "raw");
}

#[test]
fn raw_must_end_at_a_multiple_of_8() {
    let attr = attr(SampleType::RAW);
    for (size, accepted) in [(4, true), (0, false), (3, false), (8, false), (12, false)] {
        let record = start(RecordType::SAMPLE).u32s(&[size, 0]).finish();
        assert_eq!(decode(&record, &attr).is_ok(), accepted, "size {size}");
    }
    for length in 0..20 {
        let tree = decode(&SampleBuilder::new(&attr).raw(&vec![1; length]).finish(), &attr).unwrap();
        let raw = tree.field("raw").and_then(Value::as_bytes).unwrap();
        assert_eq!(raw[..length], vec![1; length]);
        assert_eq!((raw.len() + 4) % 8, 0);
    }
}

#[test]
fn stack_and_aux_sizes_must_be_multiples_of_8() {
    let record = start(RecordType::SAMPLE).words(&[4, 0, 0]).finish();
    assert_eq!(refused(&record, &attr(SampleType::STACK_USER)), "stack");
    assert_eq!(refused(&record, &attr(SampleType::AUX)), "aux");
}

#[test]
fn stack_ends_at_dyn_size() {
    let attr = attr(SampleType::STACK_USER);
    let stack = [1, 2, 3, 4, 5, 6, 7, 8];
    for (dyn_size, valid) in [(0, 0), (3, 3), (8, 8), (9, 8), (u64::MAX, 8)] {
        let tree = decode(&SampleBuilder::new(&attr).stack_user(&stack, dyn_size).finish(), &attr).unwrap();
        assert_eq!(tree.field("stack_size"), Some(&Value::U64(8)));
        assert_eq!(tree.field("stack_dyn_size"), Some(&Value::U64(valid as u64)));
        assert_eq!(tree.field("stack"), Some(&Value::from(&stack[..valid])));
    }
}

#[test]
fn stack_of_size_0_has_no_dyn_size() {
    let attr = attr(SampleType::STACK_USER | SampleType::DATA_SRC);
    let tree = decode(&SampleBuilder::new(&attr).data_src(5).finish(), &attr).unwrap();
    assert_eq!(tree.fields, [("stack_size", Value::U64(0)), ("data_src", Value::U64(5))]);
}

#[test]
fn last_field_after_the_extra_word_of_an_empty_stack_is_absent() {
    let regs = SampleType::REGS_USER | SampleType::STACK_USER;
    let two = attr(regs | SampleType::WEIGHT | SampleType::DATA_SRC).with_regs_user(1);
    let sample = |words: &[u64]| start(RecordType::SAMPLE).words(words).finish();
    // abi, register, size, dyn_size, weight; data_src is lost
    let tree = decode(&sample(&[2, 7, 0, 0, 20]), &two).unwrap();
    assert_eq!((tree.field("weight"), tree.field("data_src")), (Some(&Value::U64(20)), None));
    assert!(tree.is_truncated);
    assert_eq!(refused(&sample(&[2, 7, 0, 0]), &two), "data_src");
    // The kernel's word is 0.
    let tree = decode(&sample(&[2, 7, 0, 20, 21]), &two).unwrap();
    assert_eq!((tree.field("data_src"), tree.is_truncated), (Some(&Value::U64(21)), false));
    // The last field is one of several words, or its size.
    let last = |bit| attr(regs | bit).with_regs_user(1).with(|attr| attr.sample_regs_intr = 0b11);
    for (bit, kept, damaged) in [
        (SampleType::AUX, &[2, 7, 0, 0, 16, 30][..], &[2, 7, 0, 0, 16][..]),
        (SampleType::AUX, &[2, 7, 0, 0], &[2, 7, 0]),
        (SampleType::REGS_INTR, &[2, 7, 0, 0, 1, 30], &[2, 7, 0, 0, 1]),
        (SampleType::REGS_INTR, &[2, 7, 0, 0], &[2, 7, 0]),
    ] {
        let tree = decode(&sample(kept), &last(bit)).unwrap();
        assert_eq!((tree.fields.len(), tree.is_truncated, tree.trailing), (3, true, 0), "{bit:?}");
        assert!(decode(&sample(damaged), &last(bit)).is_err(), "{bit:?}");
    }
    // A kernel that reserved space for the word would write this.
    let tree = decode(&sample(&[2, 7, 0, 0, 20, 21]), &two).unwrap();
    assert_eq!(
        (tree.field("weight"), tree.field("data_src")),
        (Some(&Value::U64(20)), Some(&Value::U64(21)))
    );
    assert_eq!(tree.field("stack_dyn_size"), None);
    // Without registers the extra word is missing: abi, size, weight, data_src
    assert!(decode(&sample(&[0, 0, 20, 21]), &two).is_ok());
    // Nothing remains, so nothing is skipped.
    let last = attr(regs).with_regs_user(1);
    assert!(decode(&sample(&[2, 7, 0]), &last).is_ok());
    assert!(decode(&sample(&[2, 7, 0, 0]), &last).is_ok());
    assert_eq!(decode(&sample(&[2, 7, 0, 0, 0]), &last).unwrap().trailing, 8);
}

#[test]
fn register_abi_other_than_0_1_and_2_is_refused() {
    for (bit, name) in [(SampleType::REGS_USER, "user_abi"), (SampleType::REGS_INTR, "intr_abi")] {
        let mut attr = attr(bit);
        (attr.sample_regs_user, attr.sample_regs_intr) = (3, 3);
        let sample = |words: &[u64]| start(RecordType::SAMPLE).words(words).finish();
        assert_eq!(decode(&sample(&[0]), &attr).unwrap().fields, [(name, Value::U64(0))]);
        assert!(decode(&sample(&[1, 10, 11]), &attr).is_ok());
        assert!(decode(&sample(&[2, 10, 11]), &attr).is_ok());
        assert_eq!(refused(&sample(&[3, 10, 11]), &attr), name);
        assert!(decode(&sample(&[2, 10]), &attr).is_err());
    }
}

#[test]
fn weight_and_weight_struct_together_are_one_word() {
    let attr = attr(SampleType::WEIGHT | SampleType::WEIGHT_STRUCT);
    let record = start(RecordType::SAMPLE).u64(5).finish();
    assert_eq!(decode(&record, &attr).unwrap().fields, [("weight", Value::U64(5))]);
}
