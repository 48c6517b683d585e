//! Writers of files and pipes.

use std::io::{self, Cursor, ErrorKind};

use perf_abi::{Attr, CpuMode, Software};
use perf_decode::Record;

use super::*;
use crate::feature::{BuildId, FeatureData, SampleTime};
use crate::file::PerfData;
use crate::format::{Feature, MAGIC, RawPipeHeader};
use crate::read::Reader;
use crate::record::UserRecord;

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
    zerocopy::transmute!(Header { kind: RecordType(kind), misc: Misc::empty(), size })
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
    expected.extend_from_slice(&features.build_id_records(RecordType(67)));
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
    let error = io::Error::from(error);
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    let inner = error.get_ref().unwrap().downcast_ref::<Error>().unwrap();
    assert_eq!((inner.raw_os_error(), inner.to_os_error().kind()), (None, ErrorKind::StorageFull));
    // More than the buffer holds: its first part is accepted.
    let mut writer = Writer::pipe(Disk(70_000, Vec::new()), &[], &Features::new()).unwrap();
    writer.write_records(&vec![0; 50_000]).unwrap();
    let error = writer.write_records(&vec![0; 100_000]).unwrap_err();
    assert_eq!(error.to_string(), "cannot write the records at offset 70000: no storage space");
}

#[test]
fn failed_system_call_keeps_its_errno() {
    let error = Error::new(0, Reason::Write { part: "header", error: io::Error::from_raw_os_error(28) });
    assert_eq!((error.raw_os_error(), error.to_os_error().raw_os_error()), (Some(28), Some(28)));
}

#[test]
fn file_has_the_added_ids_after_its_features() {
    let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
    writer.write_records(RECORD.as_bytes()).unwrap();
    writer.add_ids(0, &[10]).unwrap();
    writer.add_ids(1, &[11, 12]).unwrap();
    let mut features = Features::new();
    features.set(Feature::TOTAL_MEM, &FeatureData::TotalMemory(99));
    let bytes = writer.finish(&features).unwrap().into_inner();
    let file = PerfData::new(&bytes).unwrap();
    let ids: Vec<Vec<u64>> = file.attrs().map(|attr| attr.unwrap().ids.iter().collect()).collect();
    assert_eq!(ids, [vec![7, 8, 10], vec![9, 11, 12]]);
    assert_eq!(file.features().count(), 1);
    assert_eq!(file.frames().count(), 1);
    // The ids are the last part of the file.
    assert!(bytes.ends_with([7_u64, 8, 10, 9, 11, 12].as_bytes()));
}

#[test]
fn file_without_added_ids_has_them_before_its_records_only() {
    let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
    writer.add_ids(0, &[]).unwrap();
    let bytes = writer.finish(&Features::new()).unwrap().into_inner();
    assert_eq!(bytes.len(), 104 + 3 * 8 + 2 * 128);
}

#[test]
fn pipe_has_the_added_ids_in_a_further_event_of_the_same_name() {
    let mut writer = Writer::pipe(Vec::new(), &events(), &Features::new()).unwrap();
    writer.add_ids(1, &[11]).unwrap();
    let bytes = writer.finish(&Features::new()).unwrap();
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    let mut names = Vec::new();
    while let Some(record) = reader.next().unwrap() {
        if let UserRecord::EventUpdate(update) = record.user().unwrap() {
            names.push(format!("{} {:?}", update.id, update.update));
        }
    }
    let name = |id: u64, name: &[u8]| format!("{id} Name({name:?})");
    assert_eq!(names, [name(7, b"cpu-clock"), name(9, b"faults"), name(11, b"faults")]);
    let events = reader.events().as_slice();
    assert_eq!(events.len(), 3);
    assert!(events.iter().map(|event| event.name().unwrap()).eq([&b"cpu-clock"[..], b"faults", b"faults"]));
    assert_eq!((&events[2].ids[..], events[2].attr), (&[11][..], events[1].attr));
}

#[test]
fn unknown_event_is_an_error() {
    let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
    let error = writer.add_ids(2, &[1]).unwrap_err();
    assert_eq!(error.to_string(), "expected the index of one of 2 events, found 2");
}

/// Two events with ids at different offsets of the trailer, the second one without `IDENTIFIER`.
fn events_with(fields: SampleType) -> [RecordedEvent; 2] {
    events().map(|mut event| {
        event.attr = event.attr.with_sample_type(fields).with_flags(AttrFlags::SAMPLE_ID_ALL);
        event
    })
}

/// Returns the index of the event, the id and the count of each record, all of time 77.
fn losses(bytes: &[u8]) -> Vec<(usize, Option<u64>, u64)> {
    let mut reader = Reader::from_bytes(bytes).unwrap();
    let mut losses = Vec::new();
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_none() {
            continue;
        }
        assert!(matches!(record.time(), Some(77) | None), "{record:?}");
        let (index, event) = record.event().unwrap();
        match record.decode().unwrap() {
            Record::LostSamples(lost) => {
                losses.push((index, record.kernel().unwrap().id(&event.layout), lost.lost()));
            }
            other => panic!("{other:?}"),
        }
    }
    losses
}

fn write<W: Write>(mut writer: Writer<W>) -> W {
    writer.write_lost_samples(0, 8, 5, 77).unwrap();
    writer.write_lost_samples(0, 7, 0, 77).unwrap();
    writer.write_lost_samples(1, 9, u64::MAX, 77).unwrap();
    writer.finish(&Features::new()).unwrap()
}

#[test]
fn losses_are_read_with_their_event_and_id() {
    let expected = [(0, Some(8), 5), (1, Some(9), u64::MAX)];
    for fields in [
        SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME | SampleType::CPU,
        SampleType::TID | SampleType::TIME | SampleType::ID | SampleType::STREAM_ID | SampleType::CPU,
        SampleType::ID,
    ] {
        let file = write(Writer::file(Cursor::new(Vec::new()), &events_with(fields)).unwrap());
        assert_eq!(losses(&file.into_inner()), expected, "{fields:?}");
        let pipe = write(Writer::pipe(Vec::new(), &events_with(fields), &Features::new()).unwrap());
        assert_eq!(losses(&pipe), expected, "{fields:?}");
    }
}

#[test]
#[cfg(feature = "zstd")]
fn losses_of_a_compressed_recording_are_read_with_their_event_and_id() {
    let events = events_with(SampleType::IDENTIFIER | SampleType::TIME);
    let new = || Writer::file(Cursor::new(Vec::new()), &events).unwrap();
    for writer in [new().compressed(), new().compressed_at(9), new().compressed_at(22)] {
        let file = write(writer.unwrap()).into_inner();
        assert_eq!(losses(&file), [(0, Some(8), 5), (1, Some(9), u64::MAX)]);
    }
}

#[test]
fn losses_of_an_event_without_a_trailer_have_no_id() {
    let event = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock");
    let mut writer = Writer::pipe(Vec::new(), &[event], &Features::new()).unwrap();
    writer.write_lost_samples(0, 3, 5, 77).unwrap();
    assert_eq!(losses(&writer.finish(&Features::new()).unwrap()), [(0, None, 5)]);
}

#[test]
fn losses_of_an_unknown_event_are_refused() {
    let mut writer =
        Writer::pipe(Vec::new(), &events_with(SampleType::IDENTIFIER), &Features::new()).unwrap();
    let error = writer.write_lost_samples(2, 3, 5, 77).unwrap_err();
    assert_eq!(error.to_string(), "expected the index of one of 2 events, found 2");
}
