//! The protocol of head and tail, in every order of execution that the memory model allows:
//!
//! ```sh
//! RUSTFLAGS="--cfg ring_model" cargo test -p perf-sys --release --test loom_ring
//! ```
//!
//! The orderings of the reader are those of `Consumer` in `src/map/consumer.rs`; those of the
//! writer are the kernel's. For each ordering, a test with a relaxed one must fail.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a failure here is the test's
#![allow(unexpected_cfgs)] // the cfg below is not declared in Cargo.toml
#![cfg(ring_model)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use loom::thread;

/// Words of the ring, and records of one word that are written to it. The second lap needs the
/// tail.
const WORDS: u64 = 2;
const RECORDS: u64 = 3;

/// The control page and the data.
struct Page {
    head: AtomicU64,
    tail: AtomicU64,
    data: [UnsafeCell<u64>; WORDS as usize],
}

impl Page {
    fn word(&self, position: u64) -> &UnsafeCell<u64> {
        &self.data[(position % WORDS) as usize]
    }
}

#[derive(Clone, Copy)]
struct Orderings {
    store_head: Ordering,
    load_head: Ordering,
    store_tail: Ordering,
}

const RIGHT: Orderings = Orderings { store_head: Release, load_head: Acquire, store_tail: Release };

/// Runs the model: one thread writes numbered records while the ring has space, the other reads
/// them.
fn model(Orderings { store_head, load_head, store_tail }: Orderings) {
    loom::model(move || {
        let page = Arc::new(Page {
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            data: [UnsafeCell::new(u64::MAX), UnsafeCell::new(u64::MAX)],
        });
        let kernel = Arc::clone(&page);
        let writer = thread::spawn(move || {
            let mut head = 0;
            for _ in 0..RECORDS {
                // Acquire takes the place of the kernel's control dependency.
                if head - kernel.tail.load(Acquire) < WORDS {
                    // SAFETY: outside `[tail, head)`; loom reports a data race.
                    kernel.word(head).with_mut(|word| unsafe { *word = head });
                    head += 1;
                    kernel.head.store(head, store_head);
                }
            }
        });
        let mut tail = 0;
        for _ in 0..2 {
            let head = page.head.load(load_head);
            assert!(head - tail <= WORDS);
            for position in tail..head {
                // SAFETY: inside `[tail, head)`; loom reports a data race.
                assert_eq!(page.word(position).with(|word| unsafe { *word }), position);
            }
            tail = head;
            page.tail.store(tail, store_tail);
        }
        writer.join().unwrap();
    });
}

#[test]
fn every_record_is_read_complete() {
    model(RIGHT);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_store_of_the_head_is_detected() {
    model(Orderings { store_head: Relaxed, ..RIGHT });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_load_of_the_head_is_detected() {
    model(Orderings { load_head: Relaxed, ..RIGHT });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn relaxed_store_of_the_tail_is_detected() {
    model(Orderings { store_tail: Relaxed, ..RIGHT });
}
