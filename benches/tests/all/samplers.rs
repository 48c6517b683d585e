//! All samplers read the same page faults.

use perfkit_benches::consumers::All;
use perfkit_benches::consumers::samplers::{Found, Sampler, capacity, samplers};
use perfkit_benches::workloads::page_faults::Faults;

use crate::open_or_skip;

/// Opens all samplers for the faults of this thread.
fn open(ring: u8) -> Option<Vec<(&'static str, Box<dyn Sampler>)>> {
    open_or_skip(samplers::<All>(ring))
}

#[test]
fn all_samplers_of_one_stream_read_the_same_values() {
    let Some(mut samplers) = open(6) else { return };
    let mut faults = Faults::new().unwrap();
    let mut compared = 0;
    for _ in 0..10 {
        samplers.iter_mut().for_each(|(_, sampler)| sampler.enable());
        faults.make(3000);
        samplers.iter_mut().for_each(|(_, sampler)| sampler.disable());
        let drained = samplers.iter_mut().map(|(_, sampler)| {
            let mut found = Found::default();
            sampler.drain(&mut found);
            (found.samples, found.lost, found.sum.0)
        });
        let found: Vec<_> = drained.collect();
        assert!(found[0].0 >= 3000);
        // A stray fault in the code that enables may have hit one event and not the next.
        if found.iter().all(|found| found.0 == 3000) {
            assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
            compared += 1;
        }
    }
    assert!(compared > 0, "stray faults in every lap");
}

#[test]
fn a_full_ring_loses_the_same_for_all() {
    let Some(samplers) = open(0) else { return };
    let mut faults = Faults::new().unwrap();
    let fit = capacity(0);
    for (name, mut sampler) in samplers {
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
        // The losses of the second lap are reported before the third lap.
        assert!(reported < sampler.count() && reported >= (4 * fit) as u64 - 2, "{name}: {reported}");
    }
}
