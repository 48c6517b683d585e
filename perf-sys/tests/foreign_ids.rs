//! Samples of software events with the id of an event that has another ring.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use perf_sys::{Attr, AttrFlags, Event, Record, Ring, RingSet, SampleType, Software, Target};
use support::{open_or_skip, tid};

fn attr(event: Software) -> Attr {
    Attr::software(event)
        .with_period(1)
        .with_sample_type(SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME)
        .with_flags(AttrFlags::DISABLED | AttrFlags::SAMPLE_ID_ALL | AttrFlags::EXCLUDE_KERNEL)
}

#[test]
fn samples_with_the_id_of_a_foreign_event_are_decoded() {
    let target = Target::calling_thread();
    let Some(switches) = open_or_skip(&attr(Software::CONTEXT_SWITCHES), target) else { return };
    let mut ring = Ring::map(switches, 16).unwrap();
    ring.redirect(Event::open(&attr(Software::PAGE_FAULTS), target).unwrap()).unwrap();
    let foreign = Ring::map(Event::open(&attr(Software::PAGE_FAULTS), target).unwrap(), 16).unwrap();

    ring.events().for_each(|event| event.enable().unwrap());
    foreign.event().enable().unwrap(); // after the others, so that the kernel writes its sample first
    std::hint::black_box(vec![1_u8; 100 * 4096]);
    ring.events().chain([foreign.event()]).for_each(|event| event.disable().unwrap());

    let mut set = RingSet::new().unwrap();
    set.add(0, ring).unwrap();
    let (mut samples, mut unknown) = (0, 0);
    set.flush_sorted(|record| match record.decode().unwrap() {
        Record::Sample(sample) => {
            assert_eq!(sample.tid(), Some(tid()));
            assert_eq!(sample.time(), Some(record.time()));
            unknown += usize::from(record.event().is_none());
            samples += 1;
        }
        other => panic!("{other}"),
    })
    .unwrap();
    println!("{samples} samples, {unknown} with the id of the foreign event");
    assert!(samples >= 100, "{samples}");
}
