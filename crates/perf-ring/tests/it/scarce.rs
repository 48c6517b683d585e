//! More events than the hardware has counters. Pinned ones fail, the others are multiplexed.

use std::time::Instant;

use crate::prelude::*;

/// More counters than any PMU has.
const MANY: usize = 64;

fn many(flags: AttrFlags) -> Option<Vec<Event>> {
    let times = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let attr = user_side(Attr::hardware(Hardware::INSTRUCTIONS)).with_read_format(times).with_flags(flags);
    own(&attr)?;
    Some((0..MANY).map(|_| Event::open(&attr, Target::calling_thread()).unwrap()).collect())
}

#[test]
fn pinned_event_without_a_counter_fails() {
    let Some(events) = many(AttrFlags::PINNED) else { return };
    for event in &events {
        event.enable().unwrap();
    }
    let found = events.iter().map(Count::read).collect::<Vec<_>>();
    assert!(found.contains(&Err(Error::PinnedFailed)), "{found:?}");
    assert!(found.iter().any(Result::is_ok), "{found:?}");
}

#[test]
fn counts_of_multiplexed_events_are_estimates() {
    let Some(events) = many(AttrFlags::empty()) else { return };
    for event in &events {
        event.enable().unwrap();
    }
    let end = PATIENCE.map(|patience| Instant::now() + patience).unwrap();
    let shared = |count: &Count| matches!(count.scaled(), Scaled::Estimate(value) if value >= count.value);
    loop {
        spin(1_000_000);
        let found = events.iter().map(|event| Count::read(event).unwrap()).find(shared);
        if let Some(count) = found {
            assert!(count.coverage().is_some_and(|part| 0.0 < part && part < 1.0), "{count}");
            assert!(count.to_string().starts_with('~'), "{count}");
            return;
        }
        assert!(Instant::now() < end, "{MANY} events, and none is multiplexed");
    }
}
