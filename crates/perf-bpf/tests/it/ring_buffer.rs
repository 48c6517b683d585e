//! Records that programs write into a ring buffer map.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::prelude::*;

struct Fixture {
    ring: RingBuf,
    counters: Counters,
    program: ProgramFd,
}

/// Maps a ring, and loads a raw tracepoint program that writes records of `size` bytes.
#[track_caller]
fn fixture(size: i16) -> Option<Fixture> {
    let ring = permitted(RingBuf::create("pk_ring".parse().unwrap(), 1))?;
    let counters = Counters::create()?;
    let program = output(BpfProgType::RAW_TRACEPOINT, &Sink::Ring(&ring), &counters, size, false)?;
    Some(Fixture { ring, counters, program })
}

/// Returns the lengths of the unread records.
fn lengths(ring: &mut RingBuf) -> Vec<usize> {
    ring.batch().unwrap().records().map(|record| record.unwrap().len()).collect()
}

#[test]
fn records_arrive_with_their_exact_length() {
    let Some(mut fixture) = fixture(24) else { return };
    let cpus = online();
    assert!(!fixture.ring.has_records());
    fire_on_all(&fixture.program, &cpus, 2);
    assert!(fixture.ring.has_records());
    assert_eq!(lengths(&mut fixture.ring), vec![24; cpus.len() * 2]);
    assert_eq!(fixture.counters.produced_and_failed(), (cpus.len() as u64 * 2, 0));
}

#[test]
fn a_wait_ends_with_a_record_and_times_out_without_one() {
    let Some(mut fixture) = fixture(8) else { return };
    let cpu = online().iter().next().unwrap();
    assert_eq!(fixture.ring.wait(Some(Duration::from_millis(1))).unwrap(), WaitResult::TimedOut);
    fire_on(&fixture.program, cpu);
    assert_eq!(fixture.ring.wait(PATIENCE).unwrap(), WaitResult::Readable);
    assert_eq!(fixture.ring.wait(PATIENCE).unwrap(), WaitResult::Readable, "it is still unread");
    assert_eq!(lengths(&mut fixture.ring), [8]);
    assert_eq!(fixture.ring.wait(Some(Duration::ZERO)).unwrap(), WaitResult::TimedOut);
}

#[test]
fn a_record_wakes_a_sleeping_reader() {
    let Some(mut fixture) = fixture(8) else { return };
    let cpu = online().iter().next().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(10));
            fire_on(&fixture.program, cpu);
        });
        assert_eq!(fixture.ring.wait(PATIENCE).unwrap(), WaitResult::Readable);
    });
    assert_eq!(lengths(&mut fixture.ring), [8]);
}

#[test]
fn a_waker_ends_the_wait() {
    let Some(fixture) = fixture(8) else { return };
    let waker = Waker::new().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| waker.wake().unwrap());
        assert_eq!(fixture.ring.wait_or_woken(None, &waker).unwrap(), WaitResult::Woken);
    });
}

#[test]
fn every_record_under_a_slow_reader_is_delivered_or_failed() {
    const TIMES: usize = 20_000;
    let Some(mut fixture) = fixture(48) else { return };
    let cpus = online();
    let is_over = AtomicBool::new(false);
    let (program, ring, mut delivered) = (&fixture.program, &mut fixture.ring, 0);
    let mut read = |ring: &mut RingBuf| {
        for record in ring.batch().unwrap().records() {
            assert_eq!(record.unwrap()[40..], (-16_i64).to_ne_bytes());
            delivered += 1;
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            fire_on_all(program, &cpus, TIMES);
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) {
            ring.wait(Some(Duration::from_millis(1))).unwrap();
            read(ring);
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    read(ring);
    let (produced, failed) = fixture.counters.produced_and_failed();
    assert_eq!(produced, (TIMES * cpus.len()) as u64);
    assert_eq!(delivered + failed, produced);
    assert_eq!(fixture.ring.discarded(), 0);
}

#[test]
fn output_into_a_full_ring_fails() {
    let Some(mut fixture) = fixture(480) else { return };
    let cpu = online().iter().next().unwrap();
    let fits = fixture.ring.data_size() / 488;
    (0..fits + 3).for_each(|_| fire_on(&fixture.program, cpu));
    let (produced, failed) = fixture.counters.produced_and_failed();
    assert_eq!(lengths(&mut fixture.ring).len() as u64, produced - failed);
    assert!(failed >= 3, "{failed}");
    // The ring was released, and the next record wraps.
    (0..fits).for_each(|_| fire_on(&fixture.program, cpu));
    assert_eq!(lengths(&mut fixture.ring), vec![480; fits]);
}

/// Loads a program that reserves a record of 16 bytes, and submits or discards it.
#[track_caller]
fn reserve(ring: &RingBuf, finish: u32) -> Option<ProgramFd> {
    let asm = Asm::default()
        .set_map(R1, ring)
        .set(R2, 16)
        .set(R3, 0)
        .call(RINGBUF_RESERVE)
        .when(R0, 0, |asm| asm.exit_with(0))
        .mov(R7, R0)
        .store_value(R7, 0, 7)
        .store_value(R7, 8, 8)
        .mov(R1, R7)
        .set(R2, 0)
        .call(finish)
        .exit_with(1);
    let name = "pk_reserve".parse().unwrap();
    permitted(ProgramFd::load(BpfProgType::RAW_TRACEPOINT, asm.code(), c"GPL", name))
}

#[test]
fn discarded_records_are_skipped_and_counted() {
    let Some(mut fixture) = fixture(8) else { return };
    let programs = (reserve(&fixture.ring, RINGBUF_SUBMIT), reserve(&fixture.ring, RINGBUF_DISCARD));
    let (Some(submit), Some(discard)) = programs else { return };
    let cpu = online().iter().next().unwrap();
    for program in [&discard, &submit, &discard, &discard, &submit] {
        fire_on(program, cpu);
    }
    assert_eq!(lengths(&mut fixture.ring), [16, 16]);
    assert_eq!(fixture.ring.discarded(), 3);
}

#[test]
fn records_after_a_break_are_read_by_the_next_batch() {
    let Some(mut fixture) = fixture(8) else { return };
    fire_on_all(&fixture.program, &online(), 1);
    let all = online().len();
    assert_eq!(fixture.ring.batch().unwrap().records().take(1).count(), 1);
    assert_eq!(lengths(&mut fixture.ring).len(), all - 1);
}

#[test]
fn a_map_has_one_reader_in_a_process() {
    let Some(fixture) = fixture(8) else { return };
    let second = RingBuf::open(&fixture.ring).unwrap_err();
    assert!(matches!(second, Error::RingBufInUse), "{second}");
    let map = AsFd::as_fd(&fixture.ring).try_clone_to_owned().unwrap();
    fire_on(&fixture.program, online().iter().next().unwrap());
    drop(fixture.ring);
    let mut next = RingBuf::open(&map).unwrap();
    assert_eq!(lengths(&mut next), [8], "unread records stay in the ring");
}

#[test]
fn a_map_of_another_type_is_refused() {
    let spec = MapSpec::new(BpfMapType::ARRAY, 1).with_sizes(4, 8);
    let Some(map) = permitted(MapFd::create(&spec)) else { return };
    let error = RingBuf::open(&map).unwrap_err().to_string();
    assert!(error.contains("expected a map of type BPF_MAP_TYPE_RINGBUF"), "{error}");
    let Some(fixture) = fixture(8) else { return };
    let error = RingBuf::open(&fixture.program).unwrap_err();
    assert!(matches!(error, Error::NotRingBuf { .. }), "{error}");
}
