//! The queue between the thread that reads rings and the one that makes profiles.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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

/// A queue of work. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct HandOver(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    work: VecDeque<Work>,
    words: usize,
    is_closed: bool,
}

impl HandOver {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the queue is so long that samples must be dropped, and counted.
    pub(super) fn is_full(&self) -> bool {
        self.lock().words >= MAX_WORDS
    }

    /// Adds work. It never waits.
    pub(super) fn push(&self, work: Work) {
        let mut state = self.lock();
        state.words += words(&work);
        state.work.push_back(work);
        self.0.1.notify_one();
    }

    /// Closes the queue. No work follows.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.0.1.notify_one();
    }

    /// Waits for work. Returns `None` after the last.
    pub(super) fn pop(&self) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop_front() {
                state.words -= words(&work);
                return Some(work);
            }
            if state.is_closed {
                return None;
            }
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
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
        let (queue, other) = (HandOver::default(), HandOver::default());
        queue.push(Work::Records(vec![0; MAX_WORDS - 1]));
        assert!(!queue.is_full());
        queue.push(Work::Records(vec![1]));
        assert!(queue.is_full() && !other.is_full());
        queue.push(Work::Ids { event: 0, ids: vec![7] });
        queue.close();
        let thread = std::thread::spawn({
            let queue = queue.clone();
            move || std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>()
        });
        let work = thread.join().unwrap();
        assert_eq!(work.len(), 3);
        assert_eq!(work[1..], [Work::Records(vec![1]), Work::Ids { event: 0, ids: vec![7] }]);
        assert!(!queue.is_full());
    }
}
