//! Attrs of other lengths than ours, and samples with trailing bytes.

use crate::support::made_up::{attr, file, pipe, record, sample};
use perf_abi::Attr;
use perf_file::format::{RawFileHeader, Section, record_type};
use perf_file::{PerfData, Reader};
use zerocopy::{FromBytes as _, IntoBytes as _};

/// Returns a file whose attr has `len` bytes, and one sample.
fn file_with_attr_of(len: usize) -> Vec<u8> {
    let whole = file(&[sample(5)]);
    let (mut header, _) = RawFileHeader::read_from_prefix(&whole).unwrap();
    let mut event = attr().with_size(u32::try_from(len).unwrap()).as_bytes().to_vec();
    event.resize(len, 0xff);
    let grown = (len as u64).wrapping_sub(Attr::SIZE.into());
    header.attr_size = header.attr_size.wrapping_add(grown);
    header.attrs.size = header.attr_size;
    header.data.offset = header.data.offset.wrapping_add(grown);
    let ids = Section { offset: RawFileHeader::SIZE, size: 8 };
    [header.as_bytes(), 1_u64.as_bytes(), &event, ids.as_bytes(), &sample(5)].concat()
}

#[test]
fn attrs_of_all_lengths_are_read() {
    for len in (64..=Attr::SIZE as usize + 64).step_by(8) {
        let bytes = file_with_attr_of(len);
        let mut reader = Reader::from_bytes(&bytes).unwrap();
        assert_eq!(reader.next().unwrap().unwrap().time(), Some(5), "{len}");
        let event = &reader.events().as_slice()[0];
        assert_eq!((event.bytes.len(), &event.ids[..]), (len, &[1][..]));
        assert_eq!(event.attr.with_size(Attr::SIZE), attr(), "{len}");
        let mut of_file = Reader::from_file(std::io::Cursor::new(&bytes)).unwrap();
        assert_eq!(of_file.next().unwrap().unwrap().time(), Some(5), "{len}");
    }
    assert!(Reader::from_bytes(&file_with_attr_of(56)).is_err());
}

#[test]
fn attrs_of_a_pipe_come_before_its_records() {
    for len in [64, 136, 200] {
        let mut event = attr().with_size(len).as_bytes().to_vec();
        event.resize(len as usize, 0xff);
        event.extend([8_u64, 9].as_bytes());
        let bytes = pipe(&[record(record_type::HEADER_ATTR, &event), sample(5)]);
        let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
        assert!(reader.events().as_slice().is_empty() && reader.offset() == 16);
        reader.next().unwrap();
        assert_eq!(reader.events().as_slice()[0].ids, [8, 9]);
        assert_eq!(reader.next().unwrap().unwrap().time(), Some(5), "{len}");
    }
}

#[test]
fn sample_with_trailing_bytes_is_decoded() {
    let long = record(perf_abi::RecordType::SAMPLE, [5_u64, 77, 78].as_bytes());
    let bytes = file(&[long, sample(6)]);
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    let record = reader.next().unwrap().unwrap();
    let decoded = record.decode().unwrap();
    assert_eq!((record.time(), decoded.trailing_len()), (Some(5), 16));
    let first = PerfData::new(&bytes).unwrap().frames().next().unwrap().unwrap();
    assert_eq!((record.place().offset(), record.events().len()), (first.offset, 1));
    assert_eq!(reader.next().unwrap().unwrap().time(), Some(6));
}

#[test]
fn unaligned_records_are_copied() {
    // A record of a tool whose length is odd, and one byte before the file in memory.
    let records =
        [record(record_type::HEADER_FEATURE, &[10, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3]), sample(5), sample(6)];
    let event = [attr().as_bytes(), 1_u64.as_bytes()].concat();
    let bytes = pipe(&[&[record(record_type::HEADER_ATTR, &event)][..], &records].concat());
    for shift in 0..8 {
        let shifted = [&vec![0; shift][..], &bytes].concat();
        let mut reader = Reader::from_bytes(&shifted[shift..]).unwrap();
        let mut times = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            times.extend(record.time());
            assert!(record.kernel().is_none() || record.decode().is_ok());
        }
        assert_eq!(times, [5, 6], "{shift}");
        assert_eq!(PerfData::new(&shifted[shift..]).unwrap().frames().count(), 4);
    }
}
