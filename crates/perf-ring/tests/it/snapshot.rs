//! Rings in which the kernel overwrites the oldest records.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::prelude::*;

/// Returns an overwritten ring of `pages` pages for [`hits`] of the calling thread, and its layout.
fn recorder(pages: usize) -> Option<(SnapshotRing, SampleLayout)> {
    let attr =
        hits()?.with_sample_type(SampleType::TIME | SampleType::RAW).with_flags(AttrFlags::WRITE_BACKWARD);
    let event = own(&attr)?;
    event.enable().unwrap();
    Some((SnapshotRing::map(event, pages).unwrap(), SampleLayout::new(&attr)))
}

fn times(recorder: &mut SnapshotRing, layout: &SampleLayout) -> Vec<u64> {
    let mut snapshot = recorder.snapshot().unwrap();
    let records = snapshot.records().unwrap().map(Result::unwrap);
    let samples = records.filter(|record| record.kind() == RecordType::SAMPLE);
    samples.map(|record| record.time(layout).unwrap()).collect()
}

#[test]
fn newest_records_are_first() {
    let Some((mut recorder, layout)) = recorder(1) else { return };
    assert_eq!(recorder.data_size(), page_size());
    hit(5);
    let first = times(&mut recorder, &layout);
    assert_eq!(first.len(), 5);
    assert!(first.is_sorted_by(|new, old| new > old), "{first:?}");
    hit(2);
    let second = times(&mut recorder, &layout);
    assert_eq!(second[2..], first, "the ring was resumed, and a snapshot consumes nothing");
}

#[test]
fn snapshot_has_the_last_records_after_many_laps() {
    let Some((mut recorder, layout)) = recorder(1) else { return };
    hit(10_000);
    let many = times(&mut recorder, &layout);
    assert!(many.len() > 10 && many.len() < 1000, "{}", many.len());
    hit(1);
    let more = times(&mut recorder, &layout);
    assert!(more[0] > many[0]);
    assert!(more[1..].iter().zip(&many).all(|(later, earlier)| later == earlier));
    assert_eq!(count(recorder.event()), 10_001, "overwritten records are counted too");
}

#[test]
fn snapshot_has_complete_records_while_the_thread_runs() {
    let Some((mut recorder, layout)) = recorder(1) else { return };
    thread::scope(|scope| {
        let (stop, stopped) = mpsc::channel::<()>();
        scope.spawn(move || {
            for _ in 0..20 {
                // A partly overwritten record would not decode.
                let mut snapshot = recorder.snapshot().unwrap();
                for record in snapshot.records().unwrap() {
                    record.unwrap().decode(&layout).unwrap();
                }
            }
            drop(stop);
        });
        while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
            hit(100);
        }
    });
}

#[test]
fn other_backward_events_can_share_the_ring() {
    let backward = switches().with_flags(AttrFlags::WRITE_BACKWARD);
    let Some(event) = own(&backward) else { return };
    let mut recorder = SnapshotRing::map(event, 1).unwrap();
    let redirected = Event::open(&backward, Target::calling_thread()).unwrap();
    redirected.set_output(Some(recorder.event())).unwrap();
    redirected.enable().unwrap();
    switch(3);
    assert!(recorder.snapshot().unwrap().records().unwrap().count() >= 3);
}

/// Returns `per_cpu` rings of context switches for each CPU, of `pages` pages each.
fn recorders(per_cpu: usize, pages: usize) -> Option<Vec<SnapshotRing>> {
    let attr = switches().with_flags(AttrFlags::WRITE_BACKWARD);
    let cpus = thread::available_parallelism().unwrap().get() as u32;
    let open = |cpu| open_or_skip(&attr, Target::cpu(cpu));
    let events: Option<Vec<_>> = (0..cpus).flat_map(|cpu| vec![cpu; per_cpu]).map(open).collect();
    let rings: Vec<_> = events?.into_iter().map(|event| SnapshotRing::map(event, pages).unwrap()).collect();
    for ring in &rings {
        ring.event().enable().unwrap();
    }
    Some(rings)
}

/// Keeps every CPU switching tasks until the returned sender is dropped.
fn switch_everywhere() -> mpsc::Sender<()> {
    let (stop, stopped) = mpsc::channel();
    let stopped = Arc::new(Mutex::new(stopped));
    for _ in 0..2 * thread::available_parallelism().unwrap().get() {
        let stopped = Arc::clone(&stopped);
        thread::spawn(move || {
            while stopped.lock().unwrap().try_recv() == Err(mpsc::TryRecvError::Empty) {
                switch(10);
            }
        });
    }
    stop
}

#[test]
fn rings_of_all_cpus_are_copied_in_one_grace_period() {
    let Some(mut recorders) = recorders(4, 1) else { return };
    let layout = SampleLayout::new(recorders[0].event().attr());
    let stop = switch_everywhere();
    for _ in 0..20 {
        let snapshots = SnapshotRing::snapshot_all(&mut recorders).unwrap();
        for mut snapshot in snapshots {
            for record in snapshot.records().unwrap() {
                record.unwrap().decode(&layout).unwrap();
            }
        }
    }
    drop(stop);
}

#[test]
fn snapshots_are_in_the_order_of_their_rings_and_rings_are_resumed() {
    let attr = switches().with_flags(AttrFlags::WRITE_BACKWARD);
    let recorder = || Some(SnapshotRing::map(own(&attr)?, 1).unwrap());
    let (Some(mut active), Some(mut idle)) = (recorder(), recorder()) else { return };
    active.event().enable().unwrap();
    let mut last = 0;
    for _ in 0..3 {
        switch(5);
        let snapshots = SnapshotRing::snapshot_all([&mut idle, &mut active]).unwrap();
        let counts: Vec<_> =
            snapshots.into_iter().map(|mut found| found.records().unwrap().count()).collect();
        assert_eq!(counts[0], 0);
        assert!(counts[1] >= last + 5, "{counts:?} after {last}");
        last = counts[1];
    }
    assert!(SnapshotRing::snapshot_all([]).unwrap().is_empty());
}

#[test]
fn rings_that_cannot_be_overwritten_are_refused() {
    let backward = AttrFlags::WRITE_BACKWARD;
    for (flags, pages, expected) in
        [(AttrFlags::empty(), 1, sys::Error::WriteForward), (backward, 3, sys::Error::PageCount { found: 3 })]
    {
        let Some(event) = own(&switches().with_flags(flags)) else { return };
        assert_eq!(SnapshotRing::map(event, pages).unwrap_err().error, expected);
    }
}
