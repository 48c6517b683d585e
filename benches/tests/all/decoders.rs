//! All decoders read the same values, without allocating.

use perfkit_benches::consumers::{FITS_L2, cases};

use crate::allocations;

#[test]
fn all_decoders_read_the_same_values_in_every_loop() {
    for case in cases() {
        case.check(&mut (case.input)(FITS_L2));
    }
}

#[test]
fn perf_decode_does_not_allocate() {
    for case in cases() {
        let mut input = (case.input)(64 << 10);
        for consumer in case.consumers.iter().filter(|consumer| !consumer.is_peer()) {
            let before = allocations::count();
            (consumer.run)(&mut input);
            let allocated = allocations::count() - before;
            let (group, workload) = (case.group(), case.workload);
            assert_eq!(allocated, case.allocations, "{group}/{workload}/{}", consumer.name);
        }
    }
}
