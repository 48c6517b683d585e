use std::io::{self, Cursor, ErrorKind};

use perf_abi::{Attr, CpuMode, Software};

use super::*;
use crate::feature::{BuildId, FeatureData, SampleTime};
use crate::format::{Feature, MAGIC, RawPipeHeader};

fn events() -> [RecordedEvent; 2] {
    let event = |event, name| RecordedEvent::new(Attr::software(event), name);
    [
        event(Software::CPU_CLOCK, "cpu-clock").with_ids([7, 8]),
        event(Software::PAGE_FAULTS, "faults").with_ids([9]),
    ]
}

/// Returns the number at an offset.
fn word(bytes: &[u8], offset: u64) -> u64 {
    let offset = offset as usize;
    u64::from_ne_bytes(bytes[offset..offset + 8].try_into().unwrap())
}

const RECORD: [u64; 2] = [header_word(68, 16), 5];
const ROUND: u64 = header_word(68, 8);

const fn header_word(kind: u32, size: u16) -> u64 {
    zerocopy::transmute!(Header { kind: perf_abi::RecordType(kind), misc: Misc::empty(), size })
}

fn header(kind: u32, size: u16) -> [u8; 8] {
    header_word(kind, size).to_ne_bytes()
}

#[test]
fn file_has_header_ids_attrs_records_and_features() {
    let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
    writer.write_window(Window::from_slices(&RECORD[..1], &RECORD[1..])).unwrap();
    writer.finish_round().unwrap();
    let mut features = Features::new();
    features.set(Feature::SAMPLE_TIME, &FeatureData::SampleTime(SampleTime { first: 3, last: 4 }));
    features.set(Feature::TOTAL_MEM, &FeatureData::TotalMemory(99));
    let file = writer.finish(&features).unwrap().into_inner();

    let attrs = 104 + 3 * 8; // after the three ids
    let data = attrs + 2 * 128; // after two attrs of 112 bytes and their sections
    let words = |offset| word(&file, offset);
    assert_eq!([words(0), words(8), words(16)], [MAGIC, 104, 128]);
    assert_eq!([words(24), words(32)], [attrs, 256]); // attrs
    assert_eq!([words(40), words(48)], [data, 24]); // data
    assert_eq!([words(72), words(80)], [1 << 10 | 1 << 21, 0]); // features
    assert_eq!([words(104), words(112), words(120)], [7, 8, 9]);
    assert_eq!([words(attrs + 112), words(attrs + 120)], [104, 16]); // ids of the first
    assert_eq!([words(attrs + 240), words(attrs + 248)], [120, 8]); // ids of the second
    assert_eq!([words(data), words(data + 8), words(data + 16)], [RECORD[0], RECORD[1], ROUND]);
    let table = data + 24;
    assert_eq!([words(table), words(table + 8)], [table + 32, 8]);
    assert_eq!([words(table + 16), words(table + 24)], [table + 40, 16]);
    assert_eq!([words(table + 32), words(table + 40), words(table + 48)], [99, 3, 4]);
    assert_eq!(file.len() as u64, table + 56);
}

#[test]
fn killed_writer_leaves_the_size_of_its_rounds() {
    let mut file = Vec::new();
    let mut writer = Writer::file(Cursor::new(&mut file), &events()).unwrap();
    for _ in 0..2 {
        writer.write_records(RECORD.as_bytes()).unwrap();
        writer.finish_round().unwrap();
    }
    writer.write_records(RECORD.as_bytes()).unwrap();
    drop(writer);
    let (data, size) = (word(&file, 40), word(&file, 48));
    assert_eq!(size, 2 * 24);
    assert_eq!(
        [word(&file, data), word(&file, data + 16), word(&file, data + 40)],
        [RECORD[0], ROUND, ROUND]
    );
}

#[test]
fn writer_killed_before_its_first_round_leaves_a_data_size_of_0() {
    let mut file = Vec::new();
    let mut writer = Writer::file(Cursor::new(&mut file), &events()).unwrap();
    writer.write_records(RECORD.as_bytes()).unwrap();
    writer.flush().unwrap();
    drop(writer);
    assert_eq!(word(&file, 48), 0);
    assert_eq!(word(&file, word(&file, 40)), RECORD[0]);
}

