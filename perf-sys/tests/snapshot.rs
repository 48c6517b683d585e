//! Rings that are overwritten: the newest records, however long it went on before.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;

use perf_abi::{AttrFlags, RecordType, SampleType};
use perf_decode::SampleLayout;
use perf_sys::{Error, Event, SnapshotRing, Target};
use rustix::process::getppid;
use support::{count, open_or_skip, switch, switches, tracepoint};

/// A ring of `pages` that is overwritten, on the calling thread's calls of getppid; with its layout.
fn recorder(pages: usize) -> Option<(SnapshotRing, SampleLayout)> {
    let attr = tracepoint("syscalls/sys_enter_getppid")?
        .with_sample_type(SampleType::TIME | SampleType::RAW)
        .with_flags(AttrFlags::WRITE_BACKWARD);
    let event = open_or_skip(&attr, Target::calling_thread())?;
    event.enable().unwrap();
    Some((SnapshotRing::map(event, pages).unwrap(), SampleLayout::new(&attr)))
}

fn times(recorder: &mut SnapshotRing, layout: &SampleLayout) -> Vec<u64> {
    let mut snapshot = recorder.snapshot().unwrap();
    let records = snapshot.records().unwrap().map(Result::unwrap);
    let samples = records.filter(|record| record.kind() == RecordType::SAMPLE);
    samples.map(|record| record.time(layout).unwrap()).collect()
}

fn calls(number: usize) {
    for _ in 0..number {
        let _ = getppid();
    }
}

#[test]
fn the_newest_records_come_first() {
    let Some((mut recorder, layout)) = recorder(1) else { return };
    calls(5);
    let first = times(&mut recorder, &layout);
    assert_eq!(first.len(), 5);
    assert!(first.is_sorted_by(|new, old| new > old), "{first:?}");
    calls(2);
    let second = times(&mut recorder, &layout);
    assert_eq!(second[2..], first, "it went on, and a snapshot takes nothing away");
}

#[test]
fn a_recorder_holds_the_last_records_after_many_laps() {
    let Some((mut recorder, layout)) = recorder(1) else { return };
    calls(10_000);
    let many = times(&mut recorder, &layout);
    assert!(many.len() > 10 && many.len() < 1000, "{}", many.len());
    calls(1);
    let more = times(&mut recorder, &layout);
    assert!(more[0] > many[0]);
    assert!(more[1..].iter().zip(&many).all(|(later, earlier)| later == earlier));
    assert_eq!(count(recorder.event()), 10_001, "all were counted");
}

#[test]
fn an_empty_recorder_has_no_records() {
    let Some((mut recorder, _)) = recorder(2) else { return };
    assert_eq!(recorder.snapshot().unwrap().records().unwrap().count(), 0);
}

#[test]
fn a_snapshot_of_another_thread_is_whole_while_that_runs() {
    let Some((mut recorder, layout)) = recorder(1) else { return };
    std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            for _ in 0..20 {
                // Decoded with its payload: a record that was overwritten in the middle would be refused.
                let mut snapshot = recorder.snapshot().unwrap();
                for record in snapshot.records().unwrap() {
                    record.unwrap().decode(&layout).unwrap();
                }
            }
            drop(stop);
        });
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            calls(100);
        }
    });
}

#[test]
fn an_event_that_writes_forward_is_refused() {
    let Some(event) = open_or_skip(&switches(), Target::calling_thread()) else {
        return;
    };
    assert_eq!(SnapshotRing::map(event, 1).unwrap_err().error, Error::WriteForward);
}

#[test]
fn a_recorder_of_three_pages_is_refused() {
    let backward = switches().with_flags(AttrFlags::WRITE_BACKWARD);
    let Some(event) = open_or_skip(&backward, Target::calling_thread()) else {
        return;
    };
    assert_eq!(SnapshotRing::map(event, 3).unwrap_err().error, Error::PageCount { found: 3 });
}

#[test]
fn other_backward_events_can_share_the_ring() {
    let backward = switches().with_flags(AttrFlags::WRITE_BACKWARD);
    let Some(event) = open_or_skip(&backward, Target::calling_thread()) else {
        return;
    };
    let mut recorder = SnapshotRing::map(event, 1).unwrap();
    let guest = Event::open(&backward, Target::calling_thread()).unwrap();
    guest.set_output(Some(recorder.event())).unwrap();
    guest.enable().unwrap();
    switch(3);
    assert!(recorder.snapshot().unwrap().records().unwrap().count() >= 3);
}
