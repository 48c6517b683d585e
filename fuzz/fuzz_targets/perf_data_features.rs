//! Any bytes as a section of any feature, in both byte orders, and as a record of any tool's kind.
#![no_main]

use std::fmt::Write as _;

use libfuzzer_sys::fuzz_target;
use perf_abi::{Header, Misc, RecordType};
use perf_file::{ByteOrder, FeatureData, RawFileRecord, UserRecord};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, content)) = bytes.split_first() else { return };
    let order = if first & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big };
    let content = &content[..content.len().min(60_000)];
    let mut record = vec![0; 8];
    record.extend(content);
    let kind = RecordType(64 + u32::from(first / 2 % 32));
    let header = Header { kind, misc: Misc::from_bits_retain(0x8000), size: record.len() as u16 };
    let mut text = String::new();
    match UserRecord::parse(header, &record, order, 0) {
        Ok(UserRecord::HeaderFeature(section)) => match section.data() {
            Ok(FeatureData::CpuTopology(topology)) => {
                for cpus in [0, 1, 2, 1000, u32::MAX] {
                    write!(text, "{:?} {:?}", topology.core_ids(cpus), topology.dies(cpus)).unwrap();
                }
            }
            data => write!(text, "{data:?}").unwrap(),
        },
        Ok(UserRecord::CpuMap(map)) => assert!(map.cpus().count() <= 65536 * 64),
        record => write!(text, "{record:?}").unwrap(),
    }
    // The text of a list is bounded by the bytes of its entries.
    assert!(text.len() < 200 * (content.len() + 10));
    if let Ok((frame, rest)) = RawFileRecord::split_first(content, order, 0) {
        assert_eq!(frame.bytes.len() + frame.payload.len() + rest.len(), content.len());
        let _ = frame.raw();
    }
});
