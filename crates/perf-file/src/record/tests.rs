//! Records of tools in both byte orders.

use super::*;
use std::{format, vec::Vec};

use perf_abi::{Misc, RecordType};

use crate::encoder::{Encoder, ORDERS};

/// Parses a record with this body in both byte orders.
fn check(kind: RecordType, write: impl for<'p> Fn(&'p mut Encoder) -> &'p mut Encoder, expected: &str) {
    for order in ORDERS {
        let (header, bytes) = record(kind, order, &write);
        let parsed = UserRecord::parse(header, &bytes, order, 0).unwrap();
        assert_eq!(format!("{parsed:?}"), expected, "{order:?}");
        for len in 8..bytes.len() {
            // A shorter record is a record of an older tool, or an error.
            let _ = UserRecord::parse(header, &bytes[..len], order, 0);
        }
    }
}

/// Returns a record and its header.
fn record(
    kind: RecordType,
    order: ByteOrder,
    write: impl for<'p> Fn(&'p mut Encoder) -> &'p mut Encoder,
) -> (Header, Vec<u8>) {
    let mut put = Encoder::new(order);
    put.bytes(&[0; 8]);
    write(&mut put);
    let size = u16::try_from(put.bytes.len()).unwrap();
    (Header { kind, misc: Misc::from_bits_retain(0x8000), size }, put.bytes)
}

fn bytes(text: &str) -> String {
    format!("{:?}", text.as_bytes())
}

#[test]
fn attr_is_followed_by_ids() {
    for order in ORDERS {
        // type, size, config, 48 bytes; two ids
        let (header, bytes) =
            record(kind::HEADER_ATTR, order, |put| put.u32(1).u32(64).u64(9).bytes(&[0; 48]).u64(70).u64(71));
        let Ok(UserRecord::HeaderAttr(attr)) = UserRecord::parse(header, &bytes, order, 0) else { panic!() };
        assert_eq!((attr.attr.config, attr.bytes.len()), (9, 64));
        assert!(attr.ids.iter().eq([70, 71]));
    }
}

#[test]
fn attr_with_the_size_0_has_64_bytes() {
    let (header, bytes) =
        record(kind::HEADER_ATTR, ByteOrder::Little, |put| put.u32(1).u32(0).u64(9).bytes(&[0; 48]).u64(70));
    let parsed = UserRecord::parse(header, &bytes, ByteOrder::Little, 0).unwrap();
    assert!(matches!(parsed, UserRecord::HeaderAttr(attr) if attr.ids.iter().eq([70])));
}

#[test]
fn marks_have_no_fields() {
    check(kind::FINISHED_ROUND, |put| put, "FinishedRound");
    check(kind::FINISHED_INIT, |put| put, "FinishedInit");
}

#[test]
fn headers_of_the_pipe_form_are_read() {
    check(
        kind::HEADER_EVENT_TYPE,
        |put| put.u64(3).text(b"cycles", 64),
        &format!("HeaderEventType {{ event_id: 3, name: {} }}", bytes("cycles")),
    );
    check(kind::HEADER_TRACING_DATA, |put| put.u32(16).u32(0), "HeaderTracingData { size: 16 }");
    for order in ORDERS {
        let (header, bytes) = record(kind::HEADER_FEATURE, order, |put| put.u64(10).u64(5));
        let parsed = UserRecord::parse(header, &bytes, order, 100).unwrap();
        let UserRecord::HeaderFeature(section) = parsed else { panic!("{parsed:?}") };
        assert_eq!((section.feature, section.offset()), (Feature::TOTAL_MEM, 116));
        assert!(matches!(section.data(), Ok(crate::feature::FeatureData::TotalMemory(5))));
        let (header, bytes) = record(kind::HEADER_BUILD_ID, order, |put| {
            put.u32(7).bytes(&[9; 20]).bytes(&[20, 0, 0, 0]).text(b"/bin/sh", 8)
        });
        let parsed = UserRecord::parse(header, &bytes, order, 0).unwrap();
        let UserRecord::HeaderBuildId(id) = parsed else { panic!("{parsed:?}") };
        assert_eq!((id.pid, id.build_id, id.filename), (7, &[9; 20][..], &b"/bin/sh"[..]));
    }
}

