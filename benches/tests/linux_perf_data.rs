//! The crate linux-perf-data reads the recordings of perf-file's writer.

use std::io::{Cursor, Read, Write};

use linux_perf_data::linux_perf_event_reader::EventRecord;
use linux_perf_data::{PerfFile, PerfFileReader, PerfFileRecord, PerfRecordIter};
use perf_abi::{Attr, AttrFlags, SampleType, Software};
use perf_decode::testing::builder::SampleBuilder;
use perf_file::format::Feature;
use perf_file::synthesize::{Mapping, SideBand};
use perf_file::writer::{BuildId, Features, RecordedEvent, Writer};

/// Addresses and times of the samples, in the order of time.
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
    features.set_text(Feature::HOSTNAME, "some-host");
    features.set_cpus(4, 3);
    features.set_total_memory(1234);
    features.set_command_line(&["perfkit", "record", "-a"]);
    features.set_sample_time(10, 30);
    features.set_pmus(&[(1, "software")]);
    features.set_clock(1, 1, 1_700_000_000_000_000_000, 99);
    features.set_events(&[event()]);
    features.set_build_ids(&[BuildId { path: b"/bin/x".to_vec(), id: vec![7; 20], is_kernel: false }]);
    features
}

fn write<W: Write>(mut writer: Writer<W>) -> W {
    let mut side_band = SideBand::new(&attr());
    side_band.comm(7, 8, b"some-task");
    let code = Mapping { pid: 7, tid: 7, addr: 0x1000, len: 0x1000, prot: 5, ..Mapping::default() };
    side_band.mmap2(&Mapping { path: b"/bin/x", ..code });
    writer.write_plain(side_band.as_bytes()).unwrap();
    // As from two rings: not in the order of time.
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