#[test]
fn pipe_has_events_and_features_as_records() {
    let mut features = Features::new();
    features.set(Feature::TOTAL_MEM, &FeatureData::TotalMemory(99));
    features.set_bytes(Feature::TRACING_DATA, vec![1, 2, 3]);
    let mut writer = Writer::pipe(Vec::new(), &events()[1..], &features).unwrap();
    writer.write_records(RECORD.as_bytes()).unwrap();
    features.set(Feature::SAMPLE_TIME, &FeatureData::SampleTime(SampleTime { first: 3, last: 4 }));
    let build_ids = [BuildId::new(b"a", &[1; 16], CpuMode::KERNEL)];
    features.set(Feature::BUILD_ID, &FeatureData::BuildIds(build_ids[..].into()));
    let pipe = writer.finish(&features).unwrap();

    let mut expected = [MAGIC, RawPipeHeader::SIZE].as_bytes().to_vec();
    expected.extend(header(64, 8 + 112 + 8)); // HEADER_ATTR
    let mut attr = events()[1].attr;
    attr.size = 112;
    expected.extend_from_slice(&attr.as_bytes()[..112]);
    expected.extend_from_slice(9_u64.as_bytes()); // id
    expected.extend(header(78, 32)); // EVENT_UPDATE
    expected.extend_from_slice([2_u64, 9].as_bytes()); // NAME of the event with the id 9
    expected.extend_from_slice(b"faults\0\0");
    expected.extend(header(66, 16)); // HEADER_TRACING_DATA
    expected.extend_from_slice([8_u32, 0].as_bytes()); // padded size
    expected.extend_from_slice(&[1, 2, 3, 0, 0, 0, 0, 0]);
    expected.extend(header(80, 24)); // HEADER_FEATURE
    expected.extend_from_slice([10_u64, 99].as_bytes()); // TOTAL_MEM
    expected.extend_from_slice(RECORD.as_bytes());
    expected.extend_from_slice(&features.build_id_records(perf_abi::RecordType(67)));
    expected.extend(header(80, 32));
    expected.extend_from_slice([21_u64, 3, 4].as_bytes()); // SAMPLE_TIME
    assert_eq!(pipe, expected);
}

#[test]
fn event_with_too_many_ids_for_a_record_names_the_limit() {
    let event = RecordedEvent::new(Attr::default(), "e").with_ids(0..9000);
    let error = Writer::pipe(Vec::new(), &[event], &Features::new()).unwrap_err();
    let text = "expected at most 65535 bytes in the record of the event, found 72120; \
                write the file form in place of the pipe form";
    assert_eq!(error.to_string(), text);
}

/// A disk with space for a number of bytes.
#[derive(Debug)]
struct Disk(usize, Vec<u8>);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0 - self.1.len());
        self.1.extend_from_slice(&bytes[..taken]);
        if taken == 0 { Err(ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn full_disk_is_an_error_at_the_first_byte_that_it_did_not_take() {
    let mut writer = Writer::pipe(Disk(20, Vec::new()), &[], &Features::new()).unwrap();
    writer.write_records(RECORD.as_bytes()).unwrap();
    let error = writer.flush().unwrap_err();
    assert_eq!(error.to_string(), "cannot write the records at offset 20: no storage space");
    assert_eq!(format!("{error:?}"), error.to_string());
    let error = io::Error::from(error);
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    let inner = error.get_ref().unwrap().downcast_ref::<WriteError>().unwrap();
    assert_eq!((inner.raw_os_error(), inner.to_os_error().kind()), (None, ErrorKind::StorageFull));
    // More than is collected: the first part of it is taken.
    let mut writer = Writer::pipe(Disk(70_000, Vec::new()), &[], &Features::new()).unwrap();
    writer.write_records(&vec![0; 50_000]).unwrap();
    let error = writer.write_records(&vec![0; 100_000]).unwrap_err();
    assert_eq!(error.to_string(), "cannot write the records at offset 70000: no storage space");
}

#[test]
fn failed_system_call_keeps_its_errno() {
    let error = WriteError::Io { part: "header", offset: 0, error: io::Error::from_raw_os_error(28) };
    assert_eq!((error.raw_os_error(), error.to_os_error().raw_os_error()), (Some(28), Some(28)));
}
