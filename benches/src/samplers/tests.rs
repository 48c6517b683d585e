use rustix::thread::gettid;

use super::*;
use crate::live::open_or_skip;
use crate::stream::{Faults, SAMPLE};
use crate::{All, allocations};

/// A sampler of each library, all on the faults of this thread; or why they may not be.
fn open(ring: u8) -> Option<[Box<dyn Sampler>; 3]> {
    let setup = Setup { thread: gettid(), ring, watermark: 4096 };
    open_or_skip(Ours::<All>::open(&setup))?;
    Some(samplers::<All>().map(|open| open(&setup).unwrap()))
}

#[test]
fn all_samplers_of_one_stream_read_the_same_values() {
    let Some(mut samplers) = open(6) else { return };
    let mut faults = Faults::new().unwrap();
    let mut compared = 0;
    for _ in 0..10 {
        samplers.iter_mut().for_each(|sampler| sampler.enable());
        faults.make(3000);
        samplers.iter_mut().for_each(|sampler| sampler.disable());
        let found = samplers.each_mut().map(|sampler| {
            let mut found = Found::default();
            sampler.drain(&mut found);
            (found.samples, found.lost, found.sum.0)
        });
        assert!(found[0].0 >= 3000);
        // A stray fault, of the code that enables, may have met one and not the next.
        if found.iter().all(|found| found.0 == 3000) {
            assert_eq!(found, [found[0]; 3]);
            compared += 1;
        }
    }
    assert!(compared > 0, "stray faults in every lap");
}

#[test]
fn a_full_ring_loses_the_same_for_all() {
    let Some(mut samplers) = open(0) else { return };
    let mut faults = Faults::new().unwrap();
    let fit = rustix::param::page_size() / SAMPLE;
    for (name, sampler) in NAMES.iter().zip(&mut samplers) {
        let mut found = Found::default();
        for _ in 0..2 {
            sampler.enable();
            faults.make(3 * fit);
            sampler.disable();
            sampler.drain(&mut found);
        }
        let told = found.samples + found.lost;
        let samples = found.samples as usize;
        assert!((2 * fit - 2..=2 * fit).contains(&samples), "{name}: {samples} of {fit} twice");
        // Those of the second lap are told before a third.
        assert!(told < sampler.count() && told >= (4 * fit) as u64 - 2, "{name}: {told}");
    }
}

#[test]
fn neither_waiting_nor_draining_nor_counting_allocates() {
    let Some([mut ours, ..]) = open(6) else { return };
    let mut faults = Faults::new().unwrap();
    let mut before = allocations::count();
    let mut found = Found::default();
    let mut calls = 0;
    for pass in 0..100 {
        if pass == 50 {
            before = allocations::count(); // the buffer for records that wrap has grown
        }
        ours.enable();
        faults.make(200);
        ours.disable();
        calls += u32::from(ours.wait_and_drain(Duration::from_secs(20), &mut found));
        assert!(ours.count() >= found.samples);
    }
    assert_eq!(allocations::count(), before, "something allocates");
    assert_eq!((calls, found.lost), (100, 0));
    assert!(found.samples >= 100 * 200);
}
