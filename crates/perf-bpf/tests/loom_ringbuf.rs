//! The protocol of a BPF ring buffer map: two positions, and a busy bit in the header of each
//! record.
//!
//! ```sh
//! RUSTFLAGS="--cfg ring_model" cargo test -p perf-bpf --release --test loom_ringbuf
//! ```
//!
//! The reader has the orderings of `Consumer` in `src/ringbuf/map/mod.rs`; the writer has the
//! orderings of `kernel/bpf/ringbuf.c`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a test fails by a panic
#![allow(unsafe_code)] // loom's cells
#![allow(unexpected_cfgs)] // Cargo does not know the name of the next line
#![cfg(ring_model)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicU64, fence};
use loom::thread;

/// Records that the ring can hold.
const SLOTS: u64 = 2;
/// Records that the writer tries to write.
const RECORDS: u64 = 3;

const BUSY: u64 = 1;
const COMMITTED: u64 = 2;

struct Slot {
    header: AtomicU64,
    data: UnsafeCell<u64>,
}

struct Ring {
    consumer: AtomicU64,
    producer: AtomicU64,
    slots: [Slot; SLOTS as usize],
    /// Set when the kernel wakes the reader.
    woken: AtomicBool,
}

impl Ring {
    fn new() -> Self {
        let slot = || Slot { header: AtomicU64::new(0), data: UnsafeCell::new(u64::MAX) };
        Self {
            consumer: AtomicU64::new(0),
            producer: AtomicU64::new(0),
            slots: [slot(), slot()],
            woken: AtomicBool::new(false),
        }
    }

    fn slot(&self, position: u64) -> &Slot {
        &self.slots[(position % SLOTS) as usize]
    }
}

#[derive(Clone, Copy)]
struct Orderings {
    commit: Ordering,
    load_header: Ordering,
    store_consumer: Ordering,
    has_fence: bool,
}

const CORRECT: Orderings =
    Orderings { commit: AcqRel, load_header: Acquire, store_consumer: Release, has_fence: true };

/// Reserves, writes and commits numbered records, and drops those for which the ring has no space.
fn write(ring: &Ring, orderings: Orderings) {
    let mut position = 0;
    for _ in 0..RECORDS {
        if position - ring.consumer.load(Acquire) < SLOTS {
            let slot = ring.slot(position);
            slot.header.store(BUSY, Relaxed);
            ring.producer.store(position + 1, Release);
            // SAFETY: the record is busy, so no reader borrows it; loom detects an access by one.
            slot.data.with_mut(|data| unsafe { *data = position });
            slot.header.swap(COMMITTED, orderings.commit);
            fence(SeqCst); // the kernel's `xchg` is a full barrier
            if ring.consumer.load(Acquire) == position {
                ring.woken.store(true, Relaxed);
            }
            position += 1;
        }
    }
}

struct Reader<'r> {
    ring: &'r Ring,
    orderings: Orderings,
    next: u64,
}

impl Reader<'_> {
    /// Reads the committed records, releases them, and returns their number.
    fn batch(&mut self) -> u64 {
        if self.orderings.has_fence {
            fence(SeqCst);
        }
        let head = self.ring.producer.load(Relaxed);
        fence(Acquire);
        let first = self.next;
        while self.next != head {
            let slot = self.ring.slot(self.next);
            if slot.header.load(self.orderings.load_header) != COMMITTED {
                break;
            }
            // SAFETY: committed and not released; loom detects an access by the writer.
            assert_eq!(slot.data.with(|data| unsafe { *data }), self.next);
            self.next += 1;
        }
        if self.next != first {
            let stored =
                self.ring.consumer.compare_exchange(first, self.next, self.orderings.store_consumer, Relaxed);
            assert_eq!(stored, Ok(first), "there is no other reader");
        }
        self.next - first
    }
}

/// Runs the writer in one thread and two batches of the reader in another, in all orders.
fn model(orderings: Orderings) {
    loom::model(move || {
        let ring = Arc::new(Ring::new());
        let kernel = Arc::clone(&ring);
        let writer = thread::spawn(move || write(&kernel, orderings));
        let mut reader = Reader { ring: &ring, orderings, next: 0 };
        reader.batch();
        reader.batch();
        writer.join().unwrap();
        while reader.batch() != 0 {}
    });
}

#[test]
fn every_record_is_read_complete_and_in_order() {
    model(CORRECT);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_commit_is_detected() {
    model(Orderings { commit: Relaxed, ..CORRECT });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_load_of_the_header_is_detected() {
    model(Orderings { load_header: Relaxed, ..CORRECT });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_store_of_the_consumer_position_is_detected() {
    model(Orderings { store_consumer: Relaxed, ..CORRECT });
}

/// A reader that sleeps after an empty batch is woken for the record that it did not see.
fn sleep_after_an_empty_batch(has_fence: bool) {
    loom::model(move || {
        let orderings = Orderings { has_fence, ..CORRECT };
        let ring = Arc::new(Ring::new());
        let kernel = Arc::clone(&ring);
        let writer = thread::spawn(move || {
            let slot = kernel.slot(1);
            slot.header.store(BUSY, Relaxed);
            kernel.producer.store(2, Release);
            // SAFETY: the record is busy.
            slot.data.with_mut(|data| unsafe { *data = 1 });
            slot.header.swap(COMMITTED, AcqRel);
            fence(SeqCst);
            if kernel.consumer.load(Acquire) == 1 {
                kernel.woken.store(true, Relaxed);
            }
        });
        // The first record was read.
        let mut reader = Reader { ring: &ring, orderings, next: 1 };
        ring.consumer.store(1, Release);
        let seen = reader.batch();
        writer.join().unwrap();
        assert!(seen == 1 || ring.woken.load(Relaxed), "lost wakeup");
    });
}

#[test]
fn no_wakeup_is_lost_between_the_release_and_the_sleep() {
    sleep_after_an_empty_batch(true);
}

#[test]
#[should_panic(expected = "lost wakeup")]
fn missing_fence_after_the_release_is_detected() {
    sleep_after_an_empty_batch(false);
}