#[test]
fn ids_and_maps_are_read() {
    let entry = "IdIndexEntry { id: 1, index: 2, cpu: 3, tid: 4 }";
    check(
        kind::ID_INDEX,
        |put| put.u64(1).u64(1).u64(2).u64(3).u64(4),
        &format!("IdIndex(IdIndex {{ entries: [{entry}], guests: [] }})"),
    );
    check(
        kind::ID_INDEX,
        |put| put.u64(1).u64(1).u64(2).u64(3).u64(4).u64(5).u64(6),
        &format!(
            "IdIndex(IdIndex {{ entries: [{entry}], guests: [GuestId {{ machine_pid: 5, vcpu: 6 }}] }})"
        ),
    );
    check(
        kind::THREAD_MAP,
        |put| put.u64(1).u64(9).text(b"sh", 16),
        &format!("ThreadMap([ThreadMapEntry {{ pid: 9, comm: {} }}])", bytes("sh")),
    );
}

/// Returns the CPUs of a map with this data.
fn cpus(write: impl for<'p> Fn(&'p mut Encoder) -> &'p mut Encoder) -> Vec<i32> {
    let in_order = ORDERS.map(|order| {
        let (header, bytes) = record(kind::CPU_MAP, order, &write);
        match UserRecord::parse(header, &bytes, order, 0).unwrap() {
            UserRecord::CpuMap(map) => map.cpus().collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(in_order[0], in_order[1]);
    in_order[0].clone()
}

#[test]
fn cpu_maps_have_four_forms() {
    assert_eq!(cpus(|put| put.u16(0).u16(3).u16(0).u16(5).u16(0xffff)), [0, 5, -1]);
    assert_eq!(cpus(|put| put.u16(1).u16(2).u16(4).u32(5).u32(1)), [0, 2, 32]);
    assert_eq!(cpus(|put| put.u16(1).u16(1).u16(8).u32(0).u64(1 << 63 | 2)), [1, 63]);
    assert_eq!(cpus(|put| put.u16(2).u8(1).u8(0).u16(3).u16(5)), [-1, 3, 4, 5]);
    assert!(cpus(|put| put.u16(9).u16(1)).is_empty());
    let (header, bytes) = record(kind::CPU_MAP, ByteOrder::Little, |put| put.u16(1).u16(1).u16(3));
    assert!(UserRecord::parse(header, &bytes, ByteOrder::Little, 0).is_err());
}

#[test]
fn counts_are_read() {
    check(
        kind::STAT_CONFIG,
        |put| put.u64(1).u64(1).u64(100),
        "StatConfig([StatConfig { tag: INTERVAL, value: 100 }])",
    );
    check(
        kind::STAT,
        |put| put.u64(1).u32(2).u32(3).u64(4).u64(5).u64(6),
        "Stat(Stat { id: 1, cpu: 2, thread: 3, value: 4, time_enabled: 5, time_running: 6 })",
    );
    check(kind::STAT_ROUND, |put| put.u64(1).u64(2), "StatRound(StatRound { kind: FINAL, time: 2 })");
}

#[test]
fn updates_of_events_are_read() {
    let update = |update: &str| format!("EventUpdate(EventUpdate {{ id: 7, update: {update} }})");
    let text = |name: &str| format!("{name}({})", bytes("ab"));
    check(kind::EVENT_UPDATE, |put| put.u64(0).u64(7).text(b"ab", 8), &update(&text("Unit")));
    check(kind::EVENT_UPDATE, |put| put.u64(1).u64(7).u64(0.5_f64.to_bits()), &update("Scale(0.5)"));
    check(kind::EVENT_UPDATE, |put| put.u64(2).u64(7).text(b"ab", 8), &update(&text("Name")));
    check(
        kind::EVENT_UPDATE,
        |put| put.u64(3).u64(7).u16(0).u16(1).u16(5),
        &update("Cpus(CpuMap { form: List([5]) })"),
    );
    check(kind::EVENT_UPDATE, |put| put.u64(4).u64(7).u8(1), &update("Unknown { kind: 4, data: [1] }"));
}

#[test]
fn aux_traces_are_read() {
    check(
        kind::AUXTRACE_INFO,
        |put| put.u32(1).u32(0).u64(5).u64(6),
        "AuxtraceInfo(AuxtraceInfo { kind: INTEL_PT, private: [5, 6] })",
    );
    check(
        kind::AUXTRACE,
        |put| put.u64(1).u64(2).u64(3).u32(4).u32(5).u32(6).u32(0),
        "Auxtrace(Auxtrace { size: 1, offset: 2, reference: 3, index: 4, tid: 5, cpu: 6 })",
    );
    let error = |time: &str, guest: &str| {
        let message = bytes("bad");
        format!(
            "AuxtraceError(AuxtraceError {{ kind: 1, code: 2, cpu: 3, pid: 4, tid: 5, ip: 6, time: {time}, message: {message}, guest: {guest} }})"
        )
    };
    check(kind::AUXTRACE_ERROR, |put| error_head(put, 0).text(b"bad", 64), &error("None", "None"));
    check(kind::AUXTRACE_ERROR, |put| error_head(put, 1).u64(7).text(b"bad", 8), &error("Some(7)", "None"));
    check(
        kind::AUXTRACE_ERROR,
        |put| error_head(put, 2).u64(7).text(b"bad", 64).u32(8).u32(9),
        &error("Some(7)", "Some((8, 9))"),
    );
}

#[test]
fn times_are_read() {
    check(
        kind::TIME_CONV,
        |put| put.u64(1).u64(2).u64(3),
        "TimeConv(TimeConv { time_shift: 1, time_mult: 2, time_zero: 3, short: None })",
    );
    check(
        kind::TIME_CONV,
        |put| put.u64(1).u64(2).u64(3).u64(4).u64(5).u8(1).u8(0).bytes(&[0; 6]),
        "TimeConv(TimeConv { time_shift: 1, time_mult: 2, time_zero: 3, short: Some(ShortTime { time_cycles: 4, time_mask: 5, cap_user_time_zero: true, cap_user_time_short: false }) })",
    );
}

#[test]
fn compressed_data_is_not_longer_than_its_size() {
    check(kind::COMPRESSED, |put| put.bytes(&[1, 2, 3]), "Compressed([1, 2, 3])");
    check(kind::COMPRESSED2, |put| put.u64(3).bytes(&[1, 2, 3, 0, 0, 0, 0, 0]), "Compressed([1, 2, 3])");
    let (header, bytes) = record(kind::COMPRESSED2, ByteOrder::Little, |put| put.u64(9).bytes(&[0; 8]));
    assert!(UserRecord::parse(header, &bytes, ByteOrder::Little, 0).is_err());
}

#[test]
fn newest_kinds_are_read() {
    let (name, value) = (bytes("version"), bytes("1.0"));
    check(
        kind::BPF_METADATA,
        |put| put.text(b"prog", 512).u64(1).text(b"version", 64).text(b"1.0", 256),
        &format!(
            "BpfMetadata(BpfMetadata {{ program: {}, variables: [BpfVariable {{ name: {name}, value: {value} }}] }})",
            bytes("prog")
        ),
    );
    let stat = |domain: &str| {
        format!(
            "Schedstat(Schedstat {{ timestamp: 1, cpu: 2, version: 17, domain: {domain}, counters: [9, 8] }})"
        )
    };
    check(kind::SCHEDSTAT_CPU, statistics, &stat("None"));
    check(kind::SCHEDSTAT_DOMAIN, statistics, &stat("Some(3)"));
    check(RecordType(99), |put| put.u8(7), "Unknown([7])");
}

/// Writes an error of an AUX trace up to its address.
fn error_head(put: &mut Encoder, format: u32) -> &mut Encoder {
    put.u32(1).u32(2).u32(3).u32(4).u32(5).u32(format).u64(6)
}

/// Writes scheduler statistics with two bytes of counters.
fn statistics(put: &mut Encoder) -> &mut Encoder {
    put.u64(1).u32(2).u16(17).u16(3).bytes(&[9, 8])
}

#[test]
fn every_kind_of_tools_is_parsed() {
    for kind in kind::ALL {
        for order in ORDERS {
            let (header, bytes) = record(*kind, order, |put| put.bytes(&[0; 128]));
            let parsed = UserRecord::parse(header, &bytes, order, 0);
            assert!(!matches!(parsed, Ok(UserRecord::Unknown(_))), "{kind} is not parsed");
        }
    }
}
