//! Reading records allocates nothing. A separate test binary, because its allocator counts.

#![allow(clippy::unwrap_used, clippy::panic)] // also in shared functions

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use perf_bpf::{BpfProgType, EventArray, PerfBufferOptions, PerfBufferRecord, RingBuf};
use support::permitted;
use support::programs::{Counters, Sink, fire_on, online, output};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all calls are passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's obligation.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's obligation.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the allocations of the second of two calls: buffers for records that wrap grow in the
/// first.
fn allocations(mut read: impl FnMut() -> u64) -> u64 {
    assert!(read() > 0);
    let before = ALLOCATIONS.get();
    assert!(read() > 0);
    ALLOCATIONS.get() - before
}

#[test]
fn the_allocator_counts() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(1)));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}

#[test]
fn reading_a_perf_buffer_allocates_nothing() {
    let Some(array) = permitted(EventArray::create("pk_allocations".parse().unwrap())) else { return };
    let Some(counters) = Counters::create() else { return };
    let program = output(BpfProgType::RAW_TRACEPOINT, &Sink::Array(&array), &counters, 480, false);
    let Some(program) = program else { return };
    let Some(mut buffer) = permitted(PerfBufferOptions::new().pages(1).open(array)) else { return };
    let cpu = online().iter().next().unwrap();
    let page = buffer.rings().next().unwrap().1.data_size();
    let found = allocations(|| {
        let mut bytes = 0;
        // Write three times the size of the ring, so that records wrap at its end.
        for _ in 0..3 * page / 496 {
            fire_on(&program, cpu);
            buffer.wait(Some(Duration::ZERO)).unwrap();
            let consume = |_, output: PerfBufferRecord<'_>| {
                if let PerfBufferRecord::Sample(sample) = output {
                    bytes += sample.bytes().len() as u64;
                }
            };
            buffer.read(consume).unwrap();
        }
        bytes
    });
    assert_eq!(found, 0);
}

#[test]
fn reading_a_ring_buffer_allocates_nothing() {
    let Some(mut ring) = permitted(RingBuf::create("pk_allocations".parse().unwrap(), 1)) else { return };
    let Some(counters) = Counters::create() else { return };
    let Some(program) = output(BpfProgType::RAW_TRACEPOINT, &Sink::Ring(&ring), &counters, 480, false) else {
        return;
    };
    let cpu = online().iter().next().unwrap();
    let found = allocations(|| {
        fire_on(&program, cpu);
        ring.wait(Some(Duration::ZERO)).unwrap();
        ring.batch().unwrap().records().map(|record| record.unwrap().len() as u64).sum()
    });
    assert_eq!(found, 0);
}
