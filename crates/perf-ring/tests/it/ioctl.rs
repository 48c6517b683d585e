//! The ioctl requests other than enable, disable, reset and id.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::prelude::*;

fn records(ring: &mut Ring) -> usize {
    ring.batch().unwrap().records().count()
}

#[test]
fn refresh_limits_the_number_of_overflows() {
    let Some(mut ring) = own_ring(&switches(), 1) else { return };
    for (overflows, counted) in [(3, 3), (1, 4)] {
        ring.event().refresh(overflows).unwrap();
        switch(10);
        assert_eq!((records(&mut ring), count(ring.event())), (overflows as usize, counted));
    }
}

#[test]
fn a_period_can_be_changed() {
    let Some(mut ring) = switch_ring(1) else { return };
    ring.event().set_period(1 << 40).unwrap();
    records(&mut ring);
    switch(50);
    let after = records(&mut ring);
    assert!(after < 5, "{after}: the current period may end before the new one begins");
    let error = ring.event().set_period(0).unwrap_err();
    assert_eq!(error.call(), Some(Call::IocPeriod));
    assert_eq!(error.errno(), Some(Errno::EINVAL));
}

#[test]
fn output_is_redirected_to_another_ring_and_back() {
    let attr = switches().with_sample_type(SampleType::ID);
    let Some(redirected) = own(&attr) else { return };
    let mut dummy = attr;
    dummy.config = Software::DUMMY.0;
    let mut ring = Ring::map(Event::open(&dummy, Target::calling_thread()).unwrap(), 1).unwrap();
    redirected.set_output(Some(ring.event())).unwrap();
    redirected.enable().unwrap();
    switch(2);
    if let Err(refused) = redirected.set_output(None) {
        // A 64-bit kernel compares 64 bits with -1, but a 32-bit program passes 32.
        assert_eq!((refused.errno(), size_of::<usize>()), (Some(Errno::EBADF), 4), "{refused}");
        return eprintln!("skipped: {refused}");
    }
    let layout = SampleLayout::new(&attr);
    let mut batch = ring.batch().unwrap();
    let first = batch.records().next().unwrap().unwrap();
    let Record::Sample(sample) = first.decode(&layout).unwrap() else { panic!("{first:?}") };
    assert_eq!(sample.id(), redirected.id().ok());
    batch.discard();
    let before = count(&redirected);
    switch(2);
    assert!(count(&redirected) > before);
    assert_eq!(records(&mut ring), 0);
}

#[test]
fn error_of_a_refused_redirection_names_its_causes() {
    let Some(event) = own(&switches()) else { return };
    let other = Event::open(&switches(), Target::calling_thread()).unwrap();
    let Some(mut ring) = switch_ring(1) else { return };
    let refused = [
        event.set_output(Some(&event)),        // itself
        event.set_output(Some(&other)),        // no ring
        ring.event().set_output(Some(&other)), // has a ring
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert_eq!(error.call(), Some(Call::IocSetOutput));
        assert_eq!(error.errno(), Some(Errno::EINVAL));
        assert!(Error::from(error).to_string().contains("the target has no ring"), "{error}");
    }
    switch(1);
    assert!(records(&mut ring) > 0, "the ring is unchanged");
}

#[test]
fn records_of_a_paused_ring_are_lost() {
    let Some(mut ring) = switch_ring(1) else { return };
    ring.event().pause_output(true).unwrap();
    records(&mut ring);
    switch(3);
    assert_eq!(records(&mut ring), 0);
    ring.event().pause_output(false).unwrap();
    switch(1);
    assert!(records(&mut ring) >= 2, "a LOST record and a sample");
}

#[test]
fn requests_that_are_for_other_events_are_refused() {
    let Some(event) = own(&switches()) else { return };
    for filter in [c"a == 1", c"filter 0x1000/0x1000", c"start 0x0@/bin/true"] {
        let error = event.set_filter(filter).unwrap_err();
        assert_eq!(error.errno(), Some(Errno::EINVAL));
        assert!(Error::from(error).to_string().contains("the event takes no filter"), "{error}");
    }
    assert!(event.set_bpf(descriptor(&event)).is_err());
    assert!(event.query_bpf().is_err());
    assert_eq!(event.pause_output(true).unwrap_err().errno(), Some(Errno::EINVAL), "it has no ring");
    let error = event.modify_attributes(&switches()).unwrap_err();
    assert_eq!(error.call(), Some(Call::IocModifyAttributes), "no breakpoint");
}

#[test]
fn a_breakpoint_can_be_moved() {
    static WATCHED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    let watch = |word: &AtomicU64| {
        let addr = word.as_ptr().expose_provenance() as u64;
        Attr::breakpoint(BreakpointType::WRITE, addr, BreakpointLen::EIGHT)
            .with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
    };
    let Some(event) = own(&watch(&WATCHED[0])) else { return };
    event.modify_attributes(&watch(&WATCHED[1])).unwrap();
    WATCHED[0].store(1, Ordering::SeqCst);
    assert_eq!(count(&event), 0);
    WATCHED[1].store(1, Ordering::SeqCst);
    assert_eq!(count(&event), 1);
}

#[test]
fn a_second_filter_is_eexist() {
    let Some(attr) = tracepoint("sched/sched_switch") else { return };
    let Some(event) = own(&attr) else { return };
    assert_eq!(event.set_filter(c"no such field").unwrap_err().errno(), Some(Errno::EINVAL));
    event.set_filter(c"prev_pid == 0").unwrap();
    for second in [c"prev_pid == 0", c"prev_pid != 0"] {
        let error = event.set_filter(second).unwrap_err();
        assert_eq!((error.call(), error.errno()), (Some(Call::IocSetFilter), Some(Errno::EEXIST)));
    }
    let anew = Event::open(&attr, Target::calling_thread()).unwrap();
    anew.set_filter(c"prev_pid != 0").unwrap();
}

#[test]
fn a_tracepoint_has_no_programs() {
    let Some(attr) = tracepoint("sched/sched_switch") else { return };
    let Some(event) = own(&attr) else { return };
    assert!(event.query_bpf().unwrap().is_empty());
}
