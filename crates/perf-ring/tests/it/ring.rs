//! The ring: records are read and released, and losses are reported.

use std::sync::Arc;
use std::time::Duration;

use rustix::thread::gettid;

use crate::prelude::*;

fn times(ring: &mut Ring, limit: usize) -> Vec<u64> {
    let layout = SampleLayout::new(ring.event().attr());
    let mut batch = ring.batch().unwrap();
    let records = batch.records().map(Result::unwrap).filter(|record| record.kind() == RecordType::SAMPLE);
    records.take(limit).map(|record| record.time(&layout).unwrap()).collect()
}

#[test]
fn samples_have_the_thread_and_the_instruction_pointer() {
    let attr = Attr::software(Software::CPU_CLOCK)
        .with_period(100_000)
        .with_sample_type(SampleType::IP | SampleType::TID)
        .with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
    let Some(mut ring) = own_ring(&attr, 8) else { return };
    let layout = SampleLayout::new(&attr);
    let me = gettid().as_raw_nonzero().get().unsigned_abs();
    ring.event().enable().unwrap();
    let mut seen = 0;
    while seen < 3 {
        std::hint::black_box((0..100_000_u64).sum::<u64>());
        for record in ring.batch().unwrap().records() {
            if let Record::Sample(sample) = record.unwrap().decode(&layout).unwrap() {
                assert_eq!((sample.pid(), sample.tid()), (Some(std::process::id()), Some(me)));
                assert_ne!(sample.ip(), Some(0));
                seen += 1;
            }
        }
    }
}

#[test]
fn full_ring_reports_the_number_of_lost_records() {
    let Some(mut ring) = switch_ring(1) else { return };
    let layout = SampleLayout::new(ring.event().attr());
    let id = ring.event().id().unwrap();
    let (mut samples, mut lost) = (0, 0);
    switch(400); // 24 bytes each: more than a page
    for round in 0..2 {
        for record in ring.batch().unwrap().records() {
            match record.unwrap().decode(&layout).unwrap() {
                Record::Sample(_) => samples += 1,
                Record::Lost(record) => {
                    assert_eq!(record.id(), id);
                    lost += record.lost();
                }
                other => panic!("{other:?}"),
            }
        }
        if round == 0 {
            assert_eq!(lost, 0, "a loss is reported before the next record that fits");
            switch(1);
            ring.event().disable().unwrap();
        }
    }
    assert!(lost > 0);
    assert_eq!(samples + lost, count(ring.event()));
}

#[test]
fn losses_after_the_last_record_are_counted() {
    assert_eq!(switch_ring(1).map_or(Ok(None), |ring| ring.lost()), Ok(None), "not in the read format");
    let attr = switches().with_read_format(ReadFormat::LOST);
    let Some(mut ring) = own_ring(&attr, 1) else { return };
    during(&ring, || switch(400)); // 24 bytes each: more than a page
    let found = kinds(&mut ring);
    assert!(found.iter().all(|&kind| kind == RecordType::SAMPLE), "no LOST record follows");
    let lost = ring.lost().unwrap().unwrap();
    assert!(lost > 0);
    assert_eq!(found.len() as u64 + lost, Count::read(ring.event()).unwrap().value);
}

#[test]
fn sample_larger_than_the_ring_is_counted_as_lost_and_ends_no_wait() {
    const LARGE: u32 = 32 << 10;
    if page_size() >= LARGE as usize {
        return eprintln!("skipped: pages as large as a record can be");
    }
    let attr = switches().with_wakeup_events(1).with_stack_user(StackSize::new(LARGE).unwrap());
    let Some(event) = own(&attr) else { return };
    let attr = attr.with_read_format(ReadFormat::LOST);
    let event = Event::open(&attr, Target::calling_thread()).unwrap_or(event); // before Linux 6.0
    let mut ring = Ring::map(event, 1).unwrap();
    during(&ring, || switch(3));
    assert_eq!(ring.wait(Some(Duration::from_micros(1))), Ok(WaitResult::TimedOut));
    assert!(ring.batch().unwrap().is_empty());
    let count = Count::read(ring.event()).unwrap();
    assert!(count.value >= 3 && count.lost.is_none_or(|lost| lost == count.value), "{count}");
}

