//! Recordings of the writer, as the perf tool reads them. Skipped on machines without it.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use perf_abi::{Attr, AttrFlags, CpuMode, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use perf_file::FeatureData;
use perf_file::feature::{BuildId, CpuCount, PmuMapping, SampleTime};
use perf_file::format::Feature;
use perf_file::writer::{Features, RecordedEvent, Writer};
use zerocopy::IntoBytes;

/// Path of the mapped file, which does not exist.
const PATH: &[u8] = b"/no/such/file";
/// Samples of each recording.
const SAMPLES: u64 = 5;

fn attr() -> Attr {
    let fields = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME;
    // Without the kernel's map the tool would warn that samples in the kernel cannot be resolved.
    let flags = AttrFlags::SAMPLE_ID_ALL
        | AttrFlags::MMAP
        | AttrFlags::MMAP2
        | AttrFlags::COMM
        | AttrFlags::EXCLUDE_KERNEL;
    Attr::software(Software::CPU_CLOCK).with_sample_type(fields).with_flags(flags).with_period(1_000_000)
}

fn event() -> RecordedEvent {
    RecordedEvent::new(attr(), "cpu-clock").with_ids([41, 42])
}

fn features() -> Features {
    let mut features = Features::new();
    let arguments: [&[u8]; 2] = [b"perfkit", b"record"];
    let pmu = |kind, name| PmuMapping { kind, name };
    let pmus = [pmu(1, b"software"), pmu(2, b"tracepoint")];
    let build_ids = [BuildId::new(PATH, &[7; 20], CpuMode::USER)];
    for (feature, data) in [
        (Feature::HOSTNAME, FeatureData::Text(b"some-host")),
        (Feature::OSRELEASE, FeatureData::Text(b"6.18.0")),
        (Feature::ARCH, FeatureData::Text(std::env::consts::ARCH.as_bytes())),
        (Feature::CPUDESC, FeatureData::Text(b"Some CPU")),
        (Feature::NRCPUS, FeatureData::CpuCount(CpuCount { available: 4, online: 3 })),
        (Feature::TOTAL_MEM, FeatureData::TotalMemory(123_456)),
        (Feature::CMDLINE, FeatureData::CommandLine(arguments[..].into())),
        (Feature::SAMPLE_TIME, FeatureData::SampleTime(SampleTime { first: 1_000_000, last: 5_000_000 })),
        (Feature::PMU_MAPPINGS, FeatureData::PmuMappings(pmus[..].into())),
        (Feature::BUILD_ID, FeatureData::BuildIds(build_ids[..].into())),
    ] {
        assert!(features.set(feature, &data));
    }
    features.set_events(&[event()]);
    features
}

fn write<W: Write>(mut writer: Writer<W>) -> W {
    write_rounds(&mut writer);
    writer.finish(&features()).unwrap()
}

/// Writes a process with a mapping, and samples in it, in two rounds.
fn write_rounds<W: Write>(writer: &mut Writer<W>) {
    let side_band = |kind, misc| RecordBuilder::new(kind, misc).pair(7, 7); // pid, tid
    let comm = side_band(RecordType::COMM, Misc::empty()).string(b"some-task");
    let misc = Misc::empty().with_cpu_mode(CpuMode::USER);
    // addr, len, pgoff; device, inode, generation; prot, flags; filename
    let mmap2 =
        side_band(RecordType::MMAP2, misc).words(&[0x1000, 0x1000, 0, 0, 0, 0]).pair(5, 2).string(PATH);
    for record in [comm, mmap2] {
        let record = record.with_trailer(&attr(), &SampleIdValues::default()).finish();
        writer.write_plain(record.as_bytes()).unwrap();
    }
    for round in [1..=2, 3..=SAMPLES] {
        for time in round {
            let sample =
                SampleBuilder::new(&attr()).identifier(41).ip(0x1234).tid(7, 7).time(time * 1_000_000);
            writer.write_records(sample.finish().as_bytes()).unwrap();
        }
        writer.finish_round().unwrap();
    }
}

/// A file of this test, removed on drop.
struct Recording(PathBuf);

impl Recording {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("perf-file-{name}-{}.data", std::process::id())))
    }

    fn create(&self) -> fs::File {
        fs::File::create(&self.0).unwrap()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Runs the perf tool on the recording, from standard input for a pipe. Returns its output, or
/// `None` without the tool. Fails if the tool reports a problem with the file.
fn perf(recording: &Recording, is_pipe: bool, arguments: &[&str]) -> Option<String> {
    let mut perf = Command::new("perf");
    // Some distributions install a script, which fails if it has no tool for this kernel.
    match perf.arg("version").output() {
        Ok(version) if version.status.success() => {}
        other => {
            eprintln!("skipped: no perf tool: {other:?}");
            return None;
        }
    }
    let mut perf = Command::new("perf");
    perf.args(arguments).env("HOME", std::env::temp_dir()).stdin(Stdio::null());
    if is_pipe {
        perf.args(["-i", "-"]).stdin(fs::File::open(&recording.0).unwrap());
    } else {
        perf.arg("-i").arg(&recording.0);
    }
    let output = perf.output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "perf {arguments:?}: {errors}");
    let problems = ["warning", "incompatible", "corrupt", "unexpected", "truncated", "invalid", "failed to"];
    let is_problem = |line: &&str| problems.iter().any(|problem| line.to_lowercase().contains(problem));
    // The made-up file of the mapping is not there, and losses are followed by their number.
    let is_expected = |line: &&str| {
        line.contains("/no/such/file") || *line == "Warning:" && errors.contains("samples and lost")
    };
    let problem = errors.lines().filter(is_problem).find(|line| !is_expected(line));
    assert_eq!(problem, None, "perf {arguments:?}");
    Some(out.into_owned())
}

