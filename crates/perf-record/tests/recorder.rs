//! Recordings of events that this test's thread causes itself.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a failure fails the test

mod support;

use std::io::Cursor;

use perf_record::file::Reader;
use perf_record::session::ring::{Attr, AttrFlags, Record, RecordType, Software};
use perf_record::session::{
    EventGroup, EventSet, EventSetOptions, EventSetTarget, EventSpec, NamedEvent, System,
};
use perf_record::{FIELDS, Recorder, recorded};
use support::skip;

/// Returns an event that samples each page fault of this thread in user space.
fn faults() -> EventSpec {
    let attr = Attr::software(Software::PAGE_FAULTS).with_period(1);
    EventSpec::new(attr.with_flags(AttrFlags::EXCLUDE_KERNEL))
}

/// Opens events for this thread, or prints the reason why not.
#[track_caller]
fn open(
    groups: Vec<EventGroup>,
    change: impl FnOnce(EventSetOptions) -> EventSetOptions,
) -> Option<EventSet> {
    let options =
        EventSetOptions::new().groups(groups).target(EventSetTarget::calling_thread()).ring_pages(1);
    match change(options.allow_fallback().user_only_if_refused()).open() {
        Ok(set) => Some(set),
        Err(error) => {
            skip(error);
            None
        }
    }
}

fn recorded_faults() -> Vec<EventGroup> {
    recorded([EventGroup::from(NamedEvent::from(faults()))])
}

/// Touches new pages. They are not freed, because reused pages would not fault.
fn fault(pages: usize) {
    let mut memory = vec![0_u8; pages * 4096];
    memory.iter_mut().step_by(4096).for_each(|byte| *std::hint::black_box(byte) = 1);
    std::mem::forget(memory);
}

/// The samples and the losses of the first event in a recording, and the records by kind.
#[derive(Debug, Default)]
struct Found {
    samples: u64,
    lost: u64,
    times: Vec<u64>,
    kinds: Vec<RecordType>,
}

fn found(bytes: &[u8]) -> Found {
    let mut found = Found::default();
    let mut reader = Reader::from_bytes(bytes).unwrap();
    while let Some(record) = reader.next().unwrap() {
        let Some(raw) = record.kernel() else { continue };
        found.kinds.push(raw.kind());
        let is_first = record.event().unwrap().0 == 0;
        match record.decode().unwrap() {
            Record::Sample(sample) => {
                found.samples += 1;
                found.times.extend(sample.time());
            }
            Record::Lost(lost) => found.lost += lost.lost(),
            Record::LostSamples(lost) if is_first => found.lost += lost.lost(),
            _ => {}
        }
    }
    found
}

#[test]
fn samples_and_losses_of_all_parts_sum_to_the_count() {
    let Some(set) = open(recorded_faults(), |options| options) else { return };
    let mut recorder = Recorder::new(set, &System::new()).unwrap();
    let mut parts = Vec::new();
    recorder.set().enable().unwrap();
    for _ in 0..3 {
        let mut part = recorder.begin_file(Cursor::new(Vec::new())).unwrap();
        fault(1000); // a page has some 80 samples
        recorder.drain(&mut part).unwrap();
        fault(10);
        parts.push(recorder.finish(part).unwrap());
    }
    recorder.set().disable().unwrap();
    parts.push({
        let part = recorder.begin_file(Cursor::new(Vec::new())).unwrap();
        recorder.finish(part).unwrap()
    });
    let count = recorder.set_mut().counts().unwrap().get(0).unwrap().total().value;
    let (mut samples, mut lost) = (0, 0);
    for part in parts {
        let found = found(part.out.get_ref());
        assert_eq!(found.samples, part.inventory.samples);
        // The first event's losses exclude the losses of the side-band event.
        assert!(found.lost <= part.lost.total(), "{found:?}, {}", part.lost);
        samples += found.samples;
        lost += found.lost;
    }
    assert!(lost > 0 && samples > 0);
    assert_eq!(samples + lost, count);
    assert_eq!(recorder.close().0.dropped(), lost);
}

#[test]
fn each_part_names_what_runs_already() {
    let Some(set) = open(recorded_faults(), |options| options) else { return };
    let mut recorder = Recorder::new(set, &System::new()).unwrap();
    for _ in 0..2 {
        let part = recorder.begin_pipe(Vec::new()).unwrap();
        let found = found(&recorder.finish(part).unwrap().out);
        assert!(
            found.kinds.contains(&RecordType::COMM) && found.kinds.contains(&RecordType::MMAP2),
            "{found:?}"
        );
    }
}

#[test]
fn what_runs_already_has_all_that_one_of_the_events_asks_for() {
    let side_band = Attr::software(Software::DUMMY).with_flags(AttrFlags::NAMESPACES | AttrFlags::TASK);
    let common = |attr: Attr| attr.with_sample_type(FIELDS).with_flags(AttrFlags::SAMPLE_ID_ALL);
    let events = [faults().map_attr(common), EventSpec::new(common(side_band))];
    let events = events.map(|event| EventGroup::from(NamedEvent::from(event)));
    let Some(set) = open(events.into(), |options| options) else { return };
    let mut recorder = Recorder::new(set, &System::new()).unwrap();
    let (synthesizer, _) = recorder.synthesize().unwrap();
    let mut records = synthesizer.records().records();
    assert!(records.any(|record| record.unwrap().kind() == RecordType::NAMESPACES));
}

#[test]
fn flight_recorder_writes_each_record_once() {
    // The ring has more space than there are records.
    let Some(set) = open(recorded_faults(), |options| options.overwrite().ring_pages(16)) else { return };
    let mut recorder = Recorder::new(set, &System::new()).unwrap();
    recorder.set().enable().unwrap();
    let mut times = Vec::new();
    for part in 0..3 {
        fault(10);
        if part == 2 {
            recorder.set().disable().unwrap();
        }
        let snapshot = recorder.snapshot().unwrap();
        let mut recording = recorder.begin_file(Cursor::new(Vec::new())).unwrap();
        recording.write_snapshot(&snapshot).unwrap();
        let recorded = recorder.finish(recording).unwrap();
        let found = found(recorded.out.get_ref());
        assert_eq!(found.samples, recorded.inventory.samples);
        times.extend(found.times);
    }
    assert!(times.is_sorted_by(|before, after| before < after), "{times:?}");
    let count = recorder.set_mut().counts().unwrap().get(0).unwrap().total().value;
    assert_eq!(times.len() as u64, count);
}

#[test]
fn output_that_fails_is_an_error_with_its_errno() {
    let Some(set) = open(recorded_faults(), |options| options) else { return };
    let mut recorder = Recorder::new(set, &System::new()).unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = recorder.begin_pipe(full).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(28), "{error}"); // ENOSPC
    // The recorder can begin another recording.
    let part = recorder.begin_pipe(Vec::new()).unwrap();
    recorder.finish(part).unwrap();
}
