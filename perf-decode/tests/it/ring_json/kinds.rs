//! Every kind of side-band record, compared with its expected JSON.

use perf_abi::{Attr, AttrFlags, Misc, ReadFormat, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
use serde_json::{Value, json};

use super::file::RingFile;
use super::{fields, undamaged};

/// All fields of a trailer, and READ records of one count with its time.
const ATTR: Attr = Attr::software(Software::DUMMY)
    .with_sample_type(
        SampleType::TID
            .union(SampleType::TIME)
            .union(SampleType::ID)
            .union(SampleType::STREAM_ID)
            .union(SampleType::CPU)
            .union(SampleType::IDENTIFIER),
    )
    .with_read_format(ReadFormat::TOTAL_TIME_ENABLED)
    .with_flags(AttrFlags::SAMPLE_ID_ALL.union(AttrFlags::BUILD_ID));

const TRAILER: SampleIdValues = SampleIdValues {
    pid: u32::MAX,
    tid: 11,
    time: 1 << 63 | 1,
    id: 13,
    stream_id: 14,
    cpu: 15,
    identifier: u64::MAX,
};

/// Kind, misc, the record without a trailer, and the expected fields.
type Case = (u32, u16, RecordBuilder, Value);

fn case(kind: u32, misc: u16, body: impl FnOnce(RecordBuilder) -> RecordBuilder, fields: Value) -> Case {
    (kind, misc, body(RecordBuilder::new(RecordType(kind), Misc::from_bits_retain(misc))), fields)
}

/// Returns records with names: empty, up to the end of a word, one byte longer, and not UTF-8.
fn named() -> Vec<Case> {
    let mapping = |name: &'static [u8]| {
        move |body: RecordBuilder| {
            body.pair(u32::MAX, 0) //                                    pid, tid
                .words(&[0xffff_ffff_8100_0000, 0x12, u64::MAX]) //      addr, len, pgoff
                .string(name) //                                         filename
        }
    };
    let mapped = |name: &str| {
        json!({"pid": -1, "tid": 0, "addr": "0xffffffff81000000", "len": "0x12",
               "pgoff": "0xffffffffffffffff", "filename": name})
    };
    let comm = |name: &'static [u8]| move |body: RecordBuilder| body.pair(7, 8).string(name);
    let named = |name: &str| json!({"pid": 7, "tid": 8, "comm": name});
    let cgroup = |body: RecordBuilder| body.u64(348).string("/a \"b\"\u{1f980}".as_bytes());
    vec![
        case(1, 0x2, mapping(b"//anon"), mapped("//anon")),
        case(1, 0x2002, mapping(b""), mapped("")),
        case(1, 0x2, mapping(b"/tmp/\xff\xc3\x28"), mapped("/tmp/\u{fffd}\u{fffd}(")),
        case(3, 0, comm(b"sh"), named("sh")),
        case(3, 0x2000, comm(b"1234567"), named("1234567")),
        case(3, 0, comm(b"12345678"), named("12345678")),
        case(3, 0, comm(b"a\tb\\\"\x1b\x7f"), named("a\tb\\\"\u{1b}\u{7f}")),
        case(3, 0, comm(b"\xf0\x9f\xa6end"), named("\u{fffd}end")),
        case(19, 0, cgroup, json!({"id": 348, "path": "/a \"b\"\u{1f980}"})),
    ]
}

fn mapped_files() -> Vec<Case> {
    let mmap2 = |file: [u64; 3]| {
        move |body: RecordBuilder| {
            body.pair(7, 8) //                  pid, tid
                .words(&[0x40_0000, 0x1000, 0]) // addr, len, pgoff
                .words(&file) //                maj, min, ino, generation; or the build id
                .pair(5, 2) //                  prot, flags
                .string(b"/bin/true")
        }
    };
    let mapped = |file: Value| {
        let mut fields = json!({"pid": 7, "tid": 8, "addr": "0x400000", "len": "0x1000", "pgoff": "0x0",
                                "prot": 5, "flags": 2, "filename": "/bin/true"});
        fields.as_object_mut().unwrap().extend(file.as_object().unwrap().clone());
        fields
    };
    // u8 size, three reserved bytes, u8[20] id.
    let id = [3 | 0x0403_0201 << 32, 0x0c0b_0a09_0807_0605, 0x1413_1211_100f_0e0d];
    let inode = json!({"maj": 254, "min": 1, "ino": u64::MAX, "ino_generation": 9});
    vec![
        case(10, 0x2, mmap2([0xfe | 1 << 32, u64::MAX, 9]), mapped(inode)),
        case(10, 0x4002, mmap2(id), mapped(json!({"build_id": "010203"}))),
        case(
            10,
            0x6002,
            mmap2([id[0] + 17, id[1], id[2]]),
            mapped(json!({"build_id": "0102030405060708090a0b0c0d0e0f1011121314"})),
        ),
    ]
}

