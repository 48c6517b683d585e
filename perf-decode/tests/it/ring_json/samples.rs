//! Samples: each field alone, many together, and every read format.

use perf_abi::{Attr, BranchSampleType, Misc, ReadFormat, RecordType, SampleType, Software};
use perf_decode::testing::builder::{ReadValue, ReadValues, RecordBuilder, SampleBuilder};
use serde_json::{Map, Value, json};

use super::file::RingFile;
use super::{fields, undamaged};

/// Returns an event that samples these fields; user registers 0, 8 and 63, interrupt registers 1
/// and 2.
fn event(wanted: SampleType) -> Attr {
    Attr::software(Software::CPU_CLOCK)
        .with_read_format(ReadFormat::ID)
        .with_branch_sample_type(BranchSampleType::HW_INDEX)
        .with_regs_user(1 << 63 | 0x101)
        .with_regs_intr(0b110)
        .replace_sample_type(wanted)
}

/// Returns a sample with every field, of user space and with an exact ip.
fn sample(attr: &Attr, identifier: u64) -> Vec<u64> {
    SampleBuilder::new(attr)
        .misc(Misc::from_bits_retain(0x4002))
        .identifier(identifier)
        .ip(0xffff_ffff_815d_fd55)
        .tid(u32::MAX, 8)
        .time(u64::MAX)
        .addr(0)
        .id(13)
        .stream_id(14)
        .cpu(u32::MAX)
        .period(1 << 60)
        .read(ReadValues { values: vec![ReadValue { value: 100, id: 13, lost: 0 }], ..ReadValues::default() })
        .callchain(&[0xffff_ffff_ffff_fe00, 0x40_1000, 0])
        .raw(b"hello")
        .branches(&[[0x10, 0x20, 1], [0x30, 0x40, u64::MAX]], Some(u64::MAX), &[])
        .regs_user(2, &[7, 0xffff_ffff_ffff_ffff, 9])
        .stack_user(&[0xaa, 0xbb, 0, 0xcc, 5, 6, 7, 8, 9], 10)
        .weight(3 << 48 | 2 << 32 | 0xffff_ffff)
        .data_src(0x1e_0508_0021)
        .transaction(0x1_0000_0002)
        .regs_intr(1, &[0x1234, 0])
        .phys_addr(0x00ab_c000)
        .cgroup(348)
        .data_page_size(4096)
        .code_page_size(2 << 20)
        .aux(&[1, 2, 3])
        .finish()
}

/// Returns the JSON fields that each bit of `sample_type` adds to [`sample`].
fn printed() -> Vec<(SampleType, Value)> {
    vec![
        (SampleType::IP, json!({"ip": "0xffffffff815dfd55"})),
        (SampleType::TID, json!({"pid": -1, "tid": 8})),
        (SampleType::TIME, json!({"time": u64::MAX})),
        (SampleType::ADDR, json!({"addr": "0x0"})),
        (SampleType::ID, json!({"id": 13})),
        (SampleType::STREAM_ID, json!({"stream_id": 14})),
        (SampleType::CPU, json!({"cpu": u32::MAX})),
        (SampleType::PERIOD, json!({"period": 1_u64 << 60})),
        (SampleType::READ, json!({"read": {"value": 100, "id": 13}})),
        (SampleType::CALLCHAIN, json!({"callchain": ["0xfffffffffffffe00", "0x401000", "0x0"]})),
        (SampleType::RAW, json!({"raw": "68656c6c6f00000000000000"})),
        (
            SampleType::BRANCH_STACK,
            json!({"branches": {"nr": 2, "hw_idx": u64::MAX, "entries": [
            {"from": "0x10", "to": "0x20", "info": "0x1"},
            {"from": "0x30", "to": "0x40", "info": "0xffffffffffffffff"}]}}),
        ),
        (
            SampleType::REGS_USER,
            json!({"user_abi": 2,
            "user_regs": {"0": "0x7", "8": "0xffffffffffffffff", "63": "0x9"}}),
        ),
        (
            SampleType::STACK_USER,
            json!({"stack_size": 16, "stack_dyn_size": 10, "stack": "aabb00cc050607080900"}),
        ),
        (SampleType::WEIGHT, json!({"weight": 3_u64 << 48 | 2 << 32 | 0xffff_ffff})),
        (
            SampleType::WEIGHT_STRUCT,
            json!({"weight_struct": {"var1_dw": u32::MAX, "var2_w": 2, "var3_w": 3}}),
        ),
        (SampleType::DATA_SRC, json!({"data_src": "0x1e05080021"})),
        (SampleType::TRANSACTION, json!({"transaction": "0x100000002"})),
        (SampleType::REGS_INTR, json!({"intr_abi": 1, "intr_regs": {"1": "0x1234", "2": "0x0"}})),
        (SampleType::PHYS_ADDR, json!({"phys_addr": "0xabc000"})),
        (SampleType::CGROUP, json!({"cgroup": 348})),
        (SampleType::DATA_PAGE_SIZE, json!({"data_page_size": 4096})),
        (SampleType::CODE_PAGE_SIZE, json!({"code_page_size": 2_097_152})),
        (SampleType::AUX, json!({"aux": "0102030000000000"})),
    ]
}

