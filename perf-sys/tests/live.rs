//! Real events, without the crates above. A test that is not permitted to open its event prints the
//! reason and passes; with `PERFKIT_REQUIRE_LIVE=1` it fails.

#![allow(clippy::unwrap_used)] // a failure here fails the test

use std::sync::Arc;

use perf_abi::{Attr, AttrFlags, RecordType, SampleType, Software};
use perf_sys::{DataRing, Event, OverwrittenRing, Target};

/// Opens a disabled event of the calling thread that samples each page fault of user space, with
/// its address.
fn faults(flags: AttrFlags) -> Option<Arc<Event>> {
    let attr = Attr::software(Software::PAGE_FAULTS)
        .with_period(1)
        .with_sample_type(SampleType::ADDR)
        .with_flags(flags | AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    match Event::open(&attr, Target::calling_thread()) {
        Ok(event) => Some(Arc::new(event)),
        Err(error) => {
            let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
            assert!(!required, "{error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// Causes about `pages` page faults. The memory is new as long as the caller keeps that of earlier
/// calls.
fn touch(pages: usize) -> Vec<u8> {
    let mut memory = vec![0_u8; pages * perf_sys::page_size()];
    memory.iter_mut().step_by(perf_sys::page_size()).for_each(|byte| *byte = 1);
    memory
}

/// Returns the words of the records of a ring, which releases them.
fn take(ring: &mut DataRing) -> Vec<u64> {
    let head = ring.refresh().unwrap();
    let (first, wrapped) = ring.unread_from(ring.tail());
    let words = [first, wrapped].concat();
    assert!(ring.copy_from(ring.tail()).eq(words.iter().copied()));
    ring.release(head);
    words
}

/// The kind of a record is in the low half of its first word on little-endian machines.
fn kind(header: u64) -> u32 {
    if cfg!(target_endian = "little") { header as u32 } else { (header >> 32) as u32 }
}

#[test]
fn words_of_a_ring_are_the_samples_that_the_event_has_counted() {
    let Some(event) = faults(AttrFlags::empty()) else { return };
    let mut ring = DataRing::map(&event, 1).unwrap();
    let (mut samples, mut kept) = (0, vec![]);
    for _ in 0..20 {
        event.enable().unwrap();
        kept.push(touch(40)); // the ring wraps meanwhile
        event.disable().unwrap();
        let words = take(&mut ring);
        assert!(words.chunks(2).all(|record| kind(record[0]) == RecordType::SAMPLE.0), "{words:x?}");
        samples += words.len() as u64 / 2;
    }
    let mut count = [0];
    assert_eq!(event.read_raw(&mut count), Ok(1));
    assert_eq!((count[0], samples >= 700), (samples, true), "nothing was lost");
    assert!(take(&mut ring).is_empty());
}

#[test]
fn overwritten_ring_has_its_newest_record_at_the_head() {
    let Some(event) = faults(AttrFlags::WRITE_BACKWARD) else { return };
    let ring = OverwrittenRing::map(&event, 1).unwrap();
    event.enable().unwrap();
    let _kept = touch(1000);
    event.disable().unwrap();
    event.pause_output(true).unwrap();
    OverwrittenRing::wait_for_writers();
    let mut copy = vec![0; ring.words()];
    ring.copy(&mut copy).unwrap();
    let head = (ring.head().unwrap() / 8) as usize % ring.words();
    assert_eq!(kind(copy[head]), RecordType::SAMPLE.0);
}
