//! The crate linux-perf-data reads recordings of perf-file's writer.

use std::io::{Cursor, Read, Write};

use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{PerfFile, PerfFileReader, PerfFileRecord, PerfRecordIter};
use perf_abi::{Attr, AttrFlags, Clock, CpuMode, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use perf_file::FeatureData;
use perf_file::feature::{BuildId, ClockData, CpuCount, PmuMapping, SampleTime};
use perf_file::format::Feature;
use perf_file::writer::{Features, RecordedEvent, Writer};

/// Addresses and times of the samples, in time order.
const SAMPLES: [(u64, u64); 3] = [(0x1100, 10), (0x1200, 20), (0x1300, 30)];

fn attr() -> Attr {
    let fields = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME;
    let flags = AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP2 | AttrFlags::MMAP | AttrFlags::COMM;
    Attr::software(Software::CPU_CLOCK).with_sample_type(fields).with_flags(flags).with_period(1000)
}

fn event() -> RecordedEvent {
    RecordedEvent::new(attr(), "cpu-clock").with_ids([5, 6])
}

fn features() -> Features {
    let mut features = Features::new();
    let arguments: [&[u8]; 3] = [b"perfkit", b"record", b"-a"];
    let clocks =
        ClockData { clock: Clock::MONOTONIC, wall_clock_time: 1_700_000_000_000_000_000, clock_time: 99 };
    for (feature, data) in [
        (Feature::HOSTNAME, FeatureData::Text(b"some-host")),
        (Feature::NRCPUS, FeatureData::CpuCount(CpuCount { available: 4, online: 3 })),
        (Feature::TOTAL_MEM, FeatureData::TotalMemory(1234)),
        (Feature::CMDLINE, FeatureData::CommandLine(arguments[..].into())),
        (Feature::SAMPLE_TIME, FeatureData::SampleTime(SampleTime { first: 10, last: 30 })),
        (
            Feature::PMU_MAPPINGS,
            FeatureData::PmuMappings([PmuMapping { kind: 1, name: b"software" }][..].into()),
        ),
        (Feature::CLOCKID, FeatureData::ClockResolution(1)),
        (Feature::CLOCK_DATA, FeatureData::ClockData(clocks)),
        (
            Feature::BUILD_ID,
            FeatureData::BuildIds([BuildId::new(b"/bin/x", &[7; 20], CpuMode::USER)][..].into()),
        ),
    ] {
        assert!(features.set(feature, &data));
    }
    features.set_events(&[event()]);
    features
}

fn write<W: Write>(mut writer: Writer<W>) -> W {
    let side_band = |kind, tid| RecordBuilder::new(kind, Misc::empty()).pair(7, tid);
    let comm = side_band(RecordType::COMM, 8).string(b"some-task");
    // addr, len, pgoff; device, inode, generation; prot, flags; filename
    let mmap2 =
        side_band(RecordType::MMAP2, 7).words(&[0x1000, 0x1000, 0, 0, 0, 0]).pair(5, 2).string(b"/bin/x");
    for record in [comm, mmap2] {
        for word in record.with_trailer(&attr(), &SampleIdValues::default()).finish() {
            writer.write_plain(&word.to_ne_bytes()).unwrap();
        }
    }
    // Written in reverse, as records of several rings are out of time order.
    for (ip, time) in SAMPLES.iter().rev() {
        let sample = SampleBuilder::new(&attr()).identifier(6).ip(*ip).tid(7, 8).time(*time).finish();
        for word in sample {
            writer.write_records(&word.to_ne_bytes()).unwrap();
        }
    }
    writer.finish_round().unwrap();
    writer.finish(&features()).unwrap()
}

/// Compares events and records, which both forms have.
fn check<R: Read>(file: &mut PerfFile, records: &mut PerfRecordIter<R>) {
    let (mut samples, mut tasks, mut files) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(record) = records.next_record(file).unwrap() {
        let PerfFileRecord::EventRecord { attr_index, record } = record else { continue };
        assert_eq!(attr_index, 0);
        match record.parse().unwrap() {
            EventRecord::Sample(sample) => {
                assert_eq!((sample.pid, sample.tid, sample.id), (Some(7), Some(8), Some(6)));
                samples.push((sample.ip.unwrap(), sample.timestamp.unwrap()));
            }
            EventRecord::Comm(comm) => tasks.push(comm.name.as_slice().to_vec()),
            EventRecord::Mmap2(mmap) => files.push(mmap.path.as_slice().to_vec()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(samples, SAMPLES);
    assert_eq!((&tasks[..], &files[..]), (&[b"some-task".to_vec()][..], &[b"/bin/x".to_vec()][..]));
    let [event] = file.event_attributes() else { panic!("{:?}", file.event_attributes()) };
    assert_eq!(event.ids(), [5, 6]);
    assert_eq!(event.attributes().sample_format.bits(), attr().sample_type.bits());
}

#[test]
fn file_form_is_read_with_its_features() {
    let bytes = write(Writer::file(Cursor::new(Vec::new()), &[event()]).unwrap()).into_inner();
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(Cursor::new(bytes)).unwrap();
    check(&mut perf_file, &mut record_iter);
    assert_eq!(perf_file.event_attributes()[0].name(), Some("cpu-clock"));
    assert_eq!(perf_file.hostname().unwrap(), Some("some-host"));
    assert_eq!(perf_file.total_mem().unwrap(), Some(1234));
    assert_eq!(perf_file.cmdline().unwrap().unwrap(), ["perfkit", "record", "-a"]);
    assert_eq!(perf_file.nr_cpus().unwrap().unwrap().nr_cpus_online, 3);
    let times = perf_file.sample_time_range().unwrap().unwrap();
    assert_eq!((times.first_sample_time, times.last_sample_time), (10, 30));
    assert!(perf_file.clock_data().unwrap().is_some() && perf_file.pmu_mappings().unwrap().is_some());
    let build_ids = perf_file.build_ids().unwrap();
    let [dso] = &build_ids.values().collect::<Vec<_>>()[..] else { panic!("{build_ids:?}") };
    assert_eq!((&dso.path[..], &dso.build_id[..]), (&b"/bin/x"[..], &[7; 20][..]));
}

#[test]
fn pipe_form_is_read() {
    let bytes = write(Writer::pipe(Vec::new(), &[event()], &features()).unwrap());
    let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_pipe(&*bytes).unwrap();
    check(&mut perf_file, &mut record_iter);
}
