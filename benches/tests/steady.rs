//! Once everything is open, perf-sys reads counts and records without allocating.

use std::time::Duration;

use perf_abi::{Attr, ReadFormat, Software};
use perf_decode::{Record, SampleLayout};
use perf_event::{Builder, events};
use perf_sys::{Canceller, Event, Group, Readiness, Ring, Target, UserCounter, Wait};
use perfkit_benches::allocations;
use perfkit_benches::live::open_or_skip;
use perfkit_benches::stream::{Faults, attr};

const ME: Target<'_> = Target::calling_thread();

/// What `work` returns, and how often it allocates.
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
    let event = event.with_label(format!("{}:{}", "sched", "sched_switch"));
    let clock = Attr::software(Software::TASK_CLOCK).with_flags(faults.flags).with_read_format(format);
    let mut group = Group::open(&clock, &[faults, faults, faults], ME).unwrap();
    let counter = UserCounter::map(&event).unwrap();
    let mut memory = Faults::new().unwrap();
    let (counts, allocated) = allocations_of(|| {
        let (_, alone) = event.measure(|| memory.make(100)).unwrap();
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
    let mut wait = Wait::over(rings).unwrap();
    let canceller = Canceller::new().unwrap();
    let layout = SampleLayout::new(&attr);
    let mut memory = Faults::new().unwrap();
    let mut samples = [0; 2];
    let mut read = |wait: &mut Wait| {
        for (index, ring) in wait.ready() {
            for record in ring.batch().unwrap().records() {
                let Ok(Record::Sample(sample)) = record.unwrap().decode(&layout) else { continue };
                samples[index] += u64::from(sample.addr().is_some());
            }
        }
    };
    let ((), allocated) = allocations_of(|| {
        for _ in 0..50 {
            wait.rings().for_each(|ring| ring.event().enable().unwrap());
            memory.make(200);
            wait.rings().for_each(|ring| ring.event().disable().unwrap());
            let patience = Some(Duration::from_secs(20));
            assert_eq!(wait.wait_or_cancelled(patience, &canceller), Ok(Readiness::Readable));
            read(&mut wait);
            assert_eq!(wait.wait(Some(Duration::ZERO)), Ok(Readiness::TimedOut));
        }
    });
    assert_eq!(allocated, 0);
    assert!(samples.iter().all(|&samples| samples >= 50 * 200), "{samples:?}");
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
        [ours.read().unwrap().value, theirs.read().unwrap()]
    });
    // A stray fault, of the code that enables, may have met one and not the other.
    assert!(laps.any(|counts| counts == [1000; 2]));
}