/// Returns the fields of [`sample`] for an event that samples `wanted`.
fn expected(wanted: SampleType) -> Value {
    let fields = printed().into_iter().filter(|(bit, _)| wanted.contains(*bit));
    let entries = fields.flat_map(|(_, fields)| fields.as_object().unwrap().clone());
    Value::Object(entries.collect())
}

#[test]
fn each_field_is_printed_by_the_schema() {
    for (bit, fields_of_bit) in printed() {
        let attr = event(bit);
        let file = RingFile::forward().event(13, &attr).records(&[sample(&attr, 13)], 64, 0).finish();
        assert_eq!(fields(&file), [fields_of_bit], "{bit}");
    }
    let attr = event(SampleType::IDENTIFIER);
    let file = RingFile::forward().event(13, &attr).records(&[sample(&attr, 99)], 64, 0).finish();
    let whole = json!({"type": 9, "name": "SAMPLE", "misc": 0x4002, "size": 16, "snapshot": 0, "offset": 0,
                       "wraps": false, "fields": {"identifier": 99}});
    assert_eq!(undamaged(&file), [whole]);
}

#[test]
fn events_with_random_fields_share_a_ring() {
    const EVENTS: u64 = 400;
    let (mut random, mut file, mut records, mut wanted) =
        (1_u64, RingFile::forward(), Vec::new(), Vec::new());
    let listed = printed().into_iter().fold(SampleType::IDENTIFIER, |all, (bit, _)| all | bit);
    for id in 0..EVENTS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut fields = SampleType::from_bits_retain(random >> 37 & listed.bits()) | SampleType::IDENTIFIER;
        if fields.contains(SampleType::WEIGHT) {
            fields.remove(SampleType::WEIGHT_STRUCT);
        }
        let attr = event(fields);
        file = file.event(1000 + id, &attr);
        records.push(sample(&attr, 1000 + id));
        wanted.push(fields);
    }
    let found = undamaged(&file.records(&records, 1 << 15, 0).finish());
    assert_eq!(found.len() as u64, EVENTS);
    for ((index, found), wanted) in found.iter().enumerate().zip(wanted) {
        let mut fields = expected(wanted);
        fields["identifier"] = (1000 + index).into();
        assert_eq!((&found["attr"], &found["fields"]), (&index.into(), &fields), "{wanted}");
    }
}

#[test]
fn empty_fields_are_printed() {
    let wanted = SampleType::CALLCHAIN
        | SampleType::RAW
        | SampleType::BRANCH_STACK
        | SampleType::REGS_USER
        | SampleType::STACK_USER
        | SampleType::REGS_INTR
        | SampleType::AUX
        | SampleType::CGROUP;
    let attr = event(wanted);
    for hw_idx in [None, Some(5)] {
        let sample = SampleBuilder::new(&attr).branches(&[], hw_idx, &[]).cgroup(348).finish();
        let file = RingFile::forward().event(13, &attr).records(&[sample], 64, 0).finish();
        let mut branches = json!({"nr": 0, "entries": []});
        if let Some(index) = hw_idx {
            branches["hw_idx"] = index.into();
        }
        // The raw data of a sample without any are 4 bytes of padding.
        let expected = json!({"callchain": [], "raw": "00000000", "branches": branches, "user_abi": 0,
                              "stack_size": 0, "intr_abi": 0, "aux": "", "cgroup": 348});
        assert_eq!(fields(&file), [expected]);
    }
}

