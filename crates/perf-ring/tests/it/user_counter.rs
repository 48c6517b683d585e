//! Counters and clocks read without a system call, and the fallback to `read(2)`.

use crate::prelude::*;

#[test]
fn event_without_a_hardware_counter_is_read_by_the_kernel() {
    let Some(event) = own(&faults()) else { return };
    let counter = RdpmcCounter::map(&event).unwrap();
    assert!(!counter.capabilities().contains(MmapCapabilities::USER_RDPMC));
    assert_eq!(counter.try_read(), None);
    Count::measure(&event, || touch(8)).unwrap();
    let count = counter.read().unwrap();
    assert!(count.value >= 8);
    assert_eq!(Ok(count), Count::read(&event));
}

#[test]
fn instruction_agrees_with_the_system_call() {
    let attr = user_side(Attr::hardware(Hardware::INSTRUCTIONS)).without_flags(AttrFlags::DISABLED);
    let Some(event) = own(&attr) else { return };
    let counter = RdpmcCounter::map(&event).unwrap();
    if !counter.capabilities().contains(MmapCapabilities::USER_RDPMC) {
        return eprintln!("skipped: no cap_user_rdpmc");
    }
    let mut by_instruction = 0;
    let mut last = 0;
    for _ in 0..1_000 {
        if let Some(count) = counter.try_read() {
            assert!(count.value > last, "{} after {last}", count.value);
            last = count.value;
            by_instruction += 1;
        }
        let value = Count::read(&event).unwrap().value;
        assert!(value >= last, "{value} after {last}");
        last = value;
        spin(10);
    }
    assert!(by_instruction > 0);
    event.disable().unwrap();
    assert_eq!(counter.try_read(), None, "not on the PMU");
    assert_eq!(counter.read(), Count::read(&event));
}

#[test]
fn interval_between_two_readings_has_a_value_that_prints() {
    let attr = user_side(Attr::hardware(Hardware::INSTRUCTIONS)).without_flags(AttrFlags::DISABLED);
    let Some(event) = own(&attr) else { return };
    let counter = RdpmcCounter::map(&event).unwrap();
    let before = counter.read().unwrap();
    spin(100_000);
    let count = counter.read().unwrap().since(&before);
    assert!(count.value > 100_000, "{count}");
    assert!(count.scaled().value().is_some_and(|value| value >= count.value), "{count}");
    assert!(!count.to_string().contains('-'), "{count}");
    let has_clock = counter.capabilities().contains(MmapCapabilities::USER_TIME);
    if let Some(fast) = counter.try_read() {
        assert_eq!(fast.time_enabled.is_some(), has_clock, "{fast:?}");
        assert_eq!(fast.time_running.is_some(), has_clock, "{fast:?}");
    }
}

/// Opens an event of page faults, which every user may count.
fn open(flags: AttrFlags, target: Target<'_>) -> Event {
    Event::open(&faults().with_flags(flags), target).unwrap()
}

#[test]
fn event_of_the_calling_thread_is_mapped_however_it_is_named() {
    if own(&faults()).is_none() {
        return;
    }
    let own = Target::calling_thread();
    let named = Target::thread(tid());
    for target in [own, own.on_cpu(0), named, named.on_cpu(0)] {
        let event = open(AttrFlags::empty(), target);
        assert!(RdpmcCounter::map(&event).is_ok(), "{target:?}");
    }
}

#[test]
fn event_of_another_thread_is_refused() {
    if own(&faults()).is_none() {
        return;
    }
    let own = open(AttrFlags::empty(), Target::calling_thread());
    let refused = |event: &Event| RdpmcCounter::map(event).unwrap_err() == sys::Error::NotSelfMonitoring;
    std::thread::scope(|scope| {
        let of_parent = scope.spawn(|| refused(&own));
        assert!(of_parent.join().unwrap(), "opened for the parent, mapped by the child");
    });
    let parent = tid();
    std::thread::spawn(move || {
        assert!(refused(&open(AttrFlags::empty(), Target::thread(parent))), "opened for the parent");
        let event = open(AttrFlags::empty(), Target::thread(tid()));
        assert!(RdpmcCounter::map(&event).is_ok(), "opened for the child");
    })
    .join()
    .unwrap();
}

#[test]
fn event_of_more_than_one_thread_is_refused() {
    if own(&faults()).is_none() {
        return;
    }
    let inherited = open(AttrFlags::INHERIT, Target::calling_thread().on_cpu(0));
    assert_eq!(RdpmcCounter::map(&inherited).unwrap_err(), sys::Error::NotSelfMonitoring);
    let Some(of_cpu) = open_or_skip(&faults(), Target::cpu(0)) else { return };
    assert_eq!(RdpmcCounter::map(&of_cpu).unwrap_err(), sys::Error::NotSelfMonitoring);
}

#[test]
fn event_of_unknown_target_is_refused() {
    let Some(event) = own(&faults()) else { return };
    let fd = descriptor(&event).try_clone_to_owned().unwrap();
    // SAFETY: a perf event opened with this attr; no ring is mapped.
    let adopted = unsafe { Event::from_fd(fd, *event.attr()) };
    assert_eq!(RdpmcCounter::map(&adopted).unwrap_err(), sys::Error::NotSelfMonitoring);
}

#[test]
fn event_with_a_ring_has_no_second_mapping() {
    let Some(ring) = switch_ring(1) else { return };
    let error = RdpmcCounter::map(ring.event()).unwrap_err();
    assert_eq!((error.call(), error.errno()), (Some(Call::Mmap), Some(Errno::EINVAL)));
}

#[test]
fn ring_can_follow_a_counter() {
    let Some(event) = own(&switches()) else { return };
    drop(RdpmcCounter::map(&event).unwrap());
    let mut ring = Ring::map(event, 2).unwrap();
    ring.event().enable().unwrap();
    switch(1);
    assert!(!ring.batch().unwrap().is_empty());
}

#[test]
fn clock_of_the_cpu_converts_to_the_time_of_samples() {
    let Some(mut ring) = switch_ring(1) else { return };
    let event = Event::open(&faults(), Target::calling_thread()).unwrap();
    let Some(conversion) = RdpmcCounter::map(&event).unwrap().time_conversion() else {
        return eprintln!("skipped: no cap_user_time_zero");
    };
    let layout = SampleLayout::new(ring.event().attr());
    ring.batch().unwrap().discard();
    let before = conversion.now();
    switch(3);
    ring.event().disable().unwrap();
    let after = conversion.now();
    for record in ring.batch().unwrap().records() {
        let time = record.unwrap().time(&layout);
        assert!(before <= time && time <= after, "{before:?} {time:?} {after:?}");
    }
}
