use rustix::thread::gettid;

use super::*;
use crate::decode::All;
use crate::live::open_or_skip;
use crate::live::stream::{Faults, SAMPLE};

/// Opens a sampler of each library, all on the faults of this thread.
fn open(ring: u8) -> Option<[Box<dyn Sampler>; 2]> {
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
            assert_eq!(found, [found[0]; 2]);
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
        let reported = found.samples + found.lost;
        let samples = found.samples as usize;
        assert!((2 * fit - 2..=2 * fit).contains(&samples), "{name}: {samples} of {fit} twice");
        // The losses of the second lap are reported before a third.
        assert!(reported < sampler.count() && reported >= (4 * fit) as u64 - 2, "{name}: {reported}");
    }
}
