//! Groups that sample. The records of all events are in the leader's ring, and the counts are read
//! meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::prelude::*;

/// Returns an attr for a shared ring, with `more` fields in its samples.
fn sampled(event: Software, period: u64, more: SampleType) -> Attr {
    let fields = SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME;
    user_side(Attr::software(event).with_period(period))
        .with_sample_type(fields | more)
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

fn clock() -> Attr {
    sampled(Software::CPU_CLOCK, 1_000_000, SampleType::IP)
}

fn faults() -> Attr {
    sampled(Software::PAGE_FAULTS, 1, SampleType::ADDR)
}

/// Opens a group on the calling thread, unless its events are not permitted.
fn group_or_skip(leader: &Attr, members: &[Attr]) -> Option<Group> {
    own(leader)?;
    Some(Group::open(leader, members, Target::calling_thread()).unwrap())
}

/// Returns the values of the leader and the first member.
fn values(group: &mut Group) -> [u64; 2] {
    let mut counts = group.read().unwrap().iter();
    [(); 2].map(|()| counts.next().unwrap().value)
}

/// Causes page faults and uses at least 20 ms of a CPU.
fn work(group: &mut Group) {
    touch(100);
    let [start, _] = values(group);
    while values(group)[0] < start + 20_000_000 {
        spin(10_000);
    }
}

/// Returns the numbers of samples of the leader and of the first member in the ring. Checks that
/// their layouts differ, and calls `meanwhile` while a record is borrowed.
fn samples(ring: &mut Ring, events: &[Arc<Event>; 2], meanwhile: impl FnOnce()) -> [u64; 2] {
    let ids = events.each_ref().map(|event| event.id().unwrap());
    let mut table = events.each_ref().map(|event| (event.id().unwrap(), SampleLayout::new(event.attr())));
    let layouts = Layouts::new(&mut table).unwrap();
    let mut found = BTreeMap::new();
    let mut batch = ring.batch().unwrap();
    let mut records = batch.records();
    let first = records.next();
    meanwhile();
    for record in first.into_iter().chain(records) {
        let record = record.unwrap();
        let Record::Sample(sample) = record.decode(layouts.find(record).unwrap()).unwrap() else {
            panic!("{record:?}")
        };
        let id = sample.identifier().unwrap();
        assert_eq!([sample.ip().is_some(), sample.addr().is_some()], ids.map(|of| of == id));
        *found.entry(id).or_default() += 1;
    }
    ids.map(|id| found.get(&id).copied().unwrap_or(0))
}

#[test]
fn group_is_read_and_controlled_while_its_ring_is_read() {
    let Some(mut group) = group_or_skip(&clock(), &[faults()]) else { return };
    let mut ring = group.map_ring(64).unwrap();
    let events = [group.leader(), &group.members()[0]].map(Arc::clone);
    let in_ring = ring.events().zip(&events);
    assert!(in_ring.map(|(found, expected)| Arc::ptr_eq(found, expected)).eq([true; 2]));
    for _ in 0..2 {
        group.reset().unwrap();
        assert_eq!(values(&mut group), [0; 2]);
        group.enable().unwrap();
        work(&mut group);
        let early = samples(&mut ring, &events, || {
            group.disable().unwrap();
            let text = group.read().unwrap().to_string();
            assert_eq!(text.lines().count(), 2, "{text}");
        });
        let late = samples(&mut ring, &events, || ());
        let [ticks, faults] = [early[0] + late[0], early[1] + late[1]];
        // A virtual machine that is kept off its CPU has fewer ticks.
        assert!(ticks >= 1, "{ticks} of 20");
        assert!(faults >= 100, "{faults} samples");
        assert_eq!(values(&mut group)[1], faults, "each fault is a sample");
    }
}

#[test]
fn ring_of_a_group_can_be_mapped_again() {
    let Some(mut group) = group_or_skip(&clock(), &[faults()]) else { return };
    let events = [group.leader(), &group.members()[0]].map(Arc::clone);
    for pages in [64, 32] {
        let mut ring = group.map_ring(pages).unwrap();
        group.enable().unwrap();
        touch(10);
        group.disable().unwrap();
        let [_, faults] = samples(&mut ring, &events, || ());
        assert!(faults >= 10, "{faults} samples");
    }
    assert!(values(&mut group)[1] >= 20);
}

#[test]
fn refused_member_leaves_no_event_redirected() {
    let backward = faults().with_flags(AttrFlags::WRITE_BACKWARD);
    let Some(mut group) = group_or_skip(&clock(), &[faults(), backward]) else { return };
    assert_eq!(group.map_ring(1).unwrap_err().errno(), Some(Errno::EINVAL));
    group.measure(|| touch(10)).unwrap();
    assert!(values(&mut group)[1] >= 10);
    let (leader, members) = group.into_parts();
    assert!(Ring::map(leader, 1).is_ok());
    // A 32-bit program cannot detach an event on a 64-bit kernel.
    let is_detached = Ring::map(Arc::clone(&members[0]), 1).is_ok();
    assert!(is_detached || cfg!(target_pointer_width = "32"), "not redirected");
}
