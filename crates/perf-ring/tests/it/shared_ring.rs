//! Several events in one ring, distinguished by the id in each record.

use std::collections::BTreeMap;

use crate::prelude::*;

/// Returns the attr with the flags and fields that a shared ring needs, and `more` fields.
fn shared(attr: Attr, more: SampleType) -> Attr {
    let fields = SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME;
    attr.with(|attr| attr.sample_type = fields | more)
        .with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::DISABLED)
}

fn with_layout(event: &Event) -> (u64, SampleLayout) {
    (event.id().unwrap(), SampleLayout::new(event.attr()))
}

#[test]
fn records_of_three_events_in_one_ring_are_decoded_by_their_ids() {
    let dummy = shared(Attr::software(Software::DUMMY), SampleType::empty()).with_flags(AttrFlags::COMM);
    let faults = shared(Attr::software(Software::PAGE_FAULTS).with_period(1), SampleType::ADDR);
    let Some(hits) = hits() else { return };
    let hits = shared(hits, SampleType::RAW | SampleType::IP);
    let Some(owner) = own(&dummy) else { return };
    let mut ring = Ring::map(owner, 64).unwrap();
    let redirected = [&faults, &hits].map(|attr| Event::open(attr, Target::calling_thread()).unwrap());
    for event in &redirected {
        event.set_output(Some(ring.event())).unwrap();
        event.enable().unwrap();
    }
    ring.event().enable().unwrap();
    touch(64);
    hit(7);
    rustix::thread::set_name(c"renamed").unwrap();
    for event in [ring.event(), &redirected[0], &redirected[1]] {
        event.disable().unwrap();
    }

    let mut table = [ring.event(), &redirected[0], &redirected[1]].map(with_layout);
    let layouts = Layouts::new(&mut table).unwrap();
    let mut samples = BTreeMap::<_, u64>::new();
    let mut renamed = false;
    for record in ring.batch().unwrap().records() {
        let record = record.unwrap();
        match record.decode(layouts.find(record).unwrap()).unwrap() {
            Record::Sample(sample) => {
                let is_hit = sample.raw().is_some();
                assert_ne!(is_hit, sample.addr().is_some(), "each with its own layout");
                *samples.entry(sample.identifier().unwrap()).or_default() += 1;
            }
            Record::Comm(comm) => renamed |= comm.comm() == b"renamed",
            other => panic!("{other:?}"),
        }
    }
    assert!(renamed, "the ring has the owner's records too");
    for event in &redirected {
        assert_eq!(samples.get(&event.id().unwrap()), Some(&count(event)));
    }
    assert_eq!(count(&redirected[1]), 8, "the renaming is a hit too");
}

#[test]
fn samples_of_a_group_have_all_its_counts() {
    let read = |attr: Attr| attr.with_read_format(ReadFormat::GROUP | ReadFormat::ID);
    let leader = read(shared(switches(), SampleType::READ));
    let Some(leader) = own(&leader) else { return };
    let mut ring = Ring::map(leader, 8).unwrap();
    let faults = read(shared(Attr::software(Software::PAGE_FAULTS).with_period(1000), SampleType::READ));
    let member = OpenOptions::new().leader(ring.event()).open(&faults, Target::calling_thread()).unwrap();
    member.set_output(Some(ring.event())).unwrap();
    ring.event().enable_with(IocFlags::GROUP).unwrap();
    for _ in 0..3 {
        touch(64);
        switch(1);
    }
    ring.event().disable_with(IocFlags::GROUP).unwrap();

    let ids = [ring.event().id().unwrap(), member.id().unwrap()];
    let mut table = [ring.event(), &member].map(with_layout);
    let layouts = Layouts::new(&mut table).unwrap();
    let mut before = [0, 0];
    let mut samples = 0;
    for record in ring.batch().unwrap().records() {
        let record = record.unwrap();
        let Record::Sample(sample) = record.decode(layouts.find(record).unwrap()).unwrap() else {
            panic!("{record:?}")
        };
        let counts: Vec<_> =
            sample.read().unwrap().iter().map(|count| (count.id.unwrap(), count.value)).collect();
        assert_eq!(counts.iter().map(|count| count.0).collect::<Vec<_>>(), ids, "the leader first");
        let now = [counts[0].1, counts[1].1];
        assert!(now[0] >= before[0] && now[1] >= before[1], "{now:?} after {before:?}");
        (before, samples) = (now, samples + 1);
    }
    assert!(samples >= 3 && before[0] >= 3, "{samples} samples, {before:?} at the last");
    assert!(before[1] > 0, "faults were counted between the switches");
}