fn numbers() -> Vec<Case> {
    let task = |body: RecordBuilder| body.pair(u32::MAX, 8);
    let family = |body: RecordBuilder| body.pair(1, 2).pair(3, u32::MAX).u64(5);
    let families = json!({"pid": 1, "ppid": 2, "tid": 3, "ptid": -1, "time": 5});
    let throttle = |body: RecordBuilder| body.words(&[1, 2, u64::MAX]);
    let throttled = json!({"time": 1, "id": 2, "stream_id": u64::MAX});
    let next = json!({"next_prev_pid": -1, "next_prev_tid": 8});
    vec![
        case(2, 0, |body| body.words(&[13, u64::MAX]), json!({"id": 13, "lost": u64::MAX})),
        case(4, 0, family, families.clone()),
        case(7, 0x2000, family, families),
        case(5, 0, throttle, throttled.clone()),
        case(6, 0, throttle, throttled),
        case(
            8,
            0,
            |body| body.pair(7, 8).words(&[100, 50]),
            json!({"pid": 7, "tid": 8, "read": {"value": 100, "time_enabled": 50}}),
        ),
        case(
            11,
            0,
            |body| body.words(&[4096, 64, 1 << 40 | 0x101]),
            json!({"aux_offset": 4096, "aux_size": 64, "flags": "0x10000000101"}),
        ),
        case(12, 0, task, json!({"pid": -1, "tid": 8})),
        case(13, 0x8000, |body| body.u64(9), json!({"lost": 9})),
        case(14, 0, |body| body, json!({})),
        case(14, 0x2000, |body| body, json!({})),
        case(14, 0x6000, |body| body, json!({})),
        case(15, 0, task, next.clone()),
        case(15, 0x6000, task, next),
        case(21, 0, |body| body.u64(0xabc), json!({"hw_id": "0xabc"})),
    ]
}

fn lists() -> Vec<Case> {
    let namespaces = |count: u64| {
        move |body: RecordBuilder| {
            let links = (0..count).flat_map(|index| [4, 0xf000_0000 + index]); // dev, inode
            body.pair(7, 8).u64(count).words(&links.collect::<Vec<_>>())
        }
    };
    let links = |count: u64| {
        let links: Vec<_> = (0..count).map(|index| json!({"dev": 4, "ino": 0xf000_0000 + index})).collect();
        json!({"pid": 7, "tid": 8, "namespaces": links})
    };
    vec![
        case(16, 0, namespaces(0), links(0)),
        case(16, 0, namespaces(7), links(7)),
        case(22, 0x2, |body| body.words(&[0xabc, 0]), json!({"cookie": "0xabc", "ips": []})),
        case(
            22,
            0x2,
            |body| body.words(&[u64::MAX, 2, 0x40_1000, 0]),
            json!({"cookie": "0xffffffffffffffff", "ips": ["0x401000", "0x0"]}),
        ),
    ]
}

/// Returns records of the kinds whose copies some kernels enlarge after the trailer.
fn growing() -> Vec<Case> {
    let symbol = |name: &'static [u8]| {
        // addr; len; ksym_type, flags; name
        move |body: RecordBuilder| body.u64(0xffff_ffff_c002_2124).u32s(&[20]).u16s(&[1, 1]).string(name)
    };
    let symbols = |name: &str| json!({"len": 20, "ksym_type": 1, "flags": 1, "addr": "0xffffffffc0022124", "name": name});
    // type, flags; id; tag
    let bpf = |body: RecordBuilder| body.u16s(&[2, 1]).u32s(&[131]).bytes(&[0x59, 0xf4, 0, 1, 2, 3, 4, 0xff]);
    let poke = |old: &'static [u8], new: &'static [u8]| {
        // addr; old_len, new_len; the old bytes and the new
        let lengths = [old.len() as u16, new.len() as u16];
        move |body: RecordBuilder| body.u64(0xff00).u16s(&lengths).bytes(old).bytes_padded(new)
    };
    vec![
        case(17, 0, symbol(b"bpf_prog_59f4a931744dcdc6"), symbols("bpf_prog_59f4a931744dcdc6")),
        case(17, 0, symbol(b"1234567"), symbols("1234567")),
        case(18, 0, bpf, json!({"bpf_type": 2, "flags": 1, "id": 131, "tag": "59f40001020304ff"})),
        case(
            20,
            0x1,
            poke(b"\x01\x02", b"\x03\x04\x05"),
            json!({"addr": "0xff00", "old_len": 2, "new_len": 3, "bytes": "0102030405"}),
        ),
        case(20, 0x1, poke(b"", b""), json!({"addr": "0xff00", "old_len": 0, "new_len": 0, "bytes": ""})),
        case(
            20,
            0x1,
            poke(b"\x90\x90\x90\x90", b""),
            json!({"addr": "0xff00", "old_len": 4, "new_len": 0, "bytes": "90909090"}),
        ),
    ]
}

