//! Events of other threads that write into a ring. They are watched, and their records are
//! distinguished.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::prelude::*;

/// Returns the attr of context switches with a wakeup for each, and of the thread's exit.
fn attr() -> Attr {
    switches()
        .with_sample_type(SampleType::TID | SampleType::TIME | SampleType::IDENTIFIER)
        .with_flags(AttrFlags::TASK | AttrFlags::SAMPLE_ID_ALL)
        .with_wakeup_events(1)
}

fn on_cpu_0(thread: &Switcher) -> Option<Event> {
    open_or_skip(&attr(), Target::thread(thread.tid).on_cpu(0))
}

/// Returns a ring of one thread's event, with another thread's event redirected into it, both
/// enabled.
fn shared() -> Option<(Ring, Switcher, Switcher)> {
    let (owner, other) = (Switcher::spawn(), Switcher::spawn());
    let mut ring = Ring::map(on_cpu_0(&owner)?, 1).unwrap();
    ring.redirect(on_cpu_0(&other)?).unwrap();
    ring.events().for_each(|event| event.enable().unwrap());
    Some((ring, owner, other))
}

#[test]
fn wait_outlives_the_owner_of_the_ring_while_a_redirected_event_lives() {
    let Some((mut ring, owner, other)) = shared() else { return };
    owner.exit();
    while ring.wait(Some(Duration::from_millis(1))).unwrap() == WaitResult::Readable {
        kinds(&mut ring);
    }
    for _ in 0..3 {
        let found = ring.wait(Some(Duration::from_millis(1))).unwrap();
        assert!(!found.is_final(), "{found:?} while the other thread lives");
        other.order.send(1).unwrap();
        assert_eq!(ring.wait(PATIENCE), Ok(WaitResult::Readable));
        while ring.wait(Some(Duration::from_millis(1))).unwrap() == WaitResult::Readable {
            kinds(&mut ring);
        }
    }
    other.exit();
    let mut last = None;
    while ring.wait(PATIENCE).unwrap() == WaitResult::Readable {
        last = kinds(&mut ring).pop().or(last);
    }
    assert_eq!(last, Some(RecordType::EXIT));
    assert_eq!(ring.wait(None), Ok(WaitResult::HungUp));
}

#[test]
fn set_waits_for_a_ring_whose_owner_exited_and_frees_it_after_the_last_exit() {
    let Some((ring, owner, other)) = shared() else { return };
    let mut set = RingSet::new().unwrap();
    set.add("shared", ring).unwrap();
    owner.exit();
    let read = |set: &mut RingSet<&str>| set.drain_sorted(|_| {}).unwrap().records;
    while set.wait(Some(Duration::from_millis(30))).unwrap() == WaitResult::Readable {
        read(&mut set);
    }
    assert!((set.end(&"shared"), set.pop_ended().is_none()) == (None, true), "one event lives");
    other.order.send(3).unwrap();
    assert_eq!(set.wait(PATIENCE), Ok(WaitResult::Readable));
    other.exit();
    while set.wait(PATIENCE).unwrap() == WaitResult::Readable {
        read(&mut set);
    }
    let (key, ring, end) = set.pop_ended().unwrap();
    assert_eq!((key, ring.has_records(), end), ("shared", false, WaitResult::HungUp));
    assert!(set.pop_ended().is_none() && set.is_empty());
    assert_eq!(set.wait(None), Ok(WaitResult::HungUp), "an empty set");
}

#[test]
fn event_that_cannot_be_redirected_is_returned() {
    let Some((mut ring, owner, other)) = shared() else { return };
    let stranger = Event::open(&attr(), Target::calling_thread()).unwrap();
    let refused = ring.redirect(stranger).unwrap_err();
    assert_eq!(refused.error.raw_os_error(), Some(22), "another CPU and task: {refused}");
    assert!(Ring::map(refused.value, 1).is_ok(), "and can be mapped");
    assert_eq!(ring.redirected().len(), 1);
    let mut set = RingSet::new().unwrap();
    set.add(7, ring).unwrap();
    let refused = set.redirect(&8, on_cpu_0(&owner).unwrap()).unwrap_err();
    assert_eq!(refused.error, Error::NoSuchKey);
    set.redirect(&7, refused.value).unwrap();
    assert_eq!(set.get(&7).unwrap().redirected().len(), 2);
    owner.exit();
    other.exit();
}

