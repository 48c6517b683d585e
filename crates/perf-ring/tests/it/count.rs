//! Counting by separate events, and the printed counts.

use crate::prelude::*;

const TIMES: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);

#[test]
fn each_fresh_page_is_one_page_fault() {
    let Some(event) = own(&faults()) else { return };
    // Code and stack may fault too, but not in every run.
    let counts = [(); 8].map(|()| Count::measure(&event, || touch(64)).unwrap().1.value);
    assert_eq!(counts.iter().min(), Some(&64), "{counts:?}");
}

#[test]
fn count_is_printed_with_the_name_of_its_event() {
    let Some(attr) = hits() else { return };
    let Some(event) = own(&attr) else { return };
    let (system, name) = ("task", "task_rename");
    let event = event.with_name(format!("{system}:{name}"));
    let ((), count) = Count::measure(&event, || hit(3)).unwrap();
    assert_eq!(format!("{count}  {event}"), "3  task:task_rename");
}

#[test]
fn every_software_event_opens_and_reads() {
    for &name in Software::ALL {
        let attr = Attr::software(name).with_flags(AttrFlags::DISABLED).with_read_format(TIMES);
        let Some(event) = own(&attr) else {
            continue; // some are newer than the oldest kernel
        };
        let ((), count) = Count::measure(&event, || spin(1_000)).unwrap();
        assert_eq!(count.time_enabled, count.time_running, "{name}: software events are never multiplexed");
        assert_eq!(count.scaled(), Scaled::Exact(count.value), "{name}");
        assert_eq!(count.coverage(), Some(1.0), "{name}");
        let is_clock = [Software::CPU_CLOCK, Software::TASK_CLOCK].contains(&name);
        assert!(count.value > 0 || !is_clock, "{name}");
        assert_eq!(event.to_string(), name.to_string());
    }
}

#[test]
fn every_generic_hardware_event_opens_or_is_absent() {
    for &name in Hardware::ALL {
        let attr = user_side(Attr::hardware(name)).with_read_format(TIMES);
        let Some(event) = own(&attr) else {
            continue;
        };
        let ((), count) = Count::measure(&event, || spin(100_000)).unwrap();
        assert_eq!(event.to_string(), name.to_string());
        if [Hardware::CPU_CYCLES, Hardware::INSTRUCTIONS].contains(&name) {
            assert!(count.value > 100_000, "{count}");
        }
    }
}

#[test]
fn cache_events_open_or_are_absent() {
    for cache in [Cache::L1D, Cache::LL, Cache::DTLB] {
        for result in [CacheResult::ACCESS, CacheResult::MISS] {
            let attr = user_side(Attr::cache(cache, CacheOp::READ, result));
            if let Some(event) = own(&attr) {
                let ((), count) = Count::measure(&event, || touch(64)).unwrap();
                println!("{count}");
                if (cache, result) == (Cache::L1D, CacheResult::ACCESS) {
                    assert!(count.value >= 64, "{count}");
                }
            }
        }
    }
}

#[test]
fn disabled_event_does_not_count_and_reset_sets_0() {
    let Some(event) = own(&faults()) else { return };
    let value = || Count::read(&event).unwrap().value;
    touch(8);
    assert_eq!(value(), 0, "opened disabled");
    event.enable().unwrap();
    touch(8);
    event.disable().unwrap();
    let counted = value();
    assert!(counted >= 8);
    touch(8);
    assert_eq!(value(), counted);
    event.reset().unwrap();
    assert_eq!(value(), 0);
}

#[test]
fn all_events_of_the_thread_are_enabled_and_disabled_at_once() {
    let Some(event) = own(&faults()) else { return };
    let other = Event::open(&faults(), Target::calling_thread()).unwrap();
    let counts = || [&event, &other].map(|event| Count::read(event).unwrap().value);
    Event::enable_all().unwrap();
    touch(8);
    Event::disable_all().unwrap();
    let counted = counts();
    assert!(counted.iter().all(|&value| value >= 8), "{counted:?}");
    touch(8);
    assert_eq!(counts(), counted);
}