fn check(recording: &Recording, is_pipe: bool) {
    let Some(header) = perf(recording, is_pipe, &["report", "--header-only"]) else { return };
    for expected in ["hostname : some-host", "os release : 6.18.0", "nrcpus online : 3", "cpudesc : Some CPU"]
    {
        assert!(header.contains(expected), "{header}");
    }
    let script = perf(recording, is_pipe, &["script", "-F", "comm,pid,time,event,ip"]).unwrap();
    assert_eq!(script.matches("some-task").count() as u64, SAMPLES, "{script}");
    assert!(script.contains("cpu-clock") && script.contains("1234"), "{script}");
    let dump = perf(recording, is_pipe, &["script", "-D"]).unwrap();
    for (record, count) in
        [("PERF_RECORD_SAMPLE", SAMPLES), ("PERF_RECORD_MMAP2", 1), ("PERF_RECORD_COMM", 1)]
    {
        let found = dump.lines().filter(|line| line.contains(record) && line.contains(" 0x")).count();
        assert_eq!(found as u64, count, "{record}: {dump}");
    }
    let report = perf(recording, is_pipe, &["report", "--stdio"]).unwrap();
    assert!(report.contains("some-task"), "{report}");
    let list = perf(recording, is_pipe, &["evlist", "-v"]).unwrap();
    assert!(list.contains("cpu-clock"), "{list}");
}

#[test]
fn perf_tool_reads_the_file_form() {
    let recording = Recording::new("file");
    write(Writer::file(recording.create(), &[event()]).unwrap());
    check(&recording, false);
}

#[test]
fn perf_tool_reads_the_pipe_form() {
    let recording = Recording::new("pipe");
    write(Writer::pipe(recording.create(), &[event()], &features()).unwrap());
    check(&recording, true);
}

#[test]
fn perf_tool_reads_the_rounds_of_a_writer_that_was_killed() {
    let recording = Recording::new("killed");
    write_rounds(&mut Writer::file(recording.create(), &[event()]).unwrap());
    let Some(script) = perf(&recording, false, &["script", "-F", "comm,pid,time,event,ip"]) else { return };
    assert_eq!(script.matches("some-task").count() as u64, SAMPLES, "{script}");
}

#[test]
fn perf_tool_counts_the_losses_that_were_written() {
    let recording = Recording::new("lost");
    let mut writer = Writer::file(recording.create(), &[event()]).unwrap();
    write_rounds(&mut writer);
    writer.write_lost_samples(0, 42, 1993, 0).unwrap();
    writer.finish(&features()).unwrap();
    let Some(report) = perf(&recording, false, &["report", "--stdio"]) else { return };
    assert!(report.contains("Total Lost Samples: 1993"), "{report}");
    let dump = perf(&recording, false, &["script", "-D"]).unwrap();
    let lost = dump.lines().filter(|line| line.contains("PERF_RECORD_LOST_SAMPLES") && line.contains(" 0x"));
    assert_eq!(lost.count(), 1, "{dump}");
}

#[test]
fn perf_tool_names_the_events_of_a_pipe_as_they_were_given() {
    let attr = |event| {
        attr().with(|attr| {
            attr.kind = perf_abi::EventType::SOFTWARE;
            attr.config = event;
        })
    };
    // The tool would make other names of these attrs: with `:uHG`, and of another event.
    let events = [
        RecordedEvent::new(attr(2), "page-faults").with_ids([41]),
        RecordedEvent::new(attr(0), "my own event").with_ids([43, 44]),
    ];
    let recording = Recording::new("names");
    let mut writer = Writer::pipe(recording.create(), &events, &Features::new()).unwrap();
    for identifier in [41, 43, 44] {
        let sample = SampleBuilder::new(&attr(0)).identifier(identifier).ip(0x1234).tid(7, 7).time(1_000_000);
        writer.write_records(sample.finish().as_bytes()).unwrap();
    }
    writer.finish_round().unwrap();
    writer.finish(&Features::new()).unwrap();
    let Some(script) = perf(&recording, true, &["script", "-F", "event"]) else { return };
    let names: Vec<_> = script.lines().map(|line| line.trim().trim_end_matches(':')).collect();
    assert_eq!(names, ["page-faults", "my own event", "my own event"], "{script}");
}
