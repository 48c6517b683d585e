//! Several software events of one kind on one thread. The kernel prepares one sample for all of
//! them.

#![allow(clippy::unwrap_used, clippy::panic)] // also in shared functions

mod support;
mod work;

use perf_abi::{Attr, ReadFormat, SampleType, Software};
use perf_decode::{Record, SampleLayout};
use perf_sys::{Event, Ring, Target};
use support::open_or_skip;
use work::{touch, user_side};

/// Returns the attr of page faults whose samples have the id in three fields.
fn faults() -> Attr {
    user_side(Attr::software(Software::PAGE_FAULTS).with_period(1))
        .with_sample_type(SampleType::IDENTIFIER | SampleType::ID | SampleType::STREAM_ID | SampleType::READ)
        .with_read_format(ReadFormat::ID)
}

/// Returns the ids of the samples in the ring: `IDENTIFIER`, `ID`, `STREAM_ID`, and that of `READ`.
fn ids(ring: &mut Ring) -> Vec<[Option<u64>; 4]> {
    let layout = SampleLayout::new(ring.event().attr());
    let mut batch = ring.batch().unwrap();
    let samples = batch.records().map(|record| match record.unwrap().decode(&layout).unwrap() {
        Record::Sample(sample) => {
            let read = sample.read().unwrap().iter().next().unwrap().id;
            [sample.identifier(), sample.id(), sample.stream_id(), read]
        }
        other => panic!("{other:?}"),
    });
    samples.collect()
}

#[test]
fn id_of_a_sample_is_certain_only_in_its_read_values() {
    let Some(first) = open_or_skip(&faults(), Target::calling_thread()) else { return };
    let last = Event::open(&faults(), Target::calling_thread()).unwrap();
    let mut rings = [first, last].map(|event| Ring::map(event, 16).unwrap());
    let events = rings.each_ref().map(|ring| ring.event().id().unwrap());
    for ring in &rings {
        ring.event().enable().unwrap();
    }
    touch(10);
    for ring in &rings {
        ring.event().disable().unwrap();
    }
    for (ring, own) in rings.iter_mut().zip(events) {
        let found = ids(ring);
        assert!(found.len() >= 10, "{found:?}");
        for [identifier, id, stream_id, read] in found {
            assert_eq!(read, Some(own));
            // The event's own id, or on kernels with the fault that of the event that was opened
            // last.
            let shared = [identifier, id, stream_id];
            assert!([[Some(own); 3], [Some(events[1]); 3]].contains(&shared), "{shared:?} of {events:?}");
        }
    }
}
