//! perf-ring reads counts and records without allocating, once all events are open.

use std::time::Duration;

use perf_abi::{Attr, AttrFlags, ReadFormat, SampleType, Software};
use perf_decode::{Record, SampleLayout};
use perf_event::{Builder, events};
use perf_ring::{Count, Event, Group, RdpmcCounter, Ring, RingSet, Target, WaitResult, Waker};

use perfkit_benches::workloads::page_faults::{Faults, attr};

use crate::{allocations, open_or_skip};

const ME: Target<'_> = Target::calling_thread();

/// Returns the result of `work`, and the number of its allocations.
fn allocations_of<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = allocations::count();
    let result = work();
    (result, allocations::count() - before)
}

#[test]
fn the_allocator_counts() {
    assert_eq!(allocations_of(|| std::hint::black_box(vec![1_u8])).1, 1);
}

#[test]
fn counting_does_not_allocate() {
    let format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING | ReadFormat::ID;
    let faults = attr(0).with_period(0).with_read_format(format);
    let Some(event) = open_or_skip(Event::open(&faults, ME)) else { return };
    let event = event.with_name(format!("{}:{}", "sched", "sched_switch"));
    let clock = Attr::software(Software::TASK_CLOCK).with_flags(faults.flags).with_read_format(format);
    let mut group = Group::open(&clock, &[faults, faults, faults], ME).unwrap();
    let counter = RdpmcCounter::map(&event).unwrap();
    let mut memory = Faults::new().unwrap();
    let (counts, allocated) = allocations_of(|| {
        let (_, alone) = Count::measure(&event, || memory.make(100)).unwrap();
        let (_, together) = group.measure(|| memory.make(100)).unwrap();
        let [_, member, ..] =
            std::array::from_fn::<_, 4, _>(|index| together.iter().nth(index).unwrap().value);
        [alone.value, counter.read().unwrap().value, member]
    });
    assert!(counts.iter().all(|&count| count >= 100), "{counts:?}");
    assert_eq!(allocated, 0);
}

#[test]
fn reading_many_rings_does_not_allocate() {
    let attr = attr(4096);
    let Some(event) = open_or_skip(Event::open(&attr, ME)) else { return };
    let rings = [event, Event::open(&attr, ME).unwrap()].map(|event| Ring::map(event, 8).unwrap());
    let mut set = RingSet::new().unwrap();
    rings.into_iter().enumerate().for_each(|(key, ring)| set.add(key, ring).unwrap());
    let canceller = Waker::new().unwrap();
    let layout = SampleLayout::new(&attr);
    let mut memory = Faults::new().unwrap();
    let mut samples = [0; 2];
    let mut read = |set: &mut RingSet<usize>| {
        for (&index, batch) in set.ready() {
            for record in batch.unwrap().records() {
                let Ok(Record::Sample(sample)) = record.unwrap().decode(&layout) else { continue };
                samples[index] += u64::from(sample.addr().is_some());
            }
        }
    };
    let mut rounds = |rounds| {
        for _ in 0..rounds {
            set.iter().for_each(|(_, ring)| ring.event().enable().unwrap());
            memory.make(200);
            set.iter().for_each(|(_, ring)| ring.event().disable().unwrap());
            let patience = Some(Duration::from_secs(20));
            assert_eq!(set.wait_or_woken(patience, &canceller), Ok(WaitResult::Readable));
            read(&mut set);
            assert_eq!(set.wait(Some(Duration::ZERO)), Ok(WaitResult::TimedOut));
        }
    };
    rounds(20); // until the records of each ring have wrapped
    assert_eq!(allocations_of(|| rounds(50)).1, 0);
    assert!(samples.iter().all(|&samples| samples >= 70 * 200), "{samples:?}");
}

#[test]
fn sorted_drain_of_many_rings_does_not_allocate() {
    let attr = attr(4096).with_flags(AttrFlags::SAMPLE_ID_ALL);
    let attr = attr.with_sample_type(SampleType::TIME);
    let Some(event) = open_or_skip(Event::open(&attr, ME)) else { return };
    let rings = [event, Event::open(&attr, ME).unwrap()].map(|event| Ring::map(event, 8).unwrap());
    let mut set = RingSet::new().unwrap();
    rings.into_iter().enumerate().for_each(|(key, ring)| set.add(key, ring).unwrap());
    set.set_sort_delay(Duration::ZERO);
    set.iter().for_each(|(_, ring)| ring.event().enable().unwrap());
    let mut memory = Faults::new().unwrap();
    let (mut samples, mut latest) = (0, 0);
    let mut rounds = |rounds| {
        for _ in 0..rounds {
            memory.make(200);
            let drained = set.drain_sorted(|record| {
                assert!(record.time() >= latest);
                latest = record.time();
                samples += 1;
            });
            assert_eq!(drained.unwrap().late, 0);
        }
    };
    rounds(20);
    assert_eq!(allocations_of(|| rounds(50)).1, 0);
    assert!(samples >= 2 * 69 * 200, "{samples}");
}

#[test]
fn both_crates_count_the_same() {
    let Some(ours) = open_or_skip(Event::open(&attr(0).with_period(0), ME)) else { return };
    let mut theirs = Builder::new(events::Software::PAGE_FAULTS).build().unwrap();
    let mut memory = Faults::new().unwrap();
    let mut laps = (0..10).map(|_| {
        ours.reset().unwrap();
        theirs.reset().unwrap();
        ours.enable().unwrap();
        theirs.enable().unwrap();
        memory.make(1000);
        theirs.disable().unwrap();
        ours.disable().unwrap();
        [Count::read(&ours).unwrap().value, theirs.read().unwrap()]
    });
    // A stray fault in the code that enables may have hit one event and not the other.
    assert!(laps.any(|counts| counts == [1000; 2]));
}
