//! Rings of the running kernel, full of samples of page faults: `drain-TOUCH/KIB/READER` for one
//! ring, `drain-sorted/RUN/READER` for two rings in time order. The time to fill the rings is not
//! measured.

use std::cell::RefCell;

use criterion::measurement::Measurement;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use perf_abi::{AttrFlags, RecordType};
use perf_decode::{RawRecord, Record};
use perf_ring::{Batch, Event, Ring, RingSet, Target};
use perfkit_benches::consumers::samplers::{Found, capacity, samplers};
use perfkit_benches::consumers::{All, Few, Touch};
use perfkit_benches::workloads::page_faults::{Faults, SAMPLE, attr};
use perfkit_benches::{Result, bench_main};

fn rings<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    for ring in [7, 9] {
        drain::<Few, M>(criterion, ring)?;
        drain::<All, M>(criterion, ring)?;
    }
    drain_sorted(criterion, "alternating", 1)?;
    drain_sorted(criterion, "runs-of-50", 50)
}

fn throughput(samples: usize) -> Throughput {
    Throughput::ElementsAndBytes { elements: samples as u64, bytes: (samples * SAMPLE) as u64 }
}

/// Asserts that all samples were read. A stray fault may add one.
fn assert_samples(found: u64, expected: usize) {
    let expected = expected as u64;
    assert!((expected..expected + 10).contains(&found), "expected {expected} samples, found {found}");
}

fn drain<T: Touch + 'static, M: Measurement>(criterion: &mut Criterion<M>, ring: u8) -> Result<()> {
    // Leaves space for stray faults, because a full ring gets a record of its losses later.
    let samples = capacity(ring) - 10;
    let mut faults = Faults::new()?;
    let mut group = criterion.benchmark_group(format!("drain-{}", T::NAME));
    group.throughput(throughput(samples));
    for (name, sampler) in samplers::<T>(ring)? {
        let sampler = RefCell::new(sampler);
        let mut fill = || {
            let mut sampler = sampler.borrow_mut();
            sampler.enable();
            faults.make(samples);
            sampler.disable();
        };
        let drain = |()| {
            let mut found = Found::default();
            sampler.borrow_mut().drain(&mut found);
            assert_samples(found.samples, samples);
            found
        };
        // The first read touches each page of the ring.
        fill();
        drain(());
        let kib = (capacity(ring) * SAMPLE).next_power_of_two() >> 10;
        group.bench_function(BenchmarkId::new(format!("{kib}KiB"), name), |bencher| {
            bencher.iter_batched(&mut fill, drain, BatchSize::PerIteration);
        });
    }
    group.finish();
    Ok(())
}

/// Number of samples in each ring of 512 KiB.
const SAMPLES: usize = 8_000;

/// Adds only the ip and time of a sample.
#[inline(always)]
fn add(found: &mut Found, ip: Option<u64>, time: u64) {
    found.sample::<Few>(ip, Some(time), || [None; 5]);
}

/// Reads all rings of a set in time order.
type Read = fn(&mut RingSet<usize>, &mut Found) -> Result<()>;

const READERS: [(&str, Read); 3] = [("by-hand", by_hand), ("undecoded", undecoded), ("decoded", decoded)];

fn undecoded(set: &mut RingSet<usize>, found: &mut Found) -> Result<()> {
    set.flush_sorted(|record| add(found, record.raw().words().get(1).copied(), record.time()))?;
    Ok(())
}

fn decoded(set: &mut RingSet<usize>, found: &mut Found) -> Result<()> {
    set.flush_sorted(|record| {
        if let Ok(Record::Sample(sample)) = record.decode() {
            add(found, sample.ip(), record.time());
        }
    })?;
    Ok(())
}

fn by_hand(set: &mut RingSet<usize>, found: &mut Found) -> Result<()> {
    let mut batches = set.ready();
    if let (Some((_, first)), Some((_, second))) = (batches.next(), batches.next()) {
        merge_two(first?, second?, found);
    }
    Ok(())
}

/// Returns the next sample of a ring, with its time.
fn head<'b>(
    records: &mut impl Iterator<Item = perf_decode::Result<RawRecord<'b>>>,
) -> Option<(u64, &'b [u64])> {
    let samples = |record: RawRecord<'b>| (record.kind() == RecordType::SAMPLE).then(|| record.words());
    let words = records.find_map(|record| samples(record.ok()?))?;
    Some((*words.get(3)?, words))
}

/// Reads two batches in time order, like a program that knows its attr, with constant offsets.
fn merge_two(mut first: Batch<'_>, mut second: Batch<'_>, found: &mut Found) {
    let (mut a, mut b) = (first.records(), second.records());
    let (mut next_a, mut next_b) = (head(&mut a), head(&mut b));
    loop {
        let (time, words) = match (next_a, next_b) {
            (Some(next), other) if other.is_none_or(|(time, _)| next.0 <= time) => {
                next_a = head(&mut a);
                next
            }
            (_, Some(next)) => {
                next_b = head(&mut b);
                next
            }
            _ => break,
        };
        add(found, Some(words[1]), time);
    }
}

fn drain_sorted<M: Measurement>(criterion: &mut Criterion<M>, workload: &str, run: usize) -> Result<()> {
    let mut set = RingSet::new()?;
    let attr = attr(0).with_flags(AttrFlags::SAMPLE_ID_ALL);
    for key in 0..2 {
        set.add(key, Ring::map(Event::open(&attr, Target::calling_thread())?, 128)?)?;
    }
    let events: Vec<_> = set.iter().map(|(_, ring)| ring.event().clone()).collect();
    let set = RefCell::new(set);
    let mut faults = Faults::new()?;
    let mut fill = || {
        for event in events.iter().cycle().take(2 * SAMPLES / run) {
            event.enable().expect("the event is ours");
            faults.make(run);
            event.disable().expect("the event is ours");
        }
    };
    let mut group = criterion.benchmark_group("drain-sorted");
    group.throughput(throughput(2 * SAMPLES));
    for (name, read) in READERS {
        let drain = |()| {
            let mut found = Found::default();
            read(&mut set.borrow_mut(), &mut found).expect("the kernel's positions");
            assert_samples(found.samples, 2 * SAMPLES);
            found
        };
        group.bench_function(BenchmarkId::new(workload, name), |bencher| {
            bencher.iter_batched(&mut fill, drain, BatchSize::PerIteration);
        });
    }
    group.finish();
    Ok(())
}

bench_main!(rings);
