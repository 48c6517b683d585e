//! Sets of CPUs: counting, sampling, and what is not possible.

#![allow(clippy::unwrap_used, clippy::panic)] // a failure here fails the test

mod set_support;

#[allow(dead_code)] // its `main`
#[path = "../examples/system_wide.rs"]
mod system_wide;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use perf_events::sys::{AttrFlags, Record, SampleType, Software};
use perf_events::{CpuList, Place, Set, SetError, SetOptions, SetTarget, System, parse};
use set_support::{open_or_skip, refused, sideband, software, switch, switches, tid};

#[test]
fn each_online_cpu_has_its_count() {
    let events = [software(Software::CONTEXT_SWITCHES), software(Software::CPU_CLOCK)];
    let Some(mut set) = open_or_skip(SetOptions::new().events(events)) else { return };
    set.enable().unwrap();
    switch(10);
    set.disable().unwrap();
    let counts = set.counts().unwrap();
    let [switches, clock] = [0, 1].map(|index| counts.get(index).unwrap());
    assert!(switches.total().value >= 10, "{counts}");
    assert_eq!(switches.total().time_running, switches.total().time_enabled, "not multiplexed");
    let cpus: CpuList = clock.by_cpu().into_iter().map(|(cpu, _)| cpu).collect();
    assert_eq!(cpus, set.cpus());
    assert!(clock.by_cpu().iter().all(|(_, count)| count.value > 0), "{counts}");
    assert_eq!(
        counts.iter().map(|event| event.name().to_string()).collect::<Vec<_>>(),
        ["CONTEXT_SWITCHES", "CPU_CLOCK"]
    );
}

#[test]
fn nothing_counts_before_the_set_is_enabled() {
    let Some(mut set) = open_or_skip(SetOptions::new().event(software(Software::CPU_CLOCK))) else { return };
    switch(10);
    let total = set.counts().unwrap().get(0).unwrap().total();
    assert_eq!((total.value, total.time_enabled), (0, Some(0)));
}

#[test]
fn interval_is_the_difference_of_two_readings() {
    let Some(mut set) = open_or_skip(SetOptions::new().event(software(Software::CONTEXT_SWITCHES))) else {
        return;
    };
    set.enable().unwrap();
    switch(10);
    let before = set.counts().unwrap();
    switch(20);
    let now = set.counts().unwrap();
    let (all, last) = (now.get(0).unwrap().total().value, now.since(&before).get(0).unwrap().total().value);
    assert!(last >= 20 && all >= last + 10, "{last} of {all}");
}

