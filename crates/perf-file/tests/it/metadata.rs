//! The metadata before the first record, in both forms: events with their names, and features.

use std::io::Cursor;

use crate::support::data;
use crate::support::made_up::{pipe, record};
use crate::support::read::{all, until_error};
use perf_abi::{Attr, AttrFlags, Clock, CpuMode, SampleType, Software};
use perf_file::feature::{BuildId, ClockData, CpuCount, SampleTime};
use perf_file::format::{Feature, FeatureSet, RawFileHeader, record_type};
use perf_file::writer::{Features, RecordedEvent, Writer};
use perf_file::{FeatureData, PerfData, Reader, Reason, Source, UserRecord};
use zerocopy::{FromBytes as _, IntoBytes as _};

fn attr(event: Software) -> Attr {
    Attr::software(event)
        .with_sample_type(SampleType::IDENTIFIER | SampleType::TIME)
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

fn events() -> [RecordedEvent; 2] {
    [
        RecordedEvent::new(attr(Software::CPU_CLOCK), "cpu-clock:u").with_ids([7, 8]),
        RecordedEvent::new(attr(Software::PAGE_FAULTS), "my faults").with_ids([9]),
    ]
}

const CLOCKS: ClockData = ClockData { clock: Clock::MONOTONIC, wall_clock_time: 9, clock_time: 8 };

fn features() -> Features {
    let mut features = Features::new();
    let arguments: [&[u8]; 4] = [b"perfkit", b"record", b"--", b"a b"];
    for (feature, data) in [
        (Feature::HOSTNAME, FeatureData::Text(b"some-host")),
        (Feature::ARCH, FeatureData::Text(b"x86_64")),
        (Feature::NRCPUS, FeatureData::CpuCount(CpuCount { available: 4, online: 3 })),
        (Feature::TOTAL_MEM, FeatureData::TotalMemory(99)),
        (Feature::CMDLINE, FeatureData::CommandLine(arguments[..].into())),
        (Feature::SAMPLE_TIME, FeatureData::SampleTime(SampleTime { first: 3, last: 4 })),
        (Feature::VERSION, FeatureData::Text(b"7.2")),
        (Feature::CPUDESC, FeatureData::Text(b"a CPU")),
        (Feature::CPUID, FeatureData::Text(b"x,1,2")),
        (Feature::CLOCKID, FeatureData::ClockResolution(5)),
        (Feature::CLOCK_DATA, FeatureData::ClockData(CLOCKS)),
    ] {
        assert!(features.set(feature, &data));
    }
    features.set_events(&events());
    features
}

fn sample(id: u64) -> Vec<u8> {
    record(perf_abi::RecordType::SAMPLE, [id, 5].as_bytes())
}

/// Checks everything that is known without a record of the kernel.
fn check<S: Source>(reader: &mut Reader<S>) {
    let names = reader.events().as_slice().iter().map(|event| event.name());
    assert!(names.eq([Some(&b"cpu-clock:u"[..]), Some(b"my faults")]));
    assert_eq!(reader.hostname().unwrap().as_deref(), Some("some-host"));
    assert_eq!(reader.arch().unwrap().as_deref(), Some("x86_64"));
    assert_eq!(reader.os_release().unwrap(), None);
    assert_eq!(reader.cpu_count().unwrap().map(|count| count.online), Some(3));
    assert_eq!(reader.total_memory().unwrap(), Some(99));
    assert_eq!(reader.command_line().unwrap().unwrap(), ["perfkit", "record", "--", "a b"]);
    assert_eq!(reader.sample_time().unwrap().map(|time| (time.first, time.last)), Some((3, 4)));
    assert_eq!(reader.tool_version().unwrap().as_deref(), Some("7.2"));
    assert_eq!(reader.cpu_description().unwrap().as_deref(), Some("a CPU"));
    assert_eq!(reader.cpu_id().unwrap().as_deref(), Some("x,1,2"));
    assert_eq!(reader.clock_resolution().unwrap(), Some(5));
    assert_eq!(reader.clock_data().unwrap(), Some(CLOCKS));
    assert!(reader.compression().unwrap().is_none());
    assert!(reader.features().contains(Feature::CMDLINE) && !reader.features().contains(Feature::CACHE));
    reader.verify_features().unwrap();
}

#[test]
fn metadata_of_a_file_is_known_at_the_opening() {
    let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
    writer.write_records(&sample(9)).unwrap();
    let mut features = features();
    let build_ids = [BuildId::new(b"/bin/sh", &[7; 20], CpuMode::USER)];
    assert!(features.set(Feature::BUILD_ID, &FeatureData::BuildIds(build_ids[..].into())));
    let bytes = writer.finish(&features).unwrap().into_inner();
    let mut of_file = Reader::from_file(Cursor::new(&bytes)).unwrap();
    let mut in_memory = Reader::from_bytes(&bytes).unwrap();
    check(&mut of_file);
    check(&mut in_memory);
    for buffer in [of_file.feature(Feature::BUILD_ID), in_memory.feature(Feature::BUILD_ID)] {
        let buffer = buffer.unwrap().unwrap();
        let Ok(FeatureData::BuildIds(found)) = buffer.section().data() else { panic!("{buffer:?}") };
        assert!(found.iter().eq(build_ids));
    }
    assert_eq!(of_file.next().unwrap().unwrap().event().unwrap().1.name(), Some(&b"my faults"[..]));
    // Nothing to read in the file form.
    in_memory.read_metadata().unwrap();
    assert_eq!(in_memory.next().unwrap().unwrap().event().unwrap().0, 1);
}

/// Returns whether the reader has each feature. None of them may be an error.
fn present<S: Source>(reader: &mut Reader<S>) -> [bool; 6] {
    [
        reader.hostname().unwrap().is_some(),
        reader.arch().unwrap().is_some(),
        reader.cpu_count().unwrap().is_some(),
        reader.total_memory().unwrap().is_some(),
        reader.command_line().unwrap().is_some(),
        reader.sample_time().unwrap().is_some(),
    ]
}

#[test]
fn features_after_the_end_of_a_truncated_file_are_absent_and_the_records_are_there() {
    let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
    writer.write_records(&[sample(9), sample(7)].concat()).unwrap();
    let bytes = writer.finish(&features()).unwrap().into_inner();
    let header = *Reader::from_bytes(&bytes).unwrap().header();
    let records = header.records(0).offset as usize;
    let mut found = std::collections::BTreeSet::new();
    for len in records..=bytes.len() {
        let mut in_memory = Reader::from_bytes(&bytes[..len]).unwrap();
        let mut of_file = Reader::from_file(Cursor::new(&bytes[..len])).unwrap().sorted();
        let is_truncated = len < bytes.len();
        assert_eq!(in_memory.is_truncated().unwrap(), is_truncated, "{len}");
        assert_eq!(of_file.is_truncated().unwrap(), is_truncated, "{len}");
        let features = present(&mut in_memory);
        assert_eq!(present(&mut of_file), features, "{len}");
        assert_eq!(in_memory.verify_features().is_err(), is_truncated, "{len}");
        found.insert(features);
        let (of_memory, error) = until_error(&mut in_memory, |_| ());
        let (of_file, error_of_file) = until_error(&mut of_file, |_| ());
        // 24 bytes a sample.
        let whole = (len - records).min(48) / 24;
        assert_eq!((of_memory.len(), of_file.len()), (whole, whole), "{len}");
        assert_eq!((error.is_some(), error_of_file.is_some()), (whole < 2, whole < 2), "{len}");
    }
    assert!(found.contains(&[false; 6]) && found.contains(&[true; 6]) && found.len() > 4, "{found:?}");
}

#[test]
fn pipe_and_interrupted_recording_are_not_truncated() {
    let mut writer = Writer::pipe(Vec::new(), &events(), &features()).unwrap();
    writer.write_records(&sample(9)).unwrap();
    let bytes = writer.finish(&features()).unwrap();
    assert!(!Reader::from_pipe(&bytes[..]).unwrap().is_truncated().unwrap());
    let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
    writer.write_records(&sample(9)).unwrap();
    let mut bytes = writer.finish(&Features::new()).unwrap().into_inner();
    let (header, _) = RawFileHeader::mut_from_prefix(&mut bytes).unwrap();
    (header.data.size, header.features) = (0, FeatureSet::default());
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    assert!(!reader.is_truncated().unwrap());
    assert_eq!(present(&mut reader), [false; 6]);
}

/// Returns the kinds and offsets of all records.
fn records<S: Source>(reader: &mut Reader<S>) -> Vec<(u32, u64)> {
    all(reader, |record| {
        assert!(record.kernel().is_none() || record.event().is_ok());
        (record.kind().0, record.place().offset())
    })
}

#[test]
fn metadata_of_a_pipe_is_read_before_its_records_and_no_record_is_lost() {
    let mut writer = Writer::pipe(Vec::new(), &events(), &features()).unwrap();
    writer.write_records(&sample(9)).unwrap();
    writer.write_records(&sample(7)).unwrap();
    let bytes = writer.finish(&features()).unwrap();
    let without = records(&mut Reader::from_pipe(&bytes[..]).unwrap());
    let mut of_pipe = Reader::from_pipe(&bytes[..]).unwrap();
    let mut of_file = Reader::from_file(Cursor::new(&bytes)).unwrap();
    let mut in_memory = Reader::from_bytes(&bytes).unwrap();
    assert!(of_pipe.events().as_slice().is_empty() && of_pipe.hostname().unwrap().is_none());
    of_pipe.read_metadata().unwrap();
    of_pipe.read_metadata().unwrap();
    of_file.read_metadata().unwrap();
    in_memory.read_metadata().unwrap();
    check(&mut of_pipe);
    check(&mut of_file);
    check(&mut in_memory);
    assert_eq!(records(&mut of_pipe), without);
    assert_eq!(records(&mut of_file), without);
    assert_eq!(records(&mut in_memory), without);
    assert_eq!(of_pipe.events().as_slice().len(), 2);
    // The same is known after the records.
    let mut after = Reader::from_pipe(&bytes[..]).unwrap();
    records(&mut after);
    after.read_metadata().unwrap();
    check(&mut after);
}

#[test]
fn metadata_of_captured_pipes_is_complete() {
    let mut pipes = 0;
    for name in data::names().into_iter().filter(|name| name.starts_with("pipe")) {
        let bytes = data::file(&name);
        let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
        reader.read_metadata().unwrap();
        assert!(!reader.events().as_slice().is_empty(), "{name}");
        assert!(reader.events().as_slice().iter().all(|event| event.name().is_some()), "{name}");
        assert!(reader.arch().unwrap().is_some(), "{name}");
        let events = reader.events().as_slice().len();
        assert_eq!(records(&mut reader), records(&mut Reader::from_pipe(&bytes[..]).unwrap()), "{name}");
        assert_eq!(reader.events().as_slice().len(), events, "{name}");
        pipes += 1;
    }
    assert!(pipes > 1, "{pipes}");
}

#[test]
fn names_of_captured_files_are_those_of_the_feature() {
    for name in data::names().into_iter().filter(|name| !name.starts_with("pipe")) {
        let bytes = data::file(&name);
        let section = PerfData::new(&bytes).unwrap().feature(Feature::EVENT_DESC).unwrap().expect(&name);
        let Ok(FeatureData::Events(list)) = section.data() else { panic!("{name}") };
        let reader = Reader::from_bytes(&bytes).unwrap();
        let found = reader.events().as_slice().iter().map(|event| event.name());
        assert!(found.eq(list.iter().map(|desc| Some(desc.name))), "{name}");
    }
}

#[test]
fn names_are_found_by_id_where_the_order_differs() {
    let [first, second] = events();
    let mut features = Features::new();
    features.set_events(&[second.clone(), first.clone()]);
    // A file without records is one of an interrupted recording.
    let mut writer = Writer::file(Cursor::new(Vec::new()), &[first, second]).unwrap();
    writer.finish_round().unwrap();
    let bytes = writer.finish(&features).unwrap().into_inner();
    let reader = Reader::from_bytes(&bytes).unwrap();
    let names = reader.events().as_slice().iter().map(|event| event.name());
    assert!(names.eq([Some(&b"cpu-clock:u"[..]), Some(b"my faults")]));
}

#[test]
fn file_with_malformed_names_is_opened_without_them() {
    let mut features = Features::new();
    features.set_bytes(Feature::EVENT_DESC, vec![0xff; 12]);
    let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
    writer.finish_round().unwrap();
    let bytes = writer.finish(&features).unwrap().into_inner();
    let mut reader = Reader::from_file(Cursor::new(&bytes)).unwrap();
    assert!(reader.events().as_slice().iter().all(|event| event.name().is_none()));
    assert!(reader.verify_features().is_err());
}

#[test]
fn malformed_event_of_a_pipe_is_an_error_of_its_metadata_and_of_its_record() {
    let good = [attr(Software::CPU_CLOCK).as_bytes(), 7_u64.as_bytes()].concat();
    let bad = [0_u32, 9].as_bytes().to_vec();
    let bytes =
        pipe(&[record(record_type::HEADER_ATTR, &good), record(record_type::HEADER_ATTR, &bad), sample(7)]);
    let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
    let error = reader.read_metadata().unwrap_err();
    assert!(matches!(error.reason, Reason::Size { what: "an attr", found: 9, .. }), "{error}");
    assert_eq!(reader.events().as_slice().len(), 1);
    let first = reader.next().unwrap().unwrap();
    assert!(matches!(first.user(), Ok(UserRecord::HeaderAttr(_))));
    assert_eq!(reader.next().map(drop).unwrap_err().to_string(), error.to_string());
    assert_eq!(reader.events().as_slice().len(), 1);
}

#[test]
fn truncated_metadata_is_known_up_to_its_end() {
    let writer = Writer::pipe(Vec::new(), &events(), &features()).unwrap();
    let bytes = writer.finish(&features()).unwrap();
    for len in 16..bytes.len() {
        let mut reader = Reader::from_pipe(&bytes[..len]).unwrap();
        reader.read_metadata().unwrap();
        let known = (reader.events().as_slice().len(), reader.features().iter().count());
        while let Ok(Some(_)) = reader.next() {}
        assert_eq!((reader.events().as_slice().len(), reader.features().iter().count()), known, "{len}");
    }
}

#[test]
fn formats_of_a_pipe_are_known_before_its_records() {
    // HEADER_TRACING_DATA: size, padding
    let tracing = record(record_type::HEADER_TRACING_DATA, [16_u32, 0].as_bytes());
    let bytes = pipe(&[tracing.clone(), vec![7; 16], sample(9)]);
    let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
    assert!(reader.feature(Feature::TRACING_DATA).unwrap().is_none());
    reader.read_metadata().unwrap();
    assert_eq!(reader.feature(Feature::TRACING_DATA).unwrap().unwrap().section().bytes, [7; 16]);
    // The record and the data after it are still there.
    assert_eq!(reader.next().unwrap().unwrap().kind(), record_type::HEADER_TRACING_DATA);
    let mut payload = Vec::new();
    reader.read_payload(&mut payload).unwrap();
    assert_eq!(payload, [7; 16]);
    assert_eq!(reader.next().unwrap().unwrap().kind(), perf_abi::RecordType::SAMPLE);
    let truncated = pipe(&[tracing, vec![7; 15]]);
    let mut reader = Reader::from_pipe(&truncated[..]).unwrap();
    reader.read_metadata().unwrap();
    assert!(reader.feature(Feature::TRACING_DATA).unwrap().is_none());
}
