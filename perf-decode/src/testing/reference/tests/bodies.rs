//! Every kind but SAMPLE: builder to reference and back, and the errors of each.

use super::*;
use crate::testing::builder::{ReadValue, ReadValues};

fn bytes(bytes: &[u8]) -> Value {
    Value::from(bytes)
}

fn list(words: &[u64]) -> Value {
    Value::numbers(words.iter().copied())
}

/// Decodes with every trailer length and compares the body.
fn body(record: &RecordBuilder, expected: &[(&'static str, Value)]) {
    for attr in
        [attr(SampleType::KNOWN), with_trailer(), attr(SampleType::TID).with_flags(AttrFlags::SAMPLE_ID_ALL)]
    {
        let attr = attr.with_read_format(ReadFormat::GROUP | ReadFormat::ID);
        let words = record.clone().with_trailer(&attr, &IDS).finish();
        let tree = decode(&words, &attr).unwrap();
        assert_eq!(tree.fields, expected);
        let has_trailer = attr.flags.contains(AttrFlags::SAMPLE_ID_ALL);
        assert_eq!(tree.sample_id("tid"), has_trailer.then_some(&Value::U64(2)));
    }
}

fn numbers(names: &[&'static str]) -> Vec<(&'static str, Value)> {
    names.iter().zip(1..).map(|(name, number)| (*name, Value::U64(number))).collect()
}

#[test]
fn kinds_of_numbers_only_survive_the_round_trip() {
    let throttle = numbers(&["time", "id", "stream_id"]);
    let task = numbers(&["pid", "ppid", "tid", "ptid", "time"]);
    body(&start(RecordType::LOST).words(&[1, 2]), &numbers(&["id", "lost"]));
    body(&start(RecordType::EXIT).u32s(&[1, 2, 3, 4]).u64(5), &task);
    body(&start(RecordType::FORK).u32s(&[1, 2, 3, 4]).u64(5), &task);
    body(&start(RecordType::THROTTLE).words(&[1, 2, 3]), &throttle);
    body(&start(RecordType::UNTHROTTLE).words(&[1, 2, 3]), &throttle);
    body(&start(RecordType::AUX).words(&[1, 2, 3]), &numbers(&["aux_offset", "aux_size", "flags"]));
    body(&start(RecordType::ITRACE_START).pair(1, 2), &numbers(&["pid", "tid"]));
    body(&start(RecordType::LOST_SAMPLES).u64(1), &numbers(&["lost"]));
    body(&start(RecordType::SWITCH), &[]);
    body(&start(RecordType::SWITCH_CPU_WIDE).pair(1, 2), &numbers(&["next_prev_pid", "next_prev_tid"]));
    body(&start(RecordType::AUX_OUTPUT_HW_ID).u64(1), &numbers(&["hw_id"]));
}

#[test]
fn kinds_with_a_string_survive_the_round_trip() {
    for name in [&b""[..], b"1234567", b"12345678", b"\xff\xfe"] {
        let mut mmap = numbers(&["pid", "tid", "addr", "len", "pgoff"]);
        mmap.push(("filename", bytes(name)));
        body(&start(RecordType::MMAP).pair(1, 2).words(&[3, 4, 5]).string(name), &mmap);
        let mut comm = numbers(&["pid", "tid"]);
        comm.push(("comm", bytes(name)));
        body(&start(RecordType::COMM).pair(1, 2).string(name), &comm);
        let mut cgroup = numbers(&["id"]);
        cgroup.push(("path", bytes(name)));
        body(&start(RecordType::CGROUP).u64(1).string(name), &cgroup);
        let mut ksymbol = numbers(&["addr", "len", "ksym_type", "flags"]);
        ksymbol.push(("name", bytes(name)));
        body(&start(RecordType::KSYMBOL).u64(1).u32s(&[2]).u16s(&[3, 4]).string(name), &ksymbol);
    }
}

#[test]
fn kinds_with_counts_survive_the_round_trip() {
    let values = vec![ReadValue { value: 3, id: 4, lost: 0 }, ReadValue { value: 5, id: 6, lost: 0 }];
    let words = ReadValues { values, ..Default::default() }.words(ReadFormat::GROUP | ReadFormat::ID);
    let tree = [3, 5].map(|n| Value::map(vec![("value", n.into()), ("id", (n + 1).into())]));
    let mut read = numbers(&["pid", "tid"]);
    read.push(("read", Value::map(vec![("values", Value::List(tree.to_vec()))])));
    body(&start(RecordType::READ).pair(1, 2).words(&words), &read);

    let tree = [3, 5].map(|n| Value::map(vec![("dev", n.into()), ("ino", (n + 1).into())]));
    let mut namespaces = numbers(&["pid", "tid"]);
    namespaces.push(("namespaces", Value::List(tree.to_vec())));
    body(&start(RecordType::NAMESPACES).pair(1, 2).words(&[2, 3, 4, 5, 6]), &namespaces);

    let deferred = [("cookie", Value::U64(1)), ("ips", list(&[3, 4]))];
    body(&start(RecordType::CALLCHAIN_DEFERRED).words(&[1, 2, 3, 4]), &deferred);
    body(
        &start(RecordType::CALLCHAIN_DEFERRED).words(&[1, 0]),
        &[("cookie", Value::U64(1)), ("ips", list(&[]))],
    );

    let mut bpf = numbers(&["bpf_type", "flags", "id"]);
    bpf.push(("tag", bytes(b"abcdefgh")));
    body(&start(RecordType::BPF_EVENT).u16s(&[1, 2]).u32s(&[3]).bytes(b"abcdefgh"), &bpf);

    for (old, new) in [(0, 0), (5, 0), (5, 7), (0, 4)] {
        let text = &b"abcdefghijklm"[..old + new];
        let poke = start(RecordType::TEXT_POKE).u64(1).u16s(&[old as u16, new as u16]).bytes_padded(text);
        let lengths = [("old_len", Value::U64(old as u64)), ("new_len", Value::U64(new as u64))];
        let mut fields = numbers(&["addr"]);
        fields.extend(lengths);
        fields.push(("bytes", bytes(text)));
        body(&poke, &fields);
    }
}

#[test]
fn mmap2_has_a_build_id_only_if_the_attr_asked_for_it() {
    let record = RecordBuilder::new(RecordType::MMAP2, Misc::MMAP_BUILD_ID)
        .pair(1, 2)
        .words(&[3, 4, 5])
        .bytes(&[3, 0, 0, 0, 0xa, 0xb, 0xc])
        .bytes(&[0; 17])
        .pair(6, 7)
        .string(b"file")
        .finish();
    let plain = attr(SampleType::empty());
    let asked = plain.with_flags(AttrFlags::BUILD_ID);
    let tree = decode(&record, &asked).unwrap();
    assert_eq!(tree.field("build_id"), Some(&bytes(&[0xa, 0xb, 0xc])));
    assert_eq!(tree.field("ino"), None);
    assert_eq!(tree.field("filename"), Some(&bytes(b"file")));
    let names: Vec<_> = decode(&record, &plain).unwrap().fields.into_iter().map(|(name, _)| name).collect();
    let inode_form = ["maj", "min", "ino", "ino_generation", "prot", "flags", "filename"];
    assert_eq!(names[5..], inode_form);
    let mut without_bit = record;
    without_bit[0] = start(RecordType::MMAP2).words(&without_bit[1..]).finish()[0];
    assert_eq!(decode(&without_bit, &asked).unwrap().field("build_id"), None);
}

#[test]
fn build_id_longer_than_20_bytes_is_refused() {
    let asked = attr(SampleType::empty()).with_flags(AttrFlags::BUILD_ID);
    for (length, accepted) in [(0, true), (20, true), (21, false), (255, false)] {
        let record = RecordBuilder::new(RecordType::MMAP2, Misc::MMAP_BUILD_ID)
            .words(&[0; 4])
            .bytes(&[length])
            .bytes(&[0; 23])
            .u64(0)
            .string(b"file")
            .finish();
        assert_eq!(decode(&record, &asked).is_ok(), accepted, "length {length}");
    }
}

#[test]
fn string_without_nul_in_its_body_is_refused() {
    // The zeros of the trailer must not end the string.
    let attr = with_trailer();
    let zero = SampleIdValues::default();
    for (head, name) in [
        (start(RecordType::COMM).u64(0), "comm"),
        (start(RecordType::MMAP).words(&[0; 4]), "filename"),
        (start(RecordType::MMAP2).words(&[0; 8]), "filename"),
        (start(RecordType::CGROUP).u64(0), "path"),
        (start(RecordType::KSYMBOL).words(&[0; 2]), "name"),
    ] {
        let open = head.clone().bytes(b"12345678").with_trailer(&attr, &zero).finish();
        assert_eq!(refused(&open, &attr), name);
        let empty = head.with_trailer(&attr, &zero).finish();
        assert_eq!(refused(&empty, &attr), name);
    }
}

#[test]
fn counts_beyond_the_body_are_refused() {
    let attr = with_trailer().with_read_format(ReadFormat::GROUP);
    for nr in [2, 1 << 61, u64::MAX] {
        for (head, name) in [
            (start(RecordType::NAMESPACES).words(&[0, nr, 1, 1]), "namespaces"),
            (start(RecordType::CALLCHAIN_DEFERRED).words(&[0, nr, 1]), "ips"),
            (start(RecordType::READ).words(&[0, nr, 1]), "read"),
        ] {
            assert_eq!(refused(&head.with_trailer(&attr, &IDS).finish(), &attr), name, "nr {nr}");
        }
    }
    let poke = start(RecordType::TEXT_POKE).u64(0).u16s(&[2, 3]).u32s(&[0]);
    assert_eq!(refused(&poke.with_trailer(&attr, &IDS).finish(), &attr), "bytes");
}
