//! Reading counters and clocks without a system call, and the way back to `read(2)`.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;
mod work;

use perf_abi::{Attr, AttrFlags, Hardware, MmapCapabilities};
use perf_decode::SampleLayout;
use perf_sys::{Call, Errno, Event, Ring, Target, UserCounter};
use support::{open_or_skip, switch, switch_ring, switches};
use work::{faults, spin, touch, user_side};

#[test]
fn an_event_without_a_hardware_counter_is_read_by_the_kernel() {
    let Some(event) = open_or_skip(&faults(), Target::calling_thread()) else {
        return;
    };
    let counter = UserCounter::map(&event).unwrap();
    assert!(!counter.capabilities().contains(MmapCapabilities::USER_RDPMC));
    assert_eq!(counter.try_read(), None);
    event.measure(|| touch(8)).unwrap();
    let count = counter.read().unwrap();
    assert_eq!(Ok(count), event.read());
    assert!(count.value >= 8);
}

#[test]
fn the_instruction_agrees_with_the_system_call() {
    let attr = user_side(Attr::hardware(Hardware::INSTRUCTIONS)).without_flags(AttrFlags::DISABLED);
    let Some(event) = open_or_skip(&attr, Target::calling_thread()) else {
        return;
    };
    let counter = UserCounter::map(&event).unwrap();
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
        let value = event.read().unwrap().value;
        assert!(value >= last, "{value} after {last}");
        last = value;
        spin(10);
    }
    assert!(by_instruction > 0);
    event.disable().unwrap();
    assert_eq!(counter.try_read(), None, "not on the PMU");
    assert_eq!(counter.read(), event.read());
}

#[test]
fn a_counter_without_children_is_no_count_of_an_inherited_event() {
    let attr = user_side(Attr::hardware(Hardware::INSTRUCTIONS)).with_flags(AttrFlags::INHERIT);
    let Some(event) = open_or_skip(&attr, Target::calling_thread().on_cpu(0)) else {
        return;
    };
    event.enable().unwrap();
    assert_eq!(UserCounter::map(&event).unwrap().try_read(), None);
}

#[test]
fn an_event_with_a_ring_has_no_second_page() {
    let Some(ring) = switch_ring(1) else { return };
    let error = UserCounter::map(ring.event()).unwrap_err();
    assert_eq!((error.call(), error.errno()), (Some(Call::Mmap), Some(Errno::EINVAL)));
}

#[test]
fn a_ring_can_follow_a_counter() {
    let Some(event) = open_or_skip(&switches(), Target::calling_thread()) else {
        return;
    };
    drop(UserCounter::map(&event).unwrap());
    let mut ring = Ring::map(event, 2).unwrap();
    ring.event().enable().unwrap();
    switch(1);
    assert!(!ring.batch().unwrap().is_empty());
}

#[test]
fn the_clock_of_the_cpu_gives_the_time_of_samples() {
    let Some(mut ring) = switch_ring(1) else { return };
    let event = Event::open(&faults(), Target::calling_thread()).unwrap();
    let Some(conversion) = UserCounter::map(&event).unwrap().time_conversion() else {
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
