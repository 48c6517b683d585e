//! Made-up files of this machine's byte order.

use perf_abi::{Attr, AttrFlags, RecordType, SampleType, Software};
use perf_file::format::{MAGIC, RawFileHeader, RawPipeHeader, Section};
use zerocopy::IntoBytes as _;

/// Returns the attr of events whose samples have a time and nothing else.
pub(crate) fn attr() -> Attr {
    Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::TIME)
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

/// Returns a record.
pub(crate) fn record(kind: RecordType, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(8 + body.len()).unwrap();
    [kind.0.as_bytes(), &[0, 0], size.as_bytes(), body].concat()
}

/// Returns a sample with this time.
pub(crate) fn sample(time: u64) -> Vec<u8> {
    record(RecordType::SAMPLE, time.as_bytes())
}

/// Returns a file with one event and these records.
pub(crate) fn file(records: &[Vec<u8>]) -> Vec<u8> {
    let data = records.concat();
    let ids = Section { offset: RawFileHeader::SIZE, size: 8 };
    let attr_size = u64::from(Attr::SIZE) + 16;
    let attrs = Section { offset: ids.offset + ids.size, size: attr_size };
    let data_section = Section { offset: attrs.offset + attrs.size, size: data.len() as u64 };
    let header = RawFileHeader {
        magic: MAGIC,
        size: RawFileHeader::SIZE,
        attr_size,
        attrs,
        data: data_section,
        ..RawFileHeader::default()
    };
    [header.as_bytes(), 1_u64.as_bytes(), attr().as_bytes(), ids.as_bytes(), &data].concat()
}

/// Returns a pipe with these records.
pub(crate) fn pipe(records: &[Vec<u8>]) -> Vec<u8> {
    let header = RawPipeHeader { magic: MAGIC, size: RawPipeHeader::SIZE };
    [header.as_bytes(), &records.concat()].concat()
}