#[test]
fn sorted_records_have_the_event_that_wrote_them() {
    let Some((ring, owner, other)) = shared() else { return };
    let mut attr = attr().with_flags(AttrFlags::INHERIT);
    attr.sample_type |= SampleType::CPU; // another layout, with the id at the same offset
    let mut set = set_of([ring]);
    let third = Switcher::spawn();
    let Some(event) = open_or_skip(&attr, Target::thread(third.tid).on_cpu(0)) else { return };
    set.redirect(&0, event).unwrap();
    set.enable().unwrap();
    let tids = [owner.tid, other.tid, third.tid];
    for thread in [&owner, &other, &third] {
        thread.order.send(5).unwrap();
    }
    for thread in [owner, other, third] {
        thread.exit();
    }
    let events: Vec<_> = set.get(&0).unwrap().events().map(Arc::clone).collect();
    let (mut samples, mut latest) = (BTreeMap::<u32, u64>::new(), 0);
    let drained = set
        .flush_sorted(|record| {
            assert!(record.time() >= latest);
            latest = record.time();
            let decoded = record.decode().unwrap();
            let index = tids.iter().position(|&tid| {
                decoded.sample_id().map_or_else(
                    || matches!(decoded, Record::Sample(sample) if sample.tid() == Some(tid)),
                    |id| id.tid() == Some(tid),
                )
            });
            let event = record.event().unwrap();
            assert!(Arc::ptr_eq(event, &events[index.unwrap()]), "{decoded}");
            if record.raw().kind() == RecordType::SAMPLE {
                *samples.entry(tids[index.unwrap()]).or_default() += 1;
            }
        })
        .unwrap();
    assert!(tids.iter().all(|tid| samples[tid] >= 5), "{samples:?}");
    assert_eq!(drained.late, 0);
}

#[test]
fn set_starts_and_stops_own_and_redirected_events() {
    let Some((ring, owner, other)) = shared() else { return };
    let events: Vec<_> = ring.events().map(Arc::clone).collect();
    let set = set_of([ring]);
    let switch_both = || {
        for thread in [&owner, &other] {
            let done = thread.order.send(5);
            done.unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
        [&events[0], &events[1]].map(|event| Count::read(event).unwrap().value)
    };
    set.disable().unwrap();
    let stopped = switch_both();
    assert_eq!(switch_both(), stopped);
    set.enable().unwrap();
    let started = switch_both();
    assert!(started[0] > stopped[0] && started[1] > stopped[1], "{started:?} {stopped:?}");
    owner.exit();
    other.exit();
}

#[test]
fn events_whose_ids_are_at_different_offsets_are_refused() {
    let Some((ring, owner, other)) = shared() else { return };
    let mut set = set_of([ring]);
    let odd = Attr::software(Software::PAGE_FAULTS)
        .with_period(1)
        .with_sample_type(SampleType::ID | SampleType::TIME | SampleType::IP)
        .with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::DISABLED);
    set.redirect(&0, Event::open(&odd, Target::thread(owner.tid).on_cpu(0)).unwrap()).unwrap();
    let error = set.drain_sorted(|_| {}).unwrap_err();
    assert!(matches!(error, Error::Layouts(_)) && error.to_string().contains("IDENTIFIER"), "{error}");
    owner.exit();
    other.exit();
}

#[test]
fn event_redirected_between_two_rounds_is_known_in_the_next() {
    let Some((_, owner, other)) = shared() else { return };
    let mut set = RingSet::new().unwrap();
    set.add(7, Ring::map(on_cpu_0(&owner).unwrap(), 8).unwrap()).unwrap();
    set.drain_sorted(|_| {}).unwrap();
    set.redirect(&7, on_cpu_0(&other).unwrap()).unwrap();
    set.enable().unwrap();
    other.order.send(3).unwrap();
    other.exit();
    owner.exit();
    let mut indices = std::collections::BTreeSet::new();
    set.flush_sorted(|record| {
        let index = record.event_index();
        let events: Vec<_> = record.event().into_iter().collect();
        assert!(events.iter().all(|event| index.is_some_and(|index| event.attr() == &attr() && index < 2)));
        indices.insert(index);
    })
    .unwrap();
    assert!(indices.contains(&Some(1)), "{indices:?}");
}