#[test]
fn break_releases_only_the_consumed_records() {
    let Some(mut ring) = switch_ring(1) else { return };
    switch(5);
    ring.event().disable().unwrap();
    let first = times(&mut ring, 2);
    let rest = times(&mut ring, usize::MAX);
    assert_eq!((first.len() + rest.len()) as u64, count(ring.event()));
    assert!(first.iter().chain(&rest).is_sorted_by(|a, b| a < b), "each record once: {first:?} {rest:?}");
    assert!(times(&mut ring, usize::MAX).is_empty());
}

#[test]
fn discard_empties_the_ring() {
    let Some(mut ring) = switch_ring(1) else { return };
    switch(5);
    ring.event().disable().unwrap();
    let batch = ring.batch().unwrap();
    let (unread, discarded) = (batch.len(), batch.discard());
    assert!(unread >= 5 * 24);
    assert_eq!(discarded, unread);
    assert!(ring.batch().unwrap().is_empty());
}

#[test]
fn refused_event_can_be_mapped_again() {
    let Some(event) = own(&switches()) else { return };
    let ring = Ring::map(event, 3).or_else(|refused| Ring::map_bytes(refused.value, 5000)).unwrap();
    assert_eq!(ring.data_size(), 5000_usize.next_multiple_of(page_size()).next_power_of_two());
    let event = Arc::clone(ring.event());
    let refused = Ring::map(Arc::clone(&event), 1).unwrap_err();
    assert_eq!(refused.error, sys::Error::RingInUse);
    drop(ring);
    assert!(Ring::map(event, 1).is_ok(), "the first ring is unmapped");
}

#[test]
fn event_is_used_while_its_records_are_read_and_from_another_thread() {
    let Some(mut ring) = switch_ring(1) else { return };
    switch(3);
    let event = Arc::clone(ring.event());
    let batch = ring.batch().unwrap();
    let id = std::thread::spawn({
        let event = Arc::clone(&event);
        move || event.disable().and_then(|()| event.id())
    });
    assert_eq!(id.join().unwrap().unwrap(), event.id().unwrap());
    let before = count(&event);
    assert!(before >= 3 && !batch.is_empty());
    switch(3);
    assert_eq!(count(&event), before, "disabled by the other thread");
}

#[test]
fn event_from_a_descriptor_can_be_mapped() {
    let Some(event) = own(&switches()) else { return };
    let fd = rustix::io::dup(descriptor(&event)).unwrap();
    let attr = *event.attr();
    drop(event);
    // SAFETY: opened with this attr above, and the other owner is dropped.
    let event = unsafe { Event::from_fd(fd, attr) };
    let mut ring = Ring::map(event, 1).unwrap();
    ring.event().enable().unwrap();
    switch(1);
    assert!(!ring.batch().unwrap().is_empty());
}

#[test]
fn rings_that_cannot_be_read_are_refused() {
    let invalid = sys::Error::System { call: Call::Mmap, errno: Errno::EINVAL };
    for (flags, pages, expected) in [
        (AttrFlags::empty(), 0, sys::Error::PageCount { found: 0 }),
        (AttrFlags::empty(), 3, sys::Error::PageCount { found: 3 }),
        (AttrFlags::empty(), usize::MAX, sys::Error::PageCount { found: usize::MAX }),
        (AttrFlags::WRITE_BACKWARD, 1, sys::Error::WriteBackward),
        (AttrFlags::INHERIT, 1, invalid), // on any CPU
    ] {
        let Some(event) = own(&switches().with_flags(flags)) else { return };
        assert_eq!(Ring::map(event, pages).unwrap_err().error, expected);
    }
}