fn all() -> Vec<Case> {
    [named(), mapped_files(), numbers(), lists(), growing()].concat()
}

#[test]
fn every_kind_is_printed_by_the_schema() {
    let (mut records, mut expected, mut offset) = (Vec::new(), Vec::new(), 0);
    for (kind, misc, record, mut fields) in all() {
        let record = record.with_trailer(&ATTR, &TRAILER).finish();
        let size = record.len() * 8;
        fields["sample_id"] = json!({"pid": -1, "tid": 11, "time": 0x8000_0000_0000_0001_u64, "id": 13,
                                     "stream_id": 14, "cpu": 15, "identifier": u64::MAX});
        expected.push(json!({"type": kind, "name": RecordType(kind).name(), "misc": misc, "size": size,
                             "snapshot": 0, "offset": offset, "wraps": false, "fields": fields}));
        records.push(record);
        offset += size;
    }
    let file = RingFile::forward().event(13, &ATTR).records(&records, 1024, 0).finish();
    assert_eq!(undamaged(&file), expected);
}

#[test]
fn record_without_sample_id_all_has_no_trailer() {
    let attr = ATTR.without_flags(AttrFlags::SAMPLE_ID_ALL);
    let (records, expected): (Vec<_>, Vec<_>) =
        all().into_iter().map(|(_, _, record, fields)| (record.finish(), fields)).unzip();
    let file = RingFile::forward().event(13, &attr).records(&records, 1024, 0).finish();
    assert_eq!(fields(&file), expected);
}

#[test]
fn words_after_the_trailer_are_not_read() {
    for trailing in [1, 6, 18] {
        let build = |(_, _, record, mut fields): Case| {
            fields["sample_id"] = json!({"tid": 11, "pid": -1, "time": TRAILER.time, "id": 13,
                                         "stream_id": 14, "cpu": 15, "identifier": u64::MAX});
            let record = record.with_trailer(&ATTR, &TRAILER).words(&vec![0xdead_beef; trailing]);
            (record.finish(), fields)
        };
        let (records, expected): (Vec<_>, Vec<_>) = growing().into_iter().map(build).unzip();
        let file = RingFile::forward().event(13, &ATTR).records(&records, 1024, 0).finish();
        assert_eq!(fields(&file), expected, "{trailing} words");
    }
}

#[test]
fn unclaimed_words_before_and_after_a_trailer_are_trailing_bytes() {
    let newer = RecordBuilder::new(RecordType::LOST, Misc::empty())
        .words(&[13, 5]) // id, lost
        .words(&[77, 78]) // fields of a newer kernel
        .with_trailer(&ATTR, &TRAILER);
    let grown = RecordBuilder::new(RecordType::BPF_EVENT, Misc::empty())
        .u16s(&[1, 0]) // type, flags
        .u32s(&[131]) // id
        .u64(7) // tag
        .with_trailer(&ATTR, &TRAILER)
        .words(&[0xdead_beef]); // not written by the kernel
    let records = [newer.finish(), grown.finish()];
    let found = undamaged(&RingFile::forward().event(13, &ATTR).records(&records, 64, 0).finish());
    assert_eq!((&found[0]["trailing"], &found[1]["trailing"]), (&json!(16), &json!(8)));
    assert_eq!(found[0]["fields"]["lost"], 5);
    assert!(found.iter().all(|record| record["fields"]["sample_id"]["tid"] == 11));
}

#[test]
fn build_id_bit_without_the_build_id_flag_is_ignored() {
    let attr = ATTR.without_flags(AttrFlags::BUILD_ID | AttrFlags::SAMPLE_ID_ALL);
    let (_, _, record, _) = mapped_files().pop().unwrap();
    let file = RingFile::forward().event(13, &attr).records(&[record.finish()], 64, 0).finish();
    let fields = fields(&file);
    assert_eq!(fields[0]["maj"], 20);
    assert_eq!(fields[0]["build_id"], Value::Null);
}

#[test]
fn unknown_kinds_are_printed_as_bytes() {
    for kind in [0, RecordType::LAST.0 + 1, 63, 64, 90, u32::MAX] {
        let record =
            RecordBuilder::new(RecordType(kind), Misc::from_bits_retain(0xffff)).u64(0x0201).finish();
        let header_only = RecordBuilder::new(RecordType(kind), Misc::empty()).finish();
        let file = RingFile::forward().event(13, &ATTR).records(&[record, header_only], 64, 0).finish();
        let name = format!("RecordType({kind})");
        let expected = [
            json!({"type": kind, "name": name, "misc": 0xffff, "size": 16, "snapshot": 0, "offset": 0,
                   "wraps": false, "fields": {"raw": "0102000000000000"}}),
            json!({"type": kind, "name": name, "misc": 0, "size": 8, "snapshot": 0, "offset": 16,
                   "wraps": false, "fields": {"raw": ""}}),
        ];
        assert_eq!(undamaged(&file), expected);
    }
}
