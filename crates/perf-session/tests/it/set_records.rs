//! The records of sets of CPUs.

#[allow(dead_code)] // its `main`
#[path = "../../examples/sample_cpus.rs"]
mod sample_cpus;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::set::{open_or_skip, sideband, software, switch, switches, tid};
use perf_session::ring::decode::Window;
use perf_session::ring::{AttrFlags, Layouts, Record, SampleType, Software};
use perf_session::{EventSet, EventSetError, EventSetOptions, EventSetTarget, System, parse};

#[test]
fn records_of_all_events_are_one_sorted_stream() {
    let events = [switches(), sideband(AttrFlags::TASK)];
    let Some(mut set) = open_or_skip(EventSetOptions::new().events(events).ring_pages(128)) else { return };
    set.enable().unwrap();
    switch(20);
    thread::spawn(|| switch(5)).join().unwrap();
    set.disable().unwrap();
    let (mut own, mut forks, mut last, mut cpus) = (0, 0, 0, HashSet::new());
    let drained = set.flush_sorted(|record| {
        assert!(record.time() >= last || record.is_late());
        last = record.time();
        cpus.insert(record.scope());
        match record.decode().unwrap() {
            Record::Sample(sample) => own += usize::from(sample.tid() == Some(tid())),
            Record::Fork(_) => {
                assert_eq!(record.index(), Some(1));
                forks += 1;
            }
            _ => {}
        }
    });
    let drained = drained.unwrap();
    assert!(own >= 20 && forks >= 1 && drained.records >= 20, "{own} of {drained:?}");
    assert!(
        cpus.iter().all(|scope| scope.thread_id().is_none() && set.cpus().contains(scope.cpu_id().unwrap()))
    );
    assert_eq!(set.rings().unwrap().len(), set.cpus().len());
}

#[test]
fn one_event_a_ring_needs_no_identifier() {
    let options = || EventSetOptions::new().event(switches()).ring_pages(16).one_event_a_ring();
    let Some(mut set) = open_or_skip(options()) else { return };
    set.enable().unwrap();
    switch(20);
    set.disable().unwrap();
    let mut own = 0;
    set.flush_sorted(|record| {
        let Record::Sample(sample) = record.decode().unwrap() else { return };
        assert_eq!((sample.identifier(), record.index()), (None, Some(0)));
        assert_eq!(sample.cpu(), record.scope().cpu_id());
        own += u32::from(sample.tid() == Some(tid()));
    })
    .unwrap();
    assert!(own >= 20, "{own}");
    // The samples are 8 bytes smaller than with it.
    let size = |set: &EventSet| set.events().next().unwrap().event.attr().sample_type;
    let usual = EventSetOptions::new().event(switches()).ring_pages(16).open().unwrap();
    assert_eq!(size(&usual) - size(&set), SampleType::IDENTIFIER);
    // Records of several events could not be attributed.
    assert!(matches!(set.add_event(switches()), Err(EventSetError::NotOneEvent { events: 2 })));
    let several =
        [options().event(switches()), options().target(EventSetTarget::process(std::process::id()))];
    for options in several {
        assert!(matches!(crate::support::set::refused(options), EventSetError::NotOneEvent { .. }));
    }
}

#[test]
fn samples_are_decoded_while_another_set_samples_the_same_event() {
    let events = || [switches(), sideband(AttrFlags::TASK), software(Software::CPU_CLOCK)];
    let options = || EventSetOptions::new().group(events()).events(events()).ring_pages(128);
    let Some(mut set) = open_or_skip(options()) else { return };
    let mut other = options().open().unwrap();
    for set in [&mut set, &mut other] {
        set.enable().unwrap();
    }
    switch(20);
    for set in [&mut set, &mut other] {
        set.disable().unwrap();
        let mut own = 0;
        set.flush_sorted(|record| {
            if let Record::Sample(sample) = record.decode().unwrap() {
                own += u32::from(sample.tid() == Some(tid()));
            }
        })
        .unwrap();
        assert!(own >= 40, "two events in each set: {own}");
    }
}