#[test]
fn branch_counters_without_the_flag_are_printed() {
    let attr = event(SampleType::BRANCH_STACK);
    let sample = SampleBuilder::new(&attr).branches(&[[1, 2, 3]], Some(4), &[0xff]).finish();
    let file = RingFile::forward().event(13, &attr).records(&[sample], 64, 0).finish();
    let expected = json!({"branches": {"nr": 1, "hw_idx": 4, "counters": ["0xff"],
                                       "entries": [{"from": "0x1", "to": "0x2", "info": "0x3"}]}});
    assert_eq!(fields(&file), [expected]);
}

/// Returns the expected JSON of the counts of three events in this format.
fn counts(format: ReadFormat) -> Value {
    let mut whole = Map::new();
    for (bit, name, time) in [
        (ReadFormat::TOTAL_TIME_ENABLED, "time_enabled", 20),
        (ReadFormat::TOTAL_TIME_RUNNING, "time_running", 10),
    ] {
        if format.contains(bit) {
            whole.insert(name.into(), time.into());
        }
    }
    let count = |value: u64| {
        let mut count = Map::from_iter([("value".to_owned(), json!(value))]);
        if format.contains(ReadFormat::ID) {
            count.insert("id".into(), (value + 100).into());
        }
        if format.contains(ReadFormat::LOST) {
            count.insert("lost".into(), (value + 200).into());
        }
        count
    };
    if format.contains(ReadFormat::GROUP) {
        whole.insert("values".into(), json!([count(1), count(2), count(3)]));
    } else {
        whole.extend(count(1));
    }
    whole.into()
}

#[test]
fn counts_of_every_read_format_are_printed() {
    let (mut file, mut records, mut expected) = (RingFile::forward(), Vec::new(), Vec::new());
    let value = |value: u64| ReadValue { value, id: value + 100, lost: value + 200 };
    let values =
        ReadValues { time_enabled: 20, time_running: 10, values: vec![value(1), value(2), value(3)] };
    for bits in 0..32 {
        let format = ReadFormat::from_bits_retain(bits);
        // A field after the counts detects a wrong length.
        let attr = event(SampleType::IDENTIFIER | SampleType::READ | SampleType::CGROUP)
            .replace_read_format(format)
            .with_flags(perf_abi::AttrFlags::SAMPLE_ID_ALL);
        file = file.event(bits, &attr);
        let sample = SampleBuilder::new(&attr).identifier(bits).read(values.clone()).cgroup(348);
        records.push(sample.finish());
        expected.push(json!({"identifier": bits, "read": counts(format), "cgroup": 348}));
        let read = RecordBuilder::new(RecordType::READ, Misc::empty())
            .pair(7, 8) //                pid, tid
            .words(&values.words(format)) // the block
            .u64(bits); //                the trailer: identifier
        records.push(read.finish());
        expected.push(json!({"pid": 7, "tid": 8, "read": counts(format), "sample_id": {"identifier": bits}}));
    }
    let file = file.records(&records, 1024, 0).finish();
    let found = fields(&file);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}

#[test]
fn sample_enlarged_by_another_event_is_decoded() {
    let attr =
        Attr::software(Software::PAGE_FAULTS).with_sample_type(SampleType::IDENTIFIER | SampleType::IP);
    // identifier, ip; four words of another event
    let words = [13, 0x40_1000, 1, 2, 3, 4];
    let record = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&words).finish();
    let file = RingFile::forward().event(13, &attr).records(&[record], 64, 0).finish();
    let expected = json!({"type": 9, "name": "SAMPLE", "misc": 0, "size": 56, "snapshot": 0, "offset": 0,
                          "wraps": false, "fields": {"identifier": 13, "ip": "0x401000"}, "trailing": 32});
    assert_eq!(undamaged(&file), [expected]);
}

#[test]
fn branch_stack_with_two_readings_is_marked() {
    let attr = Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::BRANCH_STACK | SampleType::REGS_USER)
        .with_regs_user(1);
    // nr, from, to, info; then abi and one register, or the counters and an abi of 0.
    let words = [1, 0x10, 0x20, 1, 2, 0];
    let record = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).words(&words).finish();
    let file = RingFile::forward().event(13, &attr).records(&[record], 64, 0).finish();
    let found = undamaged(&file).remove(0);
    assert_eq!((&found["ambiguous"], &found["trailing"]), (&json!(true), &Value::Null));
    assert_eq!(
        (&found["fields"]["branches"]["counters"], &found["fields"]["user_abi"]),
        (&Value::Null, &json!(2))
    );
}
