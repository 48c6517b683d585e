//! The protocol of head and tail, in every order of execution that the memory model allows.
//!
//! ```sh
//! RUSTFLAGS="--cfg ring_model" cargo test -p perf-sys --release --test loom_ring
//! ```
//!
//! The reader loads the head and stores the tail with the orderings of `DataRing` in
//! `src/map/data.rs`; the writer has the kernel's orderings. Each way in which perf-ring reads a
//! ring is a module of tests. It must read every record in order, and the model must detect each
//! ordering if it is weaker.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // a test fails by a panic
#![allow(unexpected_cfgs)] // Cargo does not know the name of the next line
#![cfg(ring_model)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use loom::thread;

/// Size of the ring in words.
const WORDS: u64 = 2;
/// Number of records, of one word each, that the writer tries to write. The ring wraps after
/// [`WORDS`], so the last ones need a released tail.
const RECORDS: u64 = 4;

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

const CORRECT: Orderings = Orderings { store_head: Release, load_head: Acquire, store_tail: Release };
const RELAXED_STORE_OF_HEAD: Orderings = Orderings { store_head: Relaxed, ..CORRECT };
const RELAXED_LOAD_OF_HEAD: Orderings = Orderings { load_head: Relaxed, ..CORRECT };
const RELAXED_STORE_OF_TAIL: Orderings = Orderings { store_tail: Relaxed, ..CORRECT };

/// Writes numbered records and drops those for which the ring has no space.
fn write(page: &Page, store_head: Ordering) {
    let mut head = 0;
    for _ in 0..RECORDS {
        // Acquire stands for the kernel's control dependency.
        if head - page.tail.load(Acquire) < WORDS {
            // SAFETY: outside `[tail, head)`; loom detects an access by the reader.
            page.word(head).with_mut(|word| unsafe { *word = head });
            head += 1;
            page.head.store(head, store_head);
        }
    }
}

/// The positions of `DataRing`, with its operations.
struct Reader<'p> {
    page: &'p Page,
    orderings: Orderings,
    tail: u64,
    next: u64,
    head: u64,
}

impl Reader<'_> {
    /// Looks how far the kernel has written.
    fn refresh(&mut self) {
        self.head = self.page.head.load(self.orderings.load_head);
        assert!(self.tail <= self.next && self.next <= self.head && self.head - self.tail <= WORDS);
    }

    /// Reads the record at `position`, which is not released.
    fn read(&self, position: u64) {
        // SAFETY: in `[tail, head)`; loom detects an access by the writer.
        assert_eq!(self.page.word(position).with(|word| unsafe { *word }), position);
    }

    /// Reads the first unread record and returns whether there is one.
    fn peek(&self) -> bool {
        let is_unread = self.next != self.head;
        if is_unread {
            self.read(self.next);
        }
        is_unread
    }

    /// Reads and consumes the first unread record, and returns whether there is one.
    fn next(&mut self) -> bool {
        let is_unread = self.peek();
        self.next += u64::from(is_unread);
        is_unread
    }

    fn release(&mut self) {
        if self.next != self.tail {
            self.tail = self.next;
            self.page.tail.store(self.tail, self.orderings.store_tail);
        }
    }
}

/// Runs the writer in one thread and `read` in another, in all orders.
fn model(orderings: Orderings, read: fn(&mut Reader<'_>)) {
    loom::model(move || {
        let page = Arc::new(Page {
            head: AtomicU64::new(0),
            tail: AtomicU64::new(0),
            data: [UnsafeCell::new(u64::MAX), UnsafeCell::new(u64::MAX)],
        });
        let kernel = Arc::clone(&page);
        let writer = thread::spawn(move || write(&kernel, orderings.store_head));
        let mut reader = Reader { page: &page, orderings, tail: 0, next: 0, head: 0 };
        read(&mut reader);
        writer.join().unwrap();
        reader.refresh();
        while reader.next() {}
    });
}

macro_rules! way_of_reading {
    ($(#[$doc:meta])* $name:ident: $read:expr) => {
        $(#[$doc])*
        mod $name {
            use super::*;

            #[test]
            fn every_record_is_read_complete_and_in_order() {
                model(CORRECT, $read);
            }

            #[test]
            #[should_panic(expected = "Causality violation")]
            fn relaxed_store_of_the_head_is_detected() {
                model(RELAXED_STORE_OF_HEAD, $read);
            }

            #[test]
            #[should_panic(expected = "Causality violation")]
            fn relaxed_load_of_the_head_is_detected() {
                model(RELAXED_LOAD_OF_HEAD, $read);
            }

            #[test]
            #[should_panic(expected = "Causality violation")]
            fn relaxed_store_of_the_tail_is_detected() {
                model(RELAXED_STORE_OF_TAIL, $read);
            }
        }
    };
}

way_of_reading! {
    /// A batch is read to its end and released at once, as by `Batch` and by `copy_into`.
    batch: |reader| for _ in 0..2 {
        reader.refresh();
        while reader.next() {}
        reader.release();
    }
}

way_of_reading! {
    /// One record of a batch is consumed and released, while the others are only read.
    partial_batch: |reader| for _ in 0..2 {
        reader.refresh();
        (reader.next..reader.head).for_each(|position| reader.read(position));
        reader.next();
        reader.release();
    }
}

way_of_reading! {
    /// Records are released between two of them, without a look at the head.
    cursor: |reader| for _ in 0..2 {
        reader.refresh();
        if reader.peek() {
            reader.next();
            reader.release();
        }
        reader.peek();
        reader.next();
        reader.release();
    }
}

way_of_reading! {
    /// All records are framed first, that is, read. Then they are delivered in time order, here
    /// once backward and once forward, and released by steps of a record, while later ones are
    /// framed.
    sorted_drain: |reader| for is_backward in [true, false] {
        reader.refresh();
        let framed = reader.next..reader.head;
        framed.clone().for_each(|position| reader.read(position));
        if is_backward {
            // The tail stays before the earliest record in the ring until that is delivered.
            framed.clone().rev().for_each(|position| reader.read(position));
            reader.next = framed.end;
            reader.release();
        }
        while reader.next() {
            reader.release();
        }
    }
}

#[test]
#[should_panic(expected = "Causality violation")]
fn read_after_the_release_is_detected() {
    model(CORRECT, |reader| {
        reader.refresh();
        if reader.next() {
            reader.release();
            reader.read(reader.tail - 1);
        }
    });
}
