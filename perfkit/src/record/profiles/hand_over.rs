//! The queue between the thread that reads rings and the one that makes profiles.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::SystemTime;

use perf_decode::LostCounts;

/// Length of the queue in words, above which samples are dropped: 32 MiB.
const MAX_WORDS: usize = if cfg!(test) { 8 } else { 4 << 20 };

/// Work for the thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Whole records in time order.
    Records(Vec<u64>),
    /// New ids of an event.
    Ids {
        event: usize,
        ids: Vec<u64>,
    },
    End(Period),
}

/// A period that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    pub(super) start: SystemTime,
    pub(super) end: SystemTime,
    /// Records and samples that are missing from its profile.
    pub(super) lost: LostCounts,
}

/// Makes both ends of a queue.
pub(super) fn queue() -> (HandOver, WorkQueue) {
    let (sender, receiver) = mpsc::channel();
    let words = Arc::new(AtomicUsize::new(0));
    (HandOver { sender, words: Arc::clone(&words) }, WorkQueue { receiver, words })
}

/// The end of the thread that reads rings. The queue is closed when it is dropped.
#[derive(Debug)]
pub(super) struct HandOver {
    sender: Sender<Work>,
    /// Length of the queue in words.
    words: Arc<AtomicUsize>,
}

impl HandOver {
    /// Returns whether the queue is so long that samples must be dropped, and counted.
    pub(super) fn is_full(&self) -> bool {
        self.words.load(Ordering::Relaxed) >= MAX_WORDS
    }

    /// Adds work. It never waits.
    pub(super) fn push(&self, work: Work) {
        self.words.fetch_add(words(&work), Ordering::Relaxed);
        // Fails only after a panic of the other thread, which is reported when it is joined.
        let _ = self.sender.send(work);
    }
}

/// The end of the thread that makes profiles. It waits for work until the queue is closed.
#[derive(Debug)]
pub(super) struct WorkQueue {
    receiver: Receiver<Work>,
    words: Arc<AtomicUsize>,
}

impl Iterator for WorkQueue {
    type Item = Work;

    fn next(&mut self) -> Option<Work> {
        let work = self.receiver.recv().ok()?;
        self.words.fetch_sub(words(&work), Ordering::Relaxed);
        Some(work)
    }
}

fn words(work: &Work) -> usize {
    match work {
        Work::Records(words) => words.len(),
        Work::Ids { .. } | Work::End(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_in_order_and_the_queue_is_full_while_it_is_long() {
        let ((hand_over, queue), (other, _other_queue)) = (queue(), queue());
        hand_over.push(Work::Records(vec![0; MAX_WORDS - 1]));
        assert!(!hand_over.is_full());
        hand_over.push(Work::Records(vec![1]));
        assert!(hand_over.is_full() && !other.is_full());
        hand_over.push(Work::Ids { event: 0, ids: vec![7] });
        let words = Arc::clone(&hand_over.words);
        drop(hand_over);
        let thread = std::thread::spawn(move || queue.collect::<Vec<_>>());
        let work = thread.join().unwrap();
        assert_eq!(work.len(), 3);
        assert_eq!(work[1..], [Work::Records(vec![1]), Work::Ids { event: 0, ids: vec![7] }]);
        assert_eq!(words.load(Ordering::Relaxed), 0);
    }
}
