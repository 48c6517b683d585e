//! Conversions between the clocks of the running system. No test measures a duration: each reads a
//! clock before and after, and the converted time must be between them, as far as the stated error
//! permits.

use crate::support::explain::OWN;
use crate::support::skip;
use perf_session::ring::{
    Attr, AttrFlags, Clock, Event, Record, Ring, SampleLayout, SampleType, Software, Target,
};
use perf_session::{ClockError, ClockLine, ClockPair, CpuList, PerfClock, System, TimeSource, choose_clock};
use rustix::thread::{CpuSet, sched_setaffinity};

const MONOTONIC: TimeSource = TimeSource::Clock(Clock::MONOTONIC);

#[track_caller]
fn assert_between(before: u64, time: u64, after: u64, error: u64) {
    let (early, late) = (before.saturating_sub(error), after.saturating_add(error));
    assert!(early <= time && time <= late, "{before} <= {time} <= {after}, give or take {error}");
}

#[test]
fn monotonic_time_converts_to_every_clock_and_back() {
    // REALTIME and TAI may be set at any time.
    for clock in [Clock::MONOTONIC, Clock::MONOTONIC_RAW, Clock::BOOTTIME] {
        let to = TimeSource::Clock(clock);
        let pair = ClockPair::measure(MONOTONIC, to).unwrap();
        let before = to.now().unwrap();
        let time = MONOTONIC.now().unwrap();
        let after = to.now().unwrap();
        assert_between(before, pair.convert(time).unwrap(), after, pair.error_at(time));
        let back = pair.inverse();
        assert_between(time, back.convert(pair.convert(time).unwrap()).unwrap(), time, 0);
    }
}

#[test]
fn all_clocks_can_be_read() {
    for clock in [Clock::REALTIME, Clock::TAI] {
        let pair = ClockPair::measure(MONOTONIC, TimeSource::Clock(clock)).unwrap();
        assert!(pair.from > 0 && pair.to > 0 && pair.error > 0);
    }
}

#[test]
fn cycles_convert_by_two_measurements() {
    stay();
    let first = match ClockPair::measure(TimeSource::Cycles, MONOTONIC) {
        Ok(first) => first,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let before = MONOTONIC.now().unwrap();
    let cycles = TimeSource::Cycles.now().unwrap();
    let after = MONOTONIC.now().unwrap();
    let second = ClockPair::measure(TimeSource::Cycles, MONOTONIC).unwrap();
    let line = ClockLine::new(first, second).unwrap();
    // A hundred more for the reordering of the reading between `before` and `after`.
    assert_between(before, line.convert(cycles).unwrap(), after, line.error_at(cycles) + 100);
}

/// Binds the thread to one CPU: the counters of several may differ.
fn stay() {
    let cpu = CpuList::affinity(&System::new()).unwrap().iter().next().unwrap();
    let mut cpus = CpuSet::new();
    cpus.set(cpu as usize);
    if let Err(error) = sched_setaffinity(None, &cpus) {
        eprintln!("CPU {cpu}: {error}");
    }
}

/// Touches memory that no one has touched, until the ring has a sample of it, and returns its time.
fn fault(ring: &mut Ring) -> u64 {
    ring.event().enable().unwrap();
    while !ring.has_records() {
        Vec::leak(vec![1_u8; 1 << 20]);
    }
    ring.event().disable().unwrap();
    let layout = SampleLayout::new(ring.event().attr());
    let mut batch = ring.batch().unwrap();
    let mut times = batch.records().filter_map(|record| match record.unwrap().decode(&layout).unwrap() {
        Record::Sample(sample) => sample.time(),
        _ => None,
    });
    times.next().unwrap()
}

#[test]
fn times_of_samples_convert_to_a_clock() {
    stay();
    let mut perf = match PerfClock::open() {
        Ok(perf) => perf,
        Err(error) => return skip(error),
    };
    let attr = OWN.with_period(1).with_sample_type(SampleType::TIME).with_flags(AttrFlags::DISABLED);
    let mut ring = Ring::map(Event::open(&attr, Target::calling_thread()).unwrap(), 64).unwrap();
    let raw = TimeSource::Clock(Clock::MONOTONIC_RAW);
    let first = perf.pair(raw).unwrap();
    let before = raw.now().unwrap();
    let time = fault(&mut ring);
    let after = raw.now().unwrap();
    let second = perf.pair(raw).unwrap();
    assert!(first.from <= time && time <= second.from, "{first:?} {time} {second:?}");
    let line = ClockLine::new(first, second).unwrap();
    assert_between(before, line.convert(time).unwrap(), after, line.error_at(time));
    // One pair is enough, with a larger error.
    assert_between(before, first.convert(time).unwrap(), after, first.error_at(time));
}

#[test]
fn chosen_clock_is_that_of_the_samples() {
    let attr = OWN.with_period(1).with_sample_type(SampleType::TIME).with_flags(AttrFlags::DISABLED);
    let clock = choose_clock([&attr], &[Clock::BOOTTIME, Clock::MONOTONIC]).unwrap();
    let attr = attr.with_clock(clock);
    let event = match Event::open(&attr, Target::calling_thread()) {
        Ok(event) => event,
        Err(error) => return skip(error),
    };
    let mut ring = Ring::map(event, 64).unwrap();
    let source = TimeSource::Clock(clock);
    let before = source.now().unwrap();
    let time = fault(&mut ring);
    assert_between(before, time, source.now().unwrap(), 0);
}

#[test]
fn perf_clock_and_its_parameters_agree() {
    stay();
    let mut perf = match PerfClock::open() {
        Ok(perf) => perf,
        Err(error) => return skip(error),
    };
    let attr = Attr::software(Software::DUMMY).with_flags(AttrFlags::EXCLUDE_KERNEL);
    let event = Event::open(&attr, Target::calling_thread()).unwrap();
    let counter = perf_session::ring::RdpmcCounter::map(&event).unwrap();
    let Some(conversion) = counter.time_conversion() else {
        return eprintln!("skipped: this machine does not offer the parameters of the clock");
    };
    let source = TimeSource::Perf(conversion);
    let pair = perf.pair(source).unwrap();
    // Both are the same clock.
    assert_between(pair.from, pair.to, pair.from, pair.error + 100);
}

#[test]
fn thread_name_is_kept() {
    let thread = std::thread::Builder::new().name("clockwork".to_owned()).spawn(|| {
        let pair = PerfClock::open().and_then(|mut perf| perf.pair(MONOTONIC));
        let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
        (pair, name)
    });
    let (pair, name) = thread.unwrap().join().unwrap();
    assert_eq!(name.trim(), "clockwork");
    match pair {
        Ok(pair) => assert!(pair.error > 0),
        Err(error @ ClockError::Event(_)) => skip(error),
        Err(error) => panic!("{error}"),
    }
}