#[test]
fn records_of_all_events_are_one_sorted_stream() {
    let events = [switches(), sideband(AttrFlags::TASK)];
    let Some(mut set) = open_or_skip(Set::options().events(events).ring_pages(64)) else { return };
    set.enable().unwrap();
    switch(20);
    thread::spawn(|| switch(5)).join().unwrap();
    set.disable().unwrap();
    let (mut own, mut forks, mut last, mut cpus) = (0, 0, 0, HashSet::new());
    let drained = set.flush_sorted(|record| {
        assert!(record.time() >= last || record.is_late());
        last = record.time();
        cpus.insert(record.place());
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
        cpus.iter().all(|place| place.thread_id().is_none() && set.cpus().contains(place.cpu_id().unwrap()))
    );
    assert_eq!(set.rings().unwrap().len(), set.cpus().len());
}

#[test]
fn only_the_chosen_cpus_are_opened() {
    let last = CpuList::online(&System::new()).unwrap().iter().last().unwrap();
    let target = SetTarget::cpus(std::iter::once(last).collect());
    let Some(set) = open_or_skip(SetOptions::new().event(switches()).target(target).ring_pages(8)) else {
        return;
    };
    let places: Vec<Place> = set.events().map(|event| event.place).collect();
    assert_eq!(places, [Place::cpu(last)]);
    assert!(set.events().all(|event| event.event.attr().sample_type.contains(SampleType::IDENTIFIER)));
}

#[test]
fn cpu_that_the_machine_does_not_have_is_an_error() {
    let target = SetTarget::cpus([0, 4000].into_iter().collect());
    let error = refused(SetOptions::new().event(switches()).target(target));
    assert!(matches!(&error, SetError::ImpossibleCpus { cpus } if cpus.as_slice() == [4000]), "{error}");
}

#[test]
fn event_is_opened_on_the_cpus_of_its_pmu_only() {
    let on = |cpus: &[u32]| software(Software::CPU_CLOCK).with_cpus(cpus.iter().copied().collect(), true);
    let first = CpuList::online(&System::new()).unwrap().iter().next().unwrap();
    let Some(set) = open_or_skip(SetOptions::new().event(on(&[first]))) else { return };
    assert_eq!(set.cpus().as_slice(), [first]);
    let error = refused(SetOptions::new().event(on(&[4000])));
    assert!(matches!(error, SetError::NoCpu { .. }), "{error}");
}

#[test]
fn set_without_events_is_an_error() {
    assert!(matches!(refused(SetOptions::new()), SetError::NoEvents));
}

#[test]
fn counting_set_has_no_rings() {
    let Some(mut set) = open_or_skip(SetOptions::new().event(software(Software::CPU_CLOCK))) else { return };
    assert!(matches!(set.wait(None), Err(SetError::NoRings)));
    assert!(matches!(set.drain_sorted(|_| ()), Err(SetError::NoRings)));
    assert!(set.rings().is_none());
}

#[test]
fn example_finds_the_thread_that_runs() {
    if open_or_skip(SetOptions::new().event(software(Software::CPU_CLOCK))).is_none() {
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
    let threads = system_wide::sample(Duration::from_secs(2));
    is_over.store(true, Ordering::Relaxed);
    let busy = busy.join().unwrap();
    let threads = threads.unwrap();
    assert!(threads.keys().any(|&(_, thread)| thread == busy), "{busy} of {threads:?}");
}

#[test]
fn group_with_a_sampling_leader_has_the_counts_of_its_members() {
    let events = parse("{context-switches/period=1/,page-faults}:S", &System::new()).unwrap();
    let options = SetOptions::new().groups(events).target(SetTarget::calling_thread()).ring_pages(16);
    let Some(mut set) = open_or_skip(options) else { return };
    set.enable().unwrap();
    switch(5);
    std::hint::black_box(vec![1_u8; 1 << 22]);
    switch(5);
    set.disable().unwrap();
    let mut faults = Vec::new();
    set.flush_sorted(|record| match record.decode().unwrap() {
        Record::Sample(sample) => {
            assert_eq!(record.index(), Some(0), "only the leader samples");
            faults.extend(sample.read().and_then(|values| values.iter().nth(1)).map(|entry| entry.value));
        }
        other => panic!("{other}"),
    })
    .unwrap();
    assert!(faults.len() >= 10 && faults.is_sorted(), "{faults:?}");
    assert!(faults.last() >= Some(&100), "{faults:?}");
    let counts = set.counts().unwrap();
    assert_eq!(counts.get(0).unwrap().total().value, faults.len() as u64);
}

#[test]
fn events_of_a_group_are_read_at_one_moment() {
    let events = [software(Software::CPU_CLOCK), software(Software::CONTEXT_SWITCHES)];
    let Some(mut set) = open_or_skip(SetOptions::new().group(events)) else { return };
    set.enable().unwrap();
    switch(10);
    let counts = set.counts().unwrap();
    let places = |index: usize| counts.get(index).unwrap().places().to_vec();
    assert_eq!(
        set.events().map(|event| event.is_member).collect::<Vec<_>>(),
        [false, true].repeat(set.cpus().len())
    );
    for (leader, member) in places(0).iter().zip(places(1)) {
        assert_eq!((leader.place, leader.count.time_enabled), (member.place, member.count.time_enabled));
    }
}