#[test]
fn sample_with_a_foreign_id_is_of_the_only_event_that_may_have_it() {
    // With another layout, so that the records of a ring differ.
    let clock = software(Software::CPU_CLOCK)
        .map_attr(|attr| attr.with_period(1_000_000).with_sample_type(SampleType::TID | SampleType::PERIOD));
    let options = || EventSetOptions::new().events([clock.clone(), switches()]).ring_pages(512);
    let Some(mut set) = open_or_skip(options()) else { return };
    let mut other = options().open().unwrap();
    for set in [&mut set, &mut other] {
        set.enable().unwrap();
    }
    switch(20);
    for set in [&mut set, &mut other] {
        set.disable().unwrap();
    }
    let (mut own, mut foreign) = (0, 0);
    set.flush_sorted(|record| {
        let Record::Sample(sample) = record.decode().unwrap() else { return };
        let index = record.index().unwrap();
        assert_eq!(sample.period().is_some(), index == 0);
        own += u32::from(index == 1 && sample.tid() == Some(tid()));
        foreign += u32::from(record.event().is_none());
    })
    .unwrap();
    assert!(own >= 20, "{own}");

    let mut repair = other.sample_repair().unwrap();
    let table = other.layouts().unwrap();
    let layouts = Layouts::new(table).unwrap();
    let (rings, _) = other.rings_and_ledger().unwrap();
    let (mut copy, mut copied) = (Vec::new(), 0);
    for (key, batch) in rings.ready() {
        batch.unwrap().copy_into(&mut copy);
        let repaired = repair.repair(*key, &mut copy);
        assert_eq!(repaired.removed, 0);
        foreign += repaired.attributed as u32;
        for record in Window::from_slices(&copy, &[]).records(&mut []) {
            let record = record.unwrap();
            if let Record::Sample(sample) = record.decode(layouts.find(record).unwrap()).unwrap() {
                copied += u32::from(sample.period().is_none() && sample.tid() == Some(tid()));
            }
        }
    }
    assert!(copied >= 20, "{copied}");
    println!("{foreign} samples had the id of the other set");
}

#[test]
fn example_finds_the_thread_that_runs() {
    if open_or_skip(EventSetOptions::new().event(software(Software::CPU_CLOCK))).is_none() {
        return;
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let busy = {
        let is_over = Arc::clone(&is_over);
        thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            tid()
        })
    };
    let threads = sample_cpus::sample(Duration::from_secs(2));
    is_over.store(true, Ordering::Relaxed);
    let busy = busy.join().unwrap();
    let threads = threads.unwrap();
    assert!(threads.keys().any(|&(_, thread)| thread == busy), "{busy} of {threads:?}");
}

#[test]
fn group_with_a_sampling_leader_has_the_counts_of_its_members() {
    let events = parse("{cpu-clock/period=100000/,page-faults}:S", &System::new()).unwrap();
    let options =
        EventSetOptions::new().groups(events).target(EventSetTarget::calling_thread()).ring_pages(16);
    let Some(mut set) = open_or_skip(options) else { return };
    set.enable().unwrap();
    while set.counts().unwrap().get(0).unwrap().total().value < 2_000_000 {
        std::hint::black_box(vec![1_u8; 1 << 22]); // page faults
    }
    set.disable().unwrap();
    let mut faults = Vec::new();
    set.flush_sorted(|record| match record.decode().unwrap() {
        Record::Sample(sample) => {
            assert_eq!(record.index(), Some(0), "only the leader samples");
            faults.extend(sample.read().and_then(|values| values.iter().nth(1)).map(|entry| entry.value));
        }
        // On kernels that permit few samples a second.
        Record::Throttle(_) | Record::Unthrottle(_) => {}
        other => panic!("{other}"),
    })
    .unwrap();
    assert!(!faults.is_empty() && faults.is_sorted(), "{faults:?}");
    let total = set.counts().unwrap().get(1).unwrap().total().value;
    assert!(faults.last().is_some_and(|&last| 0 < last && last <= total), "{faults:?} of {total}");
}

#[test]
fn rings_are_read_each_by_itself_with_the_ledger() {
    let events = [switches(), sideband(AttrFlags::TASK)];
    let Some(mut set) = open_or_skip(EventSetOptions::new().events(events).ring_pages(1)) else { return };
    set.enable().unwrap();
    // Each record has at least 16 bytes. The records are of all threads, including other tests.
    switch(perf_session::ring::sys::page_size() as u64 / 4);
    set.disable().unwrap();
    let mut table = set.layouts().unwrap();
    assert_eq!(table.len(), set.events().count());
    let layouts = Layouts::new(&mut table).unwrap();
    let (rings, ledger) = set.rings_and_ledger().unwrap();
    let mut records = 0;
    for (key, batch) in rings.ready() {
        for record in batch.unwrap().records() {
            let record = record.unwrap();
            // The id may belong to a foreign event.
            if let Ok(layout) = layouts.find(record) {
                ledger.note_record(*key, record, layout, None);
            }
            records += 1;
        }
    }
    assert!(records > 0);
    let (reads_lost, ledger) = (set.reads_lost(), set.losses().unwrap());
    assert!(!reads_lost || ledger.dropped() > 0, "the rings were too small");
}