#[test]
fn records_of_a_closed_redirected_event_remain() {
    let attr = shared(switches(), SampleType::empty());
    let Some(owner) = own(&shared(Attr::software(Software::DUMMY), SampleType::empty())) else {
        return;
    };
    let mut ring = Ring::map(owner, 1).unwrap();
    let redirected = Event::open(&attr, Target::calling_thread()).unwrap();
    redirected.set_output(Some(ring.event())).unwrap();
    redirected.enable().unwrap();
    switch(2);
    drop(redirected);
    assert!(ring.batch().unwrap().records().count() >= 2, "its records remain");
}

#[test]
fn redirected_event_is_not_mapped_until_its_redirection_ends() {
    let busy = sys::Error::System { call: Call::Mmap, errno: Errno::EBUSY };
    let attr = shared(switches(), SampleType::empty());
    let Some(owner) = own(&attr) else { return };
    let ring = Ring::map(owner, 1).unwrap();
    let open = || Event::open(&attr, Target::calling_thread()).unwrap();

    let redirected = open();
    redirected.set_output(Some(ring.event())).unwrap();
    assert_eq!(Ring::map(redirected, 1).unwrap_err().error, busy);

    let refused = open();
    assert!(refused.set_output(Some(&open())).is_err(), "it has no ring");
    assert!(Ring::map(refused, 1).is_ok());

    let ended = open();
    ended.set_output(Some(ring.event())).unwrap();
    if let Err(refused) = ended.set_output(None) {
        // A 64-bit kernel does not recognize the -1 of a 32-bit program.
        assert_eq!((refused.errno(), size_of::<usize>()), (Some(Errno::EBADF), 4), "{refused}");
        return eprintln!("skipped: {refused}");
    }
    let mut own = Ring::map(ended, 1).unwrap();
    own.event().enable().unwrap();
    switch(1);
    assert!(own.batch().unwrap().records().count() > 0);
    assert!(!ring.has_records());
}

/// Kernels that return `EBUSY` for redirected events do not do so here. The event itself stores its
/// redirection.
#[test]
fn event_stays_redirected_after_the_ring_was_unmapped() {
    let attr = shared(switches(), SampleType::empty());
    let Some(owner) = own(&attr) else { return };
    let ring = Ring::map(owner, 1).unwrap();
    let open = |flags| OpenOptions::new().leader(ring.event()).flags(flags);
    let redirected =
        [OpenFlags::FD_OUTPUT, OpenFlags::FD_OUTPUT | OpenFlags::FD_NO_GROUP, OpenFlags::FD_NO_GROUP]
            .map(|flags| open(flags).open(&attr, Target::calling_thread()).unwrap());
    redirected[2].set_output(Some(ring.event())).unwrap();
    drop(ring);
    for event in redirected {
        let busy = sys::Error::System { call: Call::Mmap, errno: Errno::EBUSY };
        assert_eq!(Ring::map(event, 1).unwrap_err().error, busy);
    }
}

#[test]
fn backward_event_stays_redirected_after_the_ring_was_unmapped() {
    let attr = shared(switches(), SampleType::empty()).with_flags(AttrFlags::WRITE_BACKWARD);
    let Some(owner) = own(&attr) else { return };
    let ring = SnapshotRing::map(owner, 1).unwrap();
    let redirected = Event::open(&attr, Target::calling_thread()).unwrap();
    redirected.set_output(Some(ring.event())).unwrap();
    drop(ring); // as above
    let error = SnapshotRing::map(redirected, 1).map(|_| ()).unwrap_err().error;
    assert_eq!(error, sys::Error::System { call: Call::Mmap, errno: Errno::EBUSY });
}
